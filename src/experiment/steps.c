// SPDX-License-Identifier: LGPL-2.1-or-later
/* The steps of an experiment, one after the other: their words, and those without a call. */
#include "experiment/steps.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/host/cgroup.h"
#include "core/host/proc.h"
#include "core/lib/program.h"
#include "experiment/steps_internal.h"
#include "xlat/constants.h"

/* Read "work NAME [NUMBER|"TEXT"]"; the number is 1 by default. */
static bool read_workload(struct steps *run, struct workload_request *q)
{
	*q = (struct workload_request){ .n = 1 };
	if (run->nwords < 2)
		return false;
	run->outcome->measured |= run->nevents;
	snprintf(q->name, sizeof(q->name), "%s", run->words[1]);
	if (run->nwords < 3)
		return true;
	if (*run->words[2] != '"')
		return steps_value(run, run->words[2], &q->n);
	snprintf(q->text, sizeof(q->text), "%s", run->words[2] + 1);
	return true;
}

/* work NAME [NUMBER|"TEXT"] */
static enum step_result step_work(struct steps *run)
{
	struct workload_request q;
	struct buf note = { 0 };

	if (!read_workload(run, &q))
		return steps_malformed(run);
	work_note(q.name, q.n, &note);
	steps_note(run, buf_str(&note));
	buf_free(&note);
	return work_run(q.name, q.n, q.text) ? STEP_OK : steps_malformed(run);
}

/* shell "COMMAND": its result is the exit status; the command inherits our descriptors */
static enum step_result step_shell(struct steps *run)
{
	int status, error;
	pid_t pid;

	if (run->nwords != 2)
		return steps_malformed(run);
	steps_note(run, run->words[1] + 1);
	pid = fork();
	if (!pid) {
		execl(WORK_PROGRAM, "sh", "-c", run->words[1] + 1, (char *)NULL);
		_exit(127);
	}
	error = errno;
	status = child_wait(pid);
	if (status < 0)
		return steps_untried(run, "cannot run a shell: %s", strerror(error));
	return steps_check_result(run, WIFEXITED(status) ? WEXITSTATUS(status) :
				  128 + WTERMSIG(status));
}

/* catch SIGNAL */
static enum step_result step_catch(struct steps *run)
{
	if (!steps_map_signals())
		return steps_untried(run, "cannot allocate memory for signals");
	return run->nwords == 2 && steps_catch(run->words[1]) ? STEP_OK : steps_malformed(run);
}

/* task NAME [NUMBER|"TEXT"]: a workload in the second process; exec and exit end it */
static enum step_result step_task(struct steps *run)
{
	struct workload_request q;
	struct buf note = { 0 };
	bool ends;
	char c;

	if (!read_workload(run, &q))
		return steps_malformed(run);
	ends = !strcmp(q.name, "exec") || !strcmp(q.name, "exit");
	if (!steps_task_pid(run))
		return steps_untried(run, "cannot start a second process");
	buf_adds(&note, "the second process: ");
	work_note(q.name, q.n, &note);
	if (ends)
		buf_adds(&note, q.name);
	steps_note(run, note.data);
	buf_free(&note);
	if (send(run->task_link, &q, sizeof(q), MSG_NOSIGNAL) != sizeof(q))
		return steps_untried(run, "the second process has ended");
	if (!ends)
		return recv(run->task_link, &c, 1, 0) == 1 ? STEP_OK : steps_malformed(run);
	steps_task_wait(run);
	return STEP_OK;
}

enum {
	SHOWN = 4,	/* repetitions of a step that are in the text of the calls */
	NOBODY = 65534,	/* user and group of "user" */
};

/* Steps without calls to perf -------------------------------------------------------- */

/* let NAME = EXPRESSION */
static enum step_result step_let(struct steps *run)
{
	uint64_t v;

	if (run->nwords != 4)
		return steps_malformed(run);
	if (!steps_value(run, run->words[3], &v))
		return STEP_UNTRIED;
	steps_set_var(run, run->words[1], v);
	return STEP_OK;
}

/* Evaluate "EXPRESSION OPERATOR EXPRESSION" from word 1 on. */
static bool step_condition(struct steps *run, bool *holds, uint64_t *a, uint64_t *b)
{
	if (run->nwords != 4 || !steps_value(run, run->words[1], a) ||
	    !steps_value(run, run->words[3], b))
		return false;
	return steps_compare(*a, run->words[2], *b, holds);
}

