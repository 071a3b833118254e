// SPDX-License-Identifier: LGPL-2.1-or-later
/* The steps of an experiment, one after the other. */
#include "conform/claim.h"

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
#include "xlat/constants.h"

/*
 * Seconds for one experiment; how many of many times are shown; the user and group that root
 * becomes.
 */
enum { PATIENCE = 5, SHOWN = 4, NOBODY = 65534 };

/* How it ends ------------------------------------------------------------------------ */

enum step_end claim_untried(struct claim_run *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->told->reason, sizeof(l->told->reason), fmt, ap);
	va_end(ap);
	return STEP_UNTRIED;
}

enum step_end claim_bad(struct claim_run *l, const char *fmt, ...)
{
	size_t n = (size_t)snprintf(l->told->reason, sizeof(l->told->reason),
				    "the claim's step is wrong: ");
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->told->reason + n, sizeof(l->told->reason) - n, fmt, ap);
	va_end(ap);
	return STEP_UNTRIED;
}

enum step_end claim_false(struct claim_run *l, const char *expected, const char *fmt, ...)
{
	va_list ap;

	snprintf(l->told->expected, sizeof(l->told->expected), "%s", expected);
	va_start(ap, fmt);
	vsnprintf(l->told->seen, sizeof(l->told->seen), fmt, ap);
	va_end(ap);
	return STEP_FALSE;
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
static bool is_wanted(struct claim_run *l, int64_t result, bool *good)
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
	if (!claim_value(l, l->wanted, &v))
		return false;
	*good = result == (int64_t)v;
	return true;
}

enum step_end claim_judge(struct claim_run *l, int64_t result)
{
	char seen[64];
	bool good;

	l->ret = result;
	if (result < 0 && result > -4096)
		snprintf(seen, sizeof(seen), "%s", strerrorname_np((int)-result) ?: "an error");
	else
		snprintf(seen, sizeof(seen), "%lld", (long long)result);
	if (!l->wanted)
		return result >= 0 ? STEP_GOES_ON : claim_untried(l, "%s: %s", l->step, seen);
	if (!is_wanted(l, result, &good))
		return STEP_UNTRIED;
	return good ? STEP_GOES_ON : claim_false(l, l->step, "%s", seen);
}

struct claim_event *claim_event(struct claim_run *l, const char *name)
{
	for (size_t i = 0; i < l->nevents; i++)
		if (!strcmp(l->events[i].name, name))
			return &l->events[i];
	return NULL;
}

/* Steps that make no calls ----------------------------------------------------------- */

static enum step_end let(struct claim_run *l)
{
	uint64_t v;

	/* let NAME = EXPRESSION */
	if (l->nwords != 4)
		return claim_bad(l, "%s", l->step);
	if (!claim_value(l, l->words[3], &v))
		return STEP_UNTRIED;
	claim_set(l, l->words[1], v);
	return STEP_GOES_ON;
}

/* EXPRESSION OPERATOR EXPRESSION from word 1 on. */
static bool condition(struct claim_run *l, bool *holds, uint64_t *a, uint64_t *b)
{
	if (l->nwords != 4 || !claim_value(l, l->words[1], a) || !claim_value(l, l->words[3], b))
		return false;
	return claim_compare(*a, l->words[2], *b, holds);
}

static enum step_end expect(struct claim_run *l)
{
	uint64_t a, b;
	bool holds;

	if (!condition(l, &holds, &a, &b))
		return *l->told->reason ? STEP_UNTRIED : claim_bad(l, "%s", l->step);
	return holds ? STEP_GOES_ON :
	       claim_false(l, l->step + strlen("expect "), "%s is %lld (0x%llx), %s is %lld",
			 l->words[1], (long long)a, (unsigned long long)a, l->words[3],
			 (long long)b);
}

static enum step_end needs(struct claim_run *l)
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
				else if (!claim_value(l, words[i].word, &a))
					return STEP_UNTRIED;
				return a ? STEP_GOES_ON : claim_untried(l, "%s", words[i].why);
			}
		if (!strncmp(l->words[1], "pmu.", 4) && claim_value(l, l->words[1], &a))
			return a != UINT64_MAX ? STEP_GOES_ON :
			       claim_untried(l, "there is no PMU %s here", l->words[1] + 4);
	}
	if (!condition(l, &holds, &a, &b))
		return *l->told->reason ? STEP_UNTRIED : claim_bad(l, "%s", l->step);
	return holds ? STEP_GOES_ON : claim_untried(l, "it needs %s, and %s is %lld here",
						 l->step + strlen("needs "), l->words[1],
						 (long long)a);
}

static enum step_end become_nobody(struct claim_run *l)
{
	if (getuid() == 0) {
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			return claim_untried(l, "cannot become an ordinary user: %s",
					   strerror(errno));
		/* a change of user undoes both */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_DUMPABLE, 1);
		claim_trace_note(l->trace, "as user 65534");
	}
	return STEP_GOES_ON;
}

static enum step_end limit(struct claim_run *l)
{
	struct rlimit r;
	uint64_t v;
	int which;

