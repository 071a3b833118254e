// SPDX-License-Identifier: LGPL-2.1-or-later
/* The process of an experiment: it runs the steps one after the other. */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conform/claim.h"
#include "core/host/mounts.h"
#include "core/lib/child.h"
#include "core/lib/die.h"
#include "xlat/constants.h"

enum {
	TIMEOUT = 5,	/* seconds for an experiment */
	SHOWN = 4,	/* repetitions of a step that are in the text of the calls */
	NOBODY = 65534,	/* user and group of --nobody and "user" */
};

/* Steps without calls to perf -------------------------------------------------------- */

/* let NAME = EXPRESSION */
static enum step_result step_let(struct claim_run *run)
{
	uint64_t v;

	if (run->nwords != 4)
		return claim_malformed(run);
	if (!claim_value(run, run->words[3], &v))
		return STEP_UNTRIED;
	claim_set_var(run, run->words[1], v);
	return STEP_OK;
}

/* Evaluate "EXPRESSION OPERATOR EXPRESSION" from word 1 on. */
static bool step_condition(struct claim_run *run, bool *holds, uint64_t *a, uint64_t *b)
{
	if (run->nwords != 4 || !claim_value(run, run->words[1], a) ||
	    !claim_value(run, run->words[3], b))
		return false;
	return claim_compare(*a, run->words[2], *b, holds);
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
static enum step_result step_expect(struct claim_run *run)
{
	struct buf note = { 0 };
	uint64_t a, b;
	bool holds;

	if (!step_condition(run, &holds, &a, &b))
		return claim_malformed(run);
	say_value(run->words[1], a, &note);
	say_value(run->words[3], b, &note);
	if (note.len)
		claim_trace_note(run->trace, note.data);
	buf_free(&note);
	return holds ? STEP_OK :
	       claim_false(run, run->step + strlen("expect "), "%s is %lld (0x%llx), %s is %lld",
			   run->words[1], (long long)a, (unsigned long long)a, run->words[3],
			   (long long)b);
}

/* needs perfmon|admin|tracepoints|pmu.NAME: set *result and return true if it is one of these */
static bool needs_word(struct claim_run *run, enum step_result *result)
{
	const char *word = run->words[1];
	uint64_t v;

	if (!strcmp(word, "tracepoints")) {
		*result = host_has_tracepoints(run->host) ? STEP_OK :
			  claim_untried(run, "tracefs is not readable");
		return true;
	}
	if (strcmp(word, "perfmon") && strcmp(word, "admin") && strncmp(word, "pmu.", 4))
		return false;
	if (!claim_value(run, word, &v))
		*result = STEP_UNTRIED;
	else if (*word == 'p' && word[1] == 'm')
		*result = v != UINT64_MAX ? STEP_OK :
			  claim_untried(run, "this machine has no PMU %s", word + 4);
	else
		*result = v ? STEP_OK : claim_untried(run, "it requires %s", *word == 'p' ?
						      "CAP_PERFMON" : "CAP_SYS_ADMIN");
	return true;
}

/* needs WORD, or needs EXPRESSION OPERATOR EXPRESSION */
static enum step_result step_needs(struct claim_run *run)
{
	enum step_result result;
	uint64_t a, b;
	bool holds;

	if (run->nwords == 2 && needs_word(run, &result))
		return result;
	if (!step_condition(run, &holds, &a, &b))
		return claim_malformed(run);
	return holds ? STEP_OK : claim_untried(run, "it requires %s; %s is %lld",
					       run->step + strlen("needs "), run->words[1],
					       (long long)a);
}

/* user: continue as an ordinary user */
static enum step_result step_user(struct claim_run *run)
{
	if (getuid() == 0) {
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			return claim_untried(run, "cannot become an ordinary user: %s",
					     strerror(errno));
		/* a change of user resets both */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_DUMPABLE, 1);
		claim_trace_note(run->trace, "as user 65534");
	}
	return STEP_OK;
}

/* limit files|memlock N */
static enum step_result step_limit(struct claim_run *run)
{
	struct rlimit r;
	uint64_t v;
	int which;

