// SPDX-License-Identifier: LGPL-2.1-or-later
/* The steps of an experiment, one after the other. */
#include "conform/lab.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/die.h"

/*
 * Seconds for one experiment; how many of many times are shown; the user and group that root
 * becomes.
 */
enum { PATIENCE = 5, SHOWN = 4, NOBODY = 65534 };

/* How it ends ------------------------------------------------------------------------ */

enum lab_end lab_untried(struct lab *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->told->reason, sizeof(l->told->reason), fmt, ap);
	va_end(ap);
	return LAB_UNTRIED;
}

enum lab_end lab_bad(struct lab *l, const char *fmt, ...)
{
	size_t n = (size_t)snprintf(l->told->reason, sizeof(l->told->reason),
				    "the claim's step is wrong: ");
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->told->reason + n, sizeof(l->told->reason) - n, fmt, ap);
	va_end(ap);
	return LAB_UNTRIED;
}

enum lab_end lab_false(struct lab *l, const char *expected, const char *fmt, ...)
{
	va_list ap;

	snprintf(l->told->expected, sizeof(l->told->expected), "%s", expected);
	va_start(ap, fmt);
	vsnprintf(l->told->seen, sizeof(l->told->seen), fmt, ap);
	va_end(ap);
	return LAB_FALSE;
}

static int errno_of(const char *name, size_t len)
{
	const char *known;

	for (int e = 1; e < 4096; e++) {
		known = strerrorname_np(e);
		if (known && strlen(known) == len && !memcmp(known, name, len))
			return e;
	}
	return 0;
}

/* "ok", a number, or errors with | between them. */
static bool is_wanted(struct lab *l, int64_t result, bool *good)
{
	const char *at = l->wanted;
	uint64_t v;

	if (!strcmp(at, "ok")) {
		*good = result >= 0;
		return true;
	}
	if (!strcmp(at, "error")) {
		*good = result < 0;
		return true;
	}
	*good = false;
	while (*at == 'E') {
		size_t n = strcspn(at, "|");
		int error = errno_of(at, n);

		if (!error)
			break;
		*good |= result == -error;
		at += n;
		if (!*at++)
			return true;
	}
	if (!lab_value(l, l->wanted, &v))
		return false;
	*good = result == (int64_t)v;
	return true;
}

enum lab_end lab_judge(struct lab *l, int64_t result)
{
	char seen[64];
	bool good;

	l->ret = result;
	if (result < 0 && result > -4096)
		snprintf(seen, sizeof(seen), "%s", strerrorname_np((int)-result) ?: "an error");
	else
		snprintf(seen, sizeof(seen), "%lld", (long long)result);
	if (!l->wanted)
		return result >= 0 ? LAB_GOES_ON : lab_untried(l, "%s: %s", l->step, seen);
	if (!is_wanted(l, result, &good))
		return LAB_UNTRIED;
	return good ? LAB_GOES_ON : lab_false(l, l->step, "%s", seen);
}

struct lab_event *lab_event(struct lab *l, const char *name)
{
	for (size_t i = 0; i < l->nevents; i++)
		if (!strcmp(l->events[i].name, name))
			return &l->events[i];
	return NULL;
}

/* Steps that make no calls ----------------------------------------------------------- */

static enum lab_end let(struct lab *l)
{
	uint64_t v;

	/* let NAME = EXPRESSION */
	if (l->nwords != 4)
		return lab_bad(l, "%s", l->step);
	if (!lab_value(l, l->words[3], &v))
		return LAB_UNTRIED;
	lab_set(l, l->words[1], v);
	return LAB_GOES_ON;
}

/* EXPRESSION OPERATOR EXPRESSION from word 1 on. */
static bool condition(struct lab *l, bool *holds, uint64_t *a, uint64_t *b)
{
	if (l->nwords != 4 || !lab_value(l, l->words[1], a) || !lab_value(l, l->words[3], b))
		return false;
	return lab_compare(*a, l->words[2], *b, holds);
}

static enum lab_end expect(struct lab *l)
{
	uint64_t a, b;
	bool holds;