	if (l->nwords != 3 || !claim_value(l, l->words[2], &v))
		return claim_bad(l, "%s", l->step);
	which = !strcmp(l->words[1], "files") ? RLIMIT_NOFILE : RLIMIT_MEMLOCK;
	r.rlim_cur = r.rlim_max = v;
	claim_trace_note(l->trace, l->step);
	return setrlimit(which, &r) ? claim_untried(l, "setrlimit: %s", strerror(errno)) :
	       STEP_GOES_ON;
}

/* drop admin: gives up CAP_SYS_ADMIN, and keeps the others. */
static enum step_end drop(struct claim_run *l)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	claim_trace_note(l->trace, "without CAP_SYS_ADMIN from here on");
	if (syscall(SYS_capget, &head, data))
		return claim_untried(l, "capget: %s", strerror(errno));
	for (size_t i = 0; i < 2; i++)
		data[i].inheritable = 0;
	data[0].effective &= ~(1U << ABI_CAP_SYS_ADMIN);
	data[0].permitted &= ~(1U << ABI_CAP_SYS_ADMIN);
	return syscall(SYS_capset, &head, data) ? claim_untried(l, "capset: %s", strerror(errno)) :
	       STEP_GOES_ON;
}

/* exists PATH: 0 or ENOENT. */
static enum step_end exists(struct claim_run *l)
{
	if (l->nwords != 2)
		return claim_bad(l, "%s", l->step);
	return claim_judge(l, access(l->words[1], F_OK) ? -errno : 0);
}

/* All of them ------------------------------------------------------------------------ */

static const struct {
	const char *verb;
	enum step_end (*run)(struct claim_run *l);
} verbs[] = {
	{ "open", claim_open }, { "close", claim_close }, { "read", claim_read },
	{ "ioctl", claim_ioctl }, { "map", claim_map }, { "unmap", claim_unmap },
	{ "poke", claim_poke }, { "protect", claim_protect }, { "poll", claim_poll }, { "prctl", claim_prctl },
	{ "fcntl", claim_fcntl }, { "find", claim_find }, { "work", claim_work },
	{ "task", claim_task }, { "shell", claim_shell }, { "catch", claim_catch },
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
static bool expand(struct claim_run *l, const char *from, struct buf *to)
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
		if (!claim_value(l, name, &v))
			return false;
		buf_addf(to, "%lld", (long long)v);
		from += n;
	}
	return true;
}

/* Takes text apart into words; one with a quote ends with the next quote. */
static bool split(struct claim_run *l, char *text)
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
		if (l->nwords == CLAIM_WORDS)
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

static enum step_end one_step(struct claim_run *l)
{
	struct buf text = { 0 };
	enum step_end end = STEP_UNTRIED;
	size_t i = 0;

	if (!expand(l, l->step, &text))
		goto out;
	if (!text.len || !split(l, text.data)) {
		end = claim_bad(l, "%s", l->step);
		goto out;
	}
	while (i < sizeof(verbs) / sizeof(*verbs) && strcmp(verbs[i].verb, l->words[0]))
		i++;
	end = i < sizeof(verbs) / sizeof(*verbs) ? verbs[i].run(l) : claim_bad(l, "%s", l->step);
out:
	buf_free(&text);
	return end;
}

/* "5 STEP" does it five times. */
static enum step_end repeat(struct claim_run *l, const char *step)
{
	enum step_end end = STEP_GOES_ON;
	unsigned long times = 1;
	char *rest;

	if (isdigit((unsigned char)*step)) {
		times = strtoul(step, &rest, 10);
		step = rest + strspn(rest, " ");
	}
	l->step = step;
	for (unsigned long i = 0; i < times && end == STEP_GOES_ON; i++) {
		claim_trace_mute(l->trace, i >= SHOWN && i + 1 < times);
		end = one_step(l);
	}
	return end;
}

static enum claim_verdict all_steps(struct claim_run *l, const char *steps)
{
	enum step_end end = STEP_GOES_ON;
	char *copy = xstrdup(steps), *at = copy, *next;

	while (end == STEP_GOES_ON && *at) {
		next = strchr(at, '\n');
		*next = '\0';
		end = repeat(l, at);
		at = next + 1;
	}
	return end == STEP_GOES_ON ? CLAIM_TRUE : end == STEP_FALSE ? CLAIM_FALSE :
	       CLAIM_UNTRIED;
}

_Noreturn void claim_run(const struct claim_desc *c, bool nobody, struct claim_told *told)
{
	struct claim_run *l = xcalloc(1, sizeof(*l));

	/* what our parent does about signals is its own affair */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(PATIENCE);
	l->told = told;
	l->host = host_new("/sys", NULL);
	l->trace = claim_trace_new(l);
	if (!l->trace) {
		snprintf(told->reason, sizeof(told->reason), "no memory for the trace");
		told->done = true;
		_exit(0);
	}
	if (!nobody || become_nobody(l) == STEP_GOES_ON)
		told->verdict = all_steps(l, c->steps);
	claim_task_end(l);
	claim_trace_end(l->trace, told->calls, sizeof(told->calls));
	told->done = true;
	_exit(0);
}