	if (run->nwords != 3 || !claim_value(run, run->words[2], &v))
		return claim_malformed(run);
	which = !strcmp(run->words[1], "files") ? RLIMIT_NOFILE : RLIMIT_MEMLOCK;
	r.rlim_cur = r.rlim_max = v;
	claim_trace_note(run->trace, which == RLIMIT_NOFILE ? "with a low RLIMIT_NOFILE" :
			 "with a low RLIMIT_MEMLOCK");
	return setrlimit(which, &r) ? claim_untried(run, "setrlimit: %s", strerror(errno)) :
	       STEP_OK;
}

/* drop admin: give up CAP_SYS_ADMIN only */
static enum step_result step_drop(struct claim_run *run)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	claim_trace_note(run->trace, "without CAP_SYS_ADMIN from here on");
	if (syscall(SYS_capget, &head, data))
		return claim_untried(run, "capget: %s", strerror(errno));
	for (size_t i = 0; i < 2; i++)
		data[i].inheritable = 0;
	data[0].effective &= ~(1U << ABI_CAP_SYS_ADMIN);
	data[0].permitted &= ~(1U << ABI_CAP_SYS_ADMIN);
	if (syscall(SYS_capset, &head, data))
		return claim_untried(run, "capset: %s", strerror(errno));
	return STEP_OK;
}

/* exists PATH: its result is 0 or ENOENT */
static enum step_result step_exists(struct claim_run *run)
{
	if (run->nwords != 2)
		return claim_malformed(run);
	return claim_check_result(run, access(run->words[1], F_OK) ? -errno : 0);
}

/* Running steps ---------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum step_result (*run)(struct claim_run *run);
} steps[] = {
	{ "catch", claim_step_catch }, { "close", claim_step_close },
	{ "drop", step_drop }, { "exists", step_exists },
	{ "expect", step_expect }, { "fcntl", claim_step_fcntl },
	{ "find", claim_step_find }, { "ioctl", claim_step_ioctl },
	{ "let", step_let }, { "limit", step_limit },
	{ "map", claim_step_map }, { "needs", step_needs },
	{ "open", claim_step_open }, { "poke", claim_step_poke },
	{ "poll", claim_step_poll }, { "prctl", claim_step_prctl },
	{ "protect", claim_step_protect }, { "read", claim_step_read },
	{ "shell", claim_step_shell }, { "task", claim_step_task },
	{ "unmap", claim_step_unmap }, { "user", step_user },
	{ "work", claim_step_work },
};

/* Append the path of this program, the value of $self. */
static void add_program(struct buf *to)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	buf_add(to, path, n > 0 ? (size_t)n : 0);
}

/* Append the event that counts each write of the variable, without a modifier. */
static void add_exact(struct claim_run *run, struct buf *to)
{
	if (run->exact == EXACT_FAULTS && !run->outcome->exact)
		claim_trace_note(run->trace, "each write to the variable causes a page fault");
	run->outcome->exact = true;
	if (run->exact == EXACT_FAULTS)
		buf_adds(to, "page-faults");
	else
		buf_addf(to, "mem:%lu/4:w", (unsigned long)claim_watched());
}

/* Copy from to to with each $NAME replaced by its value.  Return false if one is unknown. */
static bool expand_variables(struct claim_run *run, const char *from, struct buf *to)
{
	while (*from) {
		size_t n = strcspn(from, "$");
		char name[80];
		uint64_t v;

		buf_add(to, from, n);
		from += n;
		if (!*from)
			break;
		if (!strncmp(from, "$self", 5)) {
			add_program(to);
			from += 5;
			continue;
		}
		if (!strncmp(from, "$exact", 6)) {
			add_exact(run, to);
			from += 6;
			continue;
		}
		for (n = 1; isalnum((unsigned char)from[n]) || from[n] == '_' || from[n] == '.';)
			n++;
		snprintf(name, sizeof(name), "%.*s", (int)n - 1, from + 1);
		if (!claim_value(run, name, &v))
			return false;
		buf_addf(to, "%lld", (long long)v);
		from += n;
	}
	return true;
}

/*
 * Split text into the step's words and its expected result.  A word that contains a quote
 * ends at the next quote.
 */