	if (!condition(l, &holds, &a, &b))
		return *l->told->reason ? LAB_UNTRIED : lab_bad(l, "%s", l->step);
	return holds ? LAB_GOES_ON :
	       lab_false(l, l->step + strlen("expect "), "%s is %lld (0x%llx), %s is %lld",
			 l->words[1], (long long)a, (unsigned long long)a, l->words[3],
			 (long long)b);
}

static enum lab_end needs(struct lab *l)
{
	static const struct {
		const char *word, *why;
	} words[] = {
		{ "perfmon", "it takes CAP_PERFMON" },
		{ "admin", "it takes CAP_SYS_ADMIN" },
		{ "tracepoints", "tracefs cannot be read here" },
	};
	uint64_t a, b;
	bool holds;

	if (l->nwords == 2) {
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (!strcmp(words[i].word, l->words[1])) {
				if (i == 2)
					a = host_has_tracepoints(l->host);
				else if (!lab_value(l, words[i].word, &a))
					return LAB_UNTRIED;
				return a ? LAB_GOES_ON : lab_untried(l, "%s", words[i].why);
			}
		if (!strncmp(l->words[1], "pmu.", 4) && lab_value(l, l->words[1], &a))
			return a != UINT64_MAX ? LAB_GOES_ON :
			       lab_untried(l, "there is no PMU %s here", l->words[1] + 4);
	}
	if (!condition(l, &holds, &a, &b))
		return *l->told->reason ? LAB_UNTRIED : lab_bad(l, "%s", l->step);
	return holds ? LAB_GOES_ON : lab_untried(l, "it needs %s, and %s is %lld here",
						 l->step + strlen("needs "), l->words[1],
						 (long long)a);
}

static enum lab_end become_nobody(struct lab *l)
{
	if (getuid() == 0) {
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			return lab_untried(l, "cannot become an ordinary user: %s",
					   strerror(errno));
		/* a change of user undoes both */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_DUMPABLE, 1);
		lab_trace_note(l->trace, "as user 65534");
	}
	return LAB_GOES_ON;
}

static enum lab_end limit(struct lab *l)
{
	struct rlimit r;
	uint64_t v;
	int which;

	if (l->nwords != 3 || !lab_value(l, l->words[2], &v))
		return lab_bad(l, "%s", l->step);
	which = !strcmp(l->words[1], "files") ? RLIMIT_NOFILE : RLIMIT_MEMLOCK;
	r.rlim_cur = r.rlim_max = v;
	lab_trace_note(l->trace, l->step);
	return setrlimit(which, &r) ? lab_untried(l, "setrlimit: %s", strerror(errno)) :
	       LAB_GOES_ON;
}

/* drop admin: gives up CAP_SYS_ADMIN, and keeps the others. */
static enum lab_end drop(struct lab *l)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	lab_trace_note(l->trace, "without CAP_SYS_ADMIN from here on");
	if (syscall(SYS_capget, &head, data))
		return lab_untried(l, "capget: %s", strerror(errno));
	for (size_t i = 0; i < 2; i++)
		data[i].inheritable = 0;
	data[0].effective &= ~(1U << CAP_SYS_ADMIN);
	data[0].permitted &= ~(1U << CAP_SYS_ADMIN);
	return syscall(SYS_capset, &head, data) ? lab_untried(l, "capset: %s", strerror(errno)) :
	       LAB_GOES_ON;
}

/* exists PATH: 0 or ENOENT. */
static enum lab_end exists(struct lab *l)
{
	if (l->nwords != 2)
		return lab_bad(l, "%s", l->step);
	return lab_judge(l, access(l->words[1], F_OK) ? -errno : 0);
}

/* All of them ------------------------------------------------------------------------ */

static const struct {
	const char *verb;
	enum lab_end (*run)(struct lab *l);
} verbs[] = {
	{ "open", lab_open }, { "close", lab_close }, { "read", lab_read },
	{ "ioctl", lab_ioctl }, { "map", lab_map }, { "unmap", lab_unmap },
	{ "poke", lab_poke }, { "protect", lab_protect }, { "poll", lab_poll }, { "prctl", lab_prctl },
	{ "fcntl", lab_fcntl }, { "find", lab_find }, { "work", lab_work },
	{ "task", lab_task }, { "shell", lab_shell }, { "catch", lab_catch },
	{ "let", let }, { "expect", expect }, { "needs", needs },
	{ "user", become_nobody }, { "limit", limit }, { "exists", exists },
	{ "drop", drop },
};