/* Append a value of an event in words, with the value: "data_head of the first page: 48". */
static void say_value(const char *word, uint64_t v, struct buf *out)
{
	static const struct {
		const char *begin, *where;
	} all[] = {
		{ "page.", " of the first page" }, { "rec.", " of the record" }, { "", "" },
	};
	const char *dot = strchr(word, '.');
	size_t i = 0;

	if (!islower((unsigned char)*word) || strpbrk(word, "+-*/%&|<>"))
		return;
	word = dot ? dot + 1 : word;
	while (strncmp(word, all[i].begin, strlen(all[i].begin)))
		i++;
	buf_addf(out, "%s%s%s: %s%lld", out->len ? "; " : "", word + strlen(all[i].begin),
		 all[i].where, strstr(word, "id") ? "id=" : "", (long long)v);
}

/* expect EXPRESSION OPERATOR EXPRESSION */
static enum step_result step_expect(struct steps *run)
{
	struct buf note = { 0 };
	uint64_t a, b;
	bool holds;

	if (!step_condition(run, &holds, &a, &b))
		return steps_malformed(run);
	say_value(run->words[1], a, &note);
	say_value(run->words[3], b, &note);
	if (note.len)
		steps_note(run, note.data);
	buf_free(&note);
	return holds ? STEP_OK :
	       steps_false(run, run->step + strlen("expect "), "%s is %lld (0x%llx), %s is %lld",
			   run->words[1], (long long)a, (unsigned long long)a, run->words[3],
			   (long long)b);
}

/* needs cgroups|pmus|tracepoints|perfmon|admin|pmu.NAME: set *result, true if it is one of these */
static bool needs_word(struct steps *run, enum step_result *result)
{
	const char *word = run->words[1], *missing = mounts_pmus_missing();
	char path[256];
	uint64_t v;

	/* a cgroup hierarchy in which the workload can create one */
	if (!strcmp(word, "cgroups")) {
		*result = !cgroup_mount(path, sizeof(path)) ?
			  steps_untried(run, "%s", mounts_sys_missing() ?:
					"no cgroup hierarchy for perf events is mounted, or it is "
					"hidden") :
			  access(path, W_OK) ?
			  steps_untried(run, "no cgroup can be created in %s: %s", path,
					strerror(errno)) : STEP_OK;
		return true;
	}
	if (!strcmp(word, "pmus")) {
		*result = missing ? steps_untried(run, "%s", missing) : STEP_OK;
		return true;
	}
	if (!strcmp(word, "tracepoints")) {
		*result = host_has_tracepoints(run->host) ? STEP_OK :
			  steps_untried(run, "tracefs is not readable");
		return true;
	}
	if (strcmp(word, "perfmon") && strcmp(word, "admin") && strncmp(word, "pmu.", 4))
		return false;
	if (!steps_value(run, word, &v))
		*result = STEP_UNTRIED;
	else if (*word == 'p' && word[1] == 'm')
		*result = v != UINT64_MAX ? STEP_OK : missing ? steps_untried(run, "%s", missing) :
			  steps_untried(run, "this machine has no PMU %s", word + 4);
	else
		*result = v ? STEP_OK : steps_untried(run, "it requires %s", *word == 'p' ?
						      "CAP_PERFMON" : "CAP_SYS_ADMIN");
	return true;
}

/* needs WORD, or needs EXPRESSION OPERATOR EXPRESSION */
static enum step_result step_needs(struct steps *run)
{
	enum step_result result;
	uint64_t a, b;
	bool holds;

	if (run->nwords == 2 && needs_word(run, &result))
		return result;
	if (!step_condition(run, &holds, &a, &b))
		return steps_malformed(run);
	return holds ? STEP_OK : steps_untried(run, "it requires %s; %s is %lld",
					       run->step + strlen("needs "), run->words[1],
					       (long long)a);
}

/* user: continue as an ordinary user */
enum step_result steps_become_user(struct steps *run)
{
	if (getuid() == 0) {
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			return steps_untried(run, "cannot become an ordinary user: %s",
					     strerror(errno));
		/* a change of user resets both */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_DUMPABLE, 1);
		steps_note(run, "as user 65534");
	}
	return STEP_OK;
}

/* limit files|memlock N */
static enum step_result step_limit(struct steps *run)
{
	struct rlimit r;
	uint64_t v;
	int which;

	if (run->nwords != 3 || !steps_value(run, run->words[2], &v))
		return steps_malformed(run);
	which = !strcmp(run->words[1], "files") ? RLIMIT_NOFILE : RLIMIT_MEMLOCK;
	r.rlim_cur = r.rlim_max = v;
	steps_note(run, which == RLIMIT_NOFILE ? "with a low RLIMIT_NOFILE" :
			 "with a low RLIMIT_MEMLOCK");
	return setrlimit(which, &r) ? steps_untried(run, "setrlimit: %s", strerror(errno)) :
	       STEP_OK;
}