static bool split_step(struct claim_run *run, char *text)
{
	char *arrow = strstr(text, " -> ");

	run->wanted = NULL;
	if (arrow) {
		*arrow = '\0';
		run->wanted = arrow + strlen(" -> ");
	}
	run->nwords = 0;
	while (*text) {
		if (*text == ' ') {
			*text++ = '\0';
			continue;
		}
		if (run->nwords == CLAIM_WORDS)
			return false;
		run->words[run->nwords++] = text;
		text += strcspn(text, " \"");
		if (*text == '"') {
			text = strchr(text + 1, '"');
			if (!text)
				return false;
			*text++ = '\0';
		}
	}
	return run->nwords > 0;
}

static enum step_result run_step(struct claim_run *run)
{
	struct buf text = { 0 };
	enum step_result result = STEP_UNTRIED;
	size_t i = 0;

	if (!expand_variables(run, run->step, &text))
		goto out;
	if (!text.len || !split_step(run, text.data)) {
		result = claim_malformed(run);
		goto out;
	}
	while (i < sizeof(steps) / sizeof(*steps) && strcmp(steps[i].name, run->words[0]))
		i++;
	result = i < sizeof(steps) / sizeof(*steps) ? steps[i].run(run) : claim_malformed(run);
out:
	buf_free(&text);
	return result;
}

/* Run a step, as often as "N STEP" says. */
static enum step_result repeat_step(struct claim_run *run, const char *step)
{
	enum step_result result = STEP_OK;
	unsigned long times = 1;
	char *rest;

	if (isdigit((unsigned char)*step)) {
		times = strtoul(step, &rest, 10);
		step = rest + strspn(rest, " ");
	}
	run->step = step;
	for (unsigned long i = 0; i < times && result == STEP_OK; i++) {
		claim_trace_mute(run->trace, i >= SHOWN && i + 1 < times);
		result = run_step(run);
	}
	return result;
}

/* Run a step; after "control", a result that contradicts it leaves the claim untried. */
static enum step_result run_line(struct claim_run *run, const char *line)
{
	static const char control[] = "control ";
	enum step_result result;

	if (strncmp(line, control, strlen(control)))
		return repeat_step(run, line);
	result = repeat_step(run, line + strlen(control));
	return result == STEP_FALSE ? claim_untried(run, "its control failed: %s: %s",
						    run->outcome->expected, run->outcome->seen) :
	       result;
}

static enum claim_verdict run_steps(struct claim_run *run, const char *text)
{
	enum step_result result = STEP_OK;
	char *copy = xstrdup(text), *at = copy, *next;

	while (result == STEP_OK && *at) {
		next = strchr(at, '\n');
		*next = '\0';
		result = run_line(run, at);
		at = next + 1;
	}
	return result == STEP_OK ? CLAIM_TRUE : result == STEP_FALSE ? CLAIM_FALSE :
	       CLAIM_UNTRIED;
}

static _Noreturn void claim_child(const struct claim_desc *c, const struct claim_lab *lab,
				  struct claim_outcome *outcome)
{
	struct claim_run *run = xcalloc(1, sizeof(*run));
	const char *missing = mounts_proc_missing();

	/* our parent may ignore or block signals */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(TIMEOUT);
	run->outcome = outcome;
	run->exact = lab->exact;
	run->host = host_new("/sys", NULL);
	run->trace = missing ? NULL : claim_trace_new(run);
	if (!run->trace) {
		snprintf(outcome->reason, sizeof(outcome->reason), "%s", missing ? missing :
			 "cannot allocate memory for the trace");
		outcome->done = true;
		_exit(0);
	}
	if (run->exact == EXACT_FAULTS)
		claim_memory_ready();
	if (!lab->nobody || step_user(run) == STEP_OK)
		outcome->verdict = run_steps(run, c->steps);
	claim_task_end(run);
	claim_trace_end(run->trace, outcome->calls, sizeof(outcome->calls));
	outcome->done = true;
	_exit(0);
}

void claim_try(const struct claim_desc *c, const struct claim_lab *lab,
	       struct claim_outcome *outcome)
{
	pid_t pid;

	memset(outcome, 0, sizeof(*outcome));
	fflush(NULL);
	pid = fork();
	if (!pid)
		claim_child(c, lab, outcome);
	child_wait(pid);
	if (pid > 0 && outcome->done)
		return;
	outcome->verdict = CLAIM_UNTRIED;
	snprintf(outcome->reason, sizeof(outcome->reason), "%s", pid > 0 ?
		 "the experiment did not end" : "cannot start a process for it");
}