/* The path of our own program, which $self stands for. */
static void add_program(struct buf *to)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	buf_add(to, path, n > 0 ? (size_t)n : 0);
}

/* Puts the values of $NAMEs into their places; false: one has none. */
static bool expand(struct lab *l, const char *from, struct buf *to)
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
		for (n = 1; isalnum((unsigned char)from[n]) || from[n] == '_' || from[n] == '.';)
			n++;
		snprintf(name, sizeof(name), "%.*s", (int)n - 1, from + 1);
		if (!lab_value(l, name, &v))
			return false;
		buf_addf(to, "%lld", (long long)v);
		from += n;
	}
	return true;
}

/* Takes text apart into words; one with a quote ends with the next quote. */
static bool split(struct lab *l, char *text)
{
	char *arrow = strstr(text, " -> ");

	l->wanted = NULL;
	if (arrow) {
		*arrow = '\0';
		l->wanted = arrow + strlen(" -> ");
	}
	l->nwords = 0;
	while (*text) {
		if (*text == ' ') {
			*text++ = '\0';
			continue;
		}
		if (l->nwords == LAB_WORDS)
			return false;
		l->words[l->nwords++] = text;
		text += strcspn(text, " \"");
		if (*text == '"') {
			text = strchr(text + 1, '"');
			if (!text)
				return false;
			*text++ = '\0';
		}
	}
	return l->nwords > 0;
}

static enum lab_end one_step(struct lab *l)
{
	struct buf text = { 0 };
	enum lab_end end = LAB_UNTRIED;
	size_t i = 0;

	if (!expand(l, l->step, &text))
		goto out;
	if (!text.len || !split(l, text.data)) {
		end = lab_bad(l, "%s", l->step);
		goto out;
	}
	while (i < sizeof(verbs) / sizeof(*verbs) && strcmp(verbs[i].verb, l->words[0]))
		i++;
	end = i < sizeof(verbs) / sizeof(*verbs) ? verbs[i].run(l) : lab_bad(l, "%s", l->step);
out:
	buf_free(&text);
	return end;
}

/* "5 STEP" does it five times. */
static enum lab_end repeat(struct lab *l, const char *step)
{
	enum lab_end end = LAB_GOES_ON;
	unsigned long times = 1;
	char *rest;

	if (isdigit((unsigned char)*step)) {
		times = strtoul(step, &rest, 10);
		step = rest + strspn(rest, " ");
	}
	l->step = step;
	for (unsigned long i = 0; i < times && end == LAB_GOES_ON; i++) {
		lab_trace_mute(l->trace, i >= SHOWN && i + 1 < times);
		end = one_step(l);
	}
	return end;
}

static enum claim_verdict all_steps(struct lab *l, const char *steps)
{
	enum lab_end end = LAB_GOES_ON;
	char *copy = xstrdup(steps), *at = copy, *next;

	while (end == LAB_GOES_ON && *at) {
		next = strchr(at, '\n');
		*next = '\0';
		end = repeat(l, at);
		at = next + 1;
	}
	return end == LAB_GOES_ON ? CLAIM_TRUE : end == LAB_FALSE ? CLAIM_FALSE :
	       CLAIM_UNTRIED;
}

_Noreturn void lab_run(const struct claim_desc *c, bool nobody, struct lab_told *told)
{
	struct lab *l = xcalloc(1, sizeof(*l));

	/* what our parent does about signals is its own affair */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(PATIENCE);
	l->told = told;
	l->host = host_new("/sys", NULL);
	l->trace = lab_trace_new(l);
	if (!l->trace) {
		snprintf(told->reason, sizeof(told->reason), "no memory for the trace");
		told->done = true;
		_exit(0);
	}
	if (!nobody || become_nobody(l) == LAB_GOES_ON)
		told->verdict = all_steps(l, c->steps);
	lab_task_end(l);
	lab_trace_end(l->trace, told->calls, sizeof(told->calls));
	told->done = true;
	_exit(0);
}