/* drop admin: give up CAP_SYS_ADMIN only */
static enum step_result step_drop(struct steps *run)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	steps_note(run, "without CAP_SYS_ADMIN from here on");
	if (syscall(SYS_capget, &head, data))
		return steps_untried(run, "capget: %s", strerror(errno));
	for (size_t i = 0; i < 2; i++)
		data[i].inheritable = 0;
	data[0].effective &= ~(1U << ABI_CAP_SYS_ADMIN);
	data[0].permitted &= ~(1U << ABI_CAP_SYS_ADMIN);
	if (syscall(SYS_capset, &head, data))
		return steps_untried(run, "capset: %s", strerror(errno));
	return STEP_OK;
}

/* exists PATH: its result is 0 or ENOENT */
static enum step_result step_exists(struct steps *run)
{
	if (run->nwords != 2)
		return steps_malformed(run);
	return steps_check_result(run, access(run->words[1], F_OK) ? -errno : 0);
}

/* The words of a step ------------------------------------------------------------------- */

/* Append the path of this program in quotes, the value of $self. */
static void add_program(struct buf *to)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	buf_addc(to, '"');
	for (ssize_t i = 0; i < n; i++)
		buf_addf(to, strchr("\"\\", path[i]) ? "\\%c" : "%c", path[i]);
	buf_addc(to, '"');
}

/* Append a word with each $NAME replaced by its value.  Return false if one is unknown. */
static bool expand_word(struct steps *run, const char *from, size_t len, struct buf *to)
{
	const char *end = from + len;
	char name[80];
	uint64_t v;
	size_t n;

	for (; from < end; from += n) {
		n = 1;
		if (*from != '$') {
			n += *from == '\\' && from[1] == '"';
			buf_addc(to, from[n - 1]);
			continue;
		}
		while (from + n < end && (isalnum((unsigned char)from[n]) || from[n] == '_' ||
					  from[n] == '.'))
			n++;
		snprintf(name, sizeof(name), "%.*s", (int)n - 1, from + 1);
		if (!strcmp(name, "self"))
			add_program(to);
		else if (!strcmp(name, "exact")) {
			if (run->exact == EXACT_FAULTS && !run->outcome->exact)
				steps_note(run, "each write to the variable causes a page fault");
			run->outcome->exact = true;
			/* the event that counts each write of the variable, without a modifier */
			if (run->exact == EXACT_FAULTS)
				buf_adds(to, "page-faults");
			else
				buf_addf(to, "mem:%lu/4:w", (unsigned long)work_watched());
		}
		else if (steps_value(run, name, &v))
			buf_addf(to, "%lld", (long long)v);
		else
			return false;
	}
	buf_addc(to, '\0');
	return true;
}

/* Return the length of the word: up to a blank, or to the quote that ends a quoted part. */
static size_t word_length(const char *text)
{
	size_t n = strcspn(text, " \"");

	if (text[n] != '"')
		return n;
	do
		n += 1 + strcspn(text + n + 1, "\"");
	while (text[n] && text[n - 1] == '\\');
	return n;
}

/*
 * Split a step into words, and what it expects, with values in place of names.  A word that
 * contains a quote ends at the next quote.
 */
static bool split_step(struct steps *run, const char *step)
{
	const char *arrow = strstr(step, " -> "), *end = arrow ? arrow : step + strlen(step);
	size_t at[STEPS_WORDS + 1], n = 0, len;

	buf_reset(&run->text);
	for (; step < end; step += len + (step + len < end)) {
		len = *step == ' ' ? 0 : word_length(step);
		if (!len)
			continue;
		if (n == STEPS_WORDS || step + len > end)
			return false;
		at[n++] = run->text.len;
		if (!expand_word(run, step, len, &run->text))
			return false;
	}
	at[n] = run->text.len;
	if (arrow && !expand_word(run, arrow + 4, strlen(arrow + 4), &run->text))
		return false;
	for (size_t i = 0; i < n; i++)
		run->words[i] = run->text.data + at[i];
	run->wanted = arrow ? run->text.data + at[n] : NULL;
	run->nwords = n;
	return n > 0;
}

/* Running steps ---------------------------------------------------------------------- */

static const struct step_word steps[] = {
	{ "catch", step_catch }, { "drop", step_drop }, { "exists", step_exists },
	{ "expect", step_expect }, { "find", step_find }, { "let", step_let },
	{ "limit", step_limit }, { "needs", step_needs }, { "shell", step_shell },
	{ "task", step_task }, { "user", steps_become_user }, { "work", step_work }, { NULL, NULL },
};

static const struct step_word *find_step(const struct step_word *all, const char *name)
{
	for (; all && all->name; all++)
		if (!strcmp(all->name, name))
			return all;
	return NULL;
}

static enum step_result run_step(struct steps *run, const char *text)
{
	const struct step_word *kind;
	uint64_t a, b;
	bool holds;

	if (!split_step(run, text))
		return steps_malformed(run);
	/* "if A OP B" before a step */
	if (!strcmp(run->words[0], "if")) {
		if (run->nwords < 5 || !steps_value(run, run->words[1], &a) ||
		    !steps_value(run, run->words[3], &b) ||
		    !steps_compare(a, run->words[2], b, &holds))
			return steps_malformed(run);
		if (!holds)
			return STEP_OK;
		run->nwords -= 4;
		memmove(run->words, run->words + 4, run->nwords * sizeof(*run->words));
	}
	kind = find_step(run->more, run->words[0]) ?: find_step(steps, run->words[0]) ?:
	       find_step(steps_calls, run->words[0]);
	return kind ? kind->run(run) : steps_malformed(run);
}

/* Run the steps between "; " for the n-th time: "#" in them becomes n. */
static enum step_result run_steps_nth(struct steps *run, unsigned long n)
{
	enum step_result result = STEP_OK;
	struct buf text = { 0 };
	char *at, *next;

	for (const char *from = run->step; *from; from++)
		if (*from == '#')
			buf_addu(&text, n);
		else
			buf_addc(&text, *from);
	buf_str(&text);
	for (at = text.data; at && result == STEP_OK; at = next) {
		next = strstr(at, "; ");
		if (next) {
			*next = '\0';
			next += 2;
		}
		result = run_step(run, at);
	}
	buf_free(&text);
	return result;
}

/* Run a step, or several as often as "N STEP; STEP" or "$NAME STEP; STEP" says. */
static enum step_result repeat_step(struct steps *run, const char *step)
{
	enum step_result result = STEP_OK;
	bool named = *step == '$';
	uint64_t times = 1;
	char count[80];

	run->step = step;
	if (!named && !isdigit((unsigned char)*step))
		return run_step(run, step);
	snprintf(count, sizeof(count), "%.*s", (int)strcspn(step + named, " "), step + named);
	if (!steps_value(run, count, &times))
		return STEP_UNTRIED;
	run->step += strcspn(step, " ");
	run->step += strspn(run->step, " ");
	for (uint64_t i = 0; i < times && result == STEP_OK; i++) {
		if (run->mute)
			run->mute(run, i >= SHOWN && i + 1 < times);
		result = run_steps_nth(run, i);
	}
	return result;
}

/* Append a step in full: "count a == N" reads a before, "open a EVENT ring=N" maps N pages after. */
static void add_in_full(const char *step, size_t len, struct buf *out)
{
	const char *ring = memmem(step, len, " ring=", 6), *name = memchr(step, ' ', len);
	int n = name ? (int)strcspn(++name, " \n") : 0;
	int pages = ring ? (int)strcspn(ring + 6, " \n") : 0;
	const char *rest = ring ? ring + 6 + pages : step;

	if (!strncmp(step, "count ", 6))
		buf_addf(out, "read %.*s\nexpect %.*s.value%.*s\n", n, name, n, name,
			 (int)(step + len - name) - n, name + n);
	else if (!strncmp(step, "open ", 5) && ring)
		buf_addf(out, "%.*s%.*s\nmap %.*s %.*s\n", (int)(ring - step), step,
			 (int)(step + len - rest), rest, n, name, pages, ring + 6);
	else
		buf_add(out, step, len + 1);
}

enum step_result steps_run(struct steps *run, const char *lines)
{
	static const char control[] = "control ";
	enum step_result result = STEP_OK;
	struct buf steps = { 0 };
	char *at, *next;

	for (; *lines; lines += strcspn(lines, "\n") + 1)
		add_in_full(lines, strcspn(lines, "\n"), &steps);
	buf_str(&steps);
	for (at = steps.data; at && result == STEP_OK && *at; at = next + 1) {
		bool controls = !strncmp(at, control, strlen(control));

		next = strchr(at, '\n');
		*next = '\0';
		result = repeat_step(run, controls ? at + strlen(control) : at);
		/* a control that is contradicted leaves the claim untried */
		if (controls && result == STEP_FALSE)
			result = steps_untried(run, "its control failed: %s: %s",
					       run->outcome->expected, run->outcome->seen);
	}
	buf_free(&steps);
	run->step = NULL;
	return result;
}

void steps_free(struct steps *run)
{
	steps_task_end(run);
	for_each(e, run->events, run->nevents) {
		if (e->ring)
			munmap(e->ring, e->ring_len);
		if (e->fd >= 0)
			close(e->fd);
		record_values_free(&e->record);
	}
	run->nevents = 0;
	buf_free(&run->text);
}
