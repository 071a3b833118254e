/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the engine: run a program and record the hooks' arguments. */
#ifndef PEVTRACE_TESTS_TRACE_RUN_H
#define PEVTRACE_TESTS_TRACE_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/ptrace/trace.h"

static const long ANY = LONG_MIN; /* number of an event */

enum what { BORN, ENTER, EXIT, EXECED, SIGNALLED, GONE };

struct event {
	enum what what;
	pid_t tid, pid, other; /* other: parent, or former tid */
	int id; /* of a call */
	long number; /* mark, signal or wait status */
	int64_t ret;
	bool flag; /* born: shares_files; exit: failed; gone: in a call */
	bool memory, attached;
	const char *arch;
};

/* One run of the tracer and the hooks that it called. */
struct run {
	struct trace_options opts;
	struct tracer *t;
	struct event *events;
	size_t n, cap;
	int status;
	/* What the hooks do besides recording. */
	bool close; /* close_watch for all, from the start: TRACE_NEAR */
	bool near; /* ... from the first open on */
	bool second_filter; /* ... TRACE_CLOSE, with the descriptors of all opens */
	bool opened;
	bool close_later; /* ... once mark 10 was seen */
	bool skip; /* enter answers TRACE_SKIP */
	long kill_at; /* SIGKILL the task at this event */
	long term_at; /* SIGTERM ourselves at this event */
	bool stacks;
	char stack[4096];
	const char *stack_end;
};

static inline struct event *record(struct run *r, enum what what, pid_t tid)
{
	struct event *e;

	if (r->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->events = realloc(r->events, r->cap * sizeof(*r->events));
		assert_non_null(r->events);
	}
	e = &r->events[r->n++];
	*e = (struct event){ .what = what, .tid = tid };
	if (r->kill_at && (long)r->n == r->kill_at)
		kill(tid, SIGKILL);
	if (r->term_at && (long)r->n == r->term_at)
		kill(getpid(), SIGTERM);
	return e;
}

static inline void on_born(void *ctx, const struct trace_birth *b)
{
	struct event *e = record(ctx, BORN, b->tid);

	e->pid = b->pid;
	e->other = b->parent;
	e->flag = b->shares_files;
	e->memory = b->shares_memory;
	e->attached = b->attached;
}

static inline void add_frame(void *ctx, const struct trace_frame *f)
{
	struct run *r = ctx;
	size_t used = strlen(r->stack);

	snprintf(r->stack + used, sizeof(r->stack) - used, "%s@%s ",
		 f->symbol ? f->symbol : "?", f->module ? f->module : "?");
}

static inline enum trace_next on_enter(void *ctx, struct call *call,
				       const struct mem *mem)
{
	struct run *r = ctx;
	struct event *e = record(r, ENTER, call->tid);
	char byte;

	e->pid = call->pid;
	e->id = (int)call->desc->id;
	e->number = (long)call->args[1];
	e->arch = call->arch->name;
	assert_true(call->enter_ns > 0);
	assert_false(call->returned);
	assert_int_equal(mem->read(mem, 1, &byte, 1), 0);
	if (r->stacks && call->desc->id == CALL_PERF_EVENT_OPEN) {
		r->stack[0] = '\0';
		r->stack_end = trace_stack(r->t, call->tid, true, add_frame, r);
	}
	if (r->close_later && call->desc->id == CALL_PERF_EVENT_OPEN)
		r->close = true;
	return r->skip ? TRACE_SKIP : TRACE_EXIT;
}

static inline void on_exit_hook(void *ctx, struct call *call,
				const struct mem *mem)
{
	struct run *r = ctx;
	struct event *e = record(r, EXIT, call->tid);

	(void)mem;
	if (call->desc->id == CALL_PERF_EVENT_OPEN && !call->failed) {
		r->opened = true;
		if (r->second_filter)
			trace_watch_fd(r->t, (int)call->ret);
	}
	e->id = (int)call->desc->id;
	e->number = (long)call->args[1];
	e->ret = call->ret;
	e->flag = call->failed;
	assert_true(call->returned);
	assert_true(call->exit_ns >= call->enter_ns);
}

static inline void on_execed(void *ctx, const struct trace_exec *x)
{
	record(ctx, EXECED, x->tid)->other = x->former;
}

static inline void on_signalled(void *ctx, pid_t tid, const siginfo_t *info)
{
	record(ctx, SIGNALLED, tid)->number = info->si_signo;
}

static inline void on_gone(void *ctx, pid_t tid, int status, struct call *call)
{
	struct event *e = record(ctx, GONE, tid);

	e->number = status;
	e->flag = call;
	if (call)
		assert_int_equal(call->tid, tid);
}

static inline enum trace_closeness on_close_watch(void *ctx, pid_t tid)
{
	const struct run *r = ctx;

	(void)tid;
	if (r->second_filter && r->opened)
		return TRACE_CLOSE;
	return r->close || (r->near && r->opened) ? TRACE_NEAR : TRACE_DISTANT;
}

static const struct trace_ops ops = {
	on_born,      on_enter, on_exit_hook,	on_execed,
	on_signalled, on_gone,	on_close_watch, NULL,
};

/* Watch the calls that the description names. */
static inline struct run make_run(bool no_seccomp)
{
	struct run r = { .opts.no_seccomp = no_seccomp };

	for (size_t i = 0; i < CALL_COUNT; i++)
		r.opts.watch[i] = call_descs[i].watch;
	return r;
}

static const char *target(const char *name)
{
	static char path[4096];
	const char *dir = getenv("PEVTRACE_TARGETS");

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "tests/targets",
		 name);
	return path;
}

static inline void launch(struct run *r, const char *name, const char *verb,
			  const char *arg)
{
	char *argv[] = { (char *)target(name), (char *)verb, (char *)arg,
			 NULL };

	alarm(60); /* a hang is a failure */
	r->t = trace_new(&r->opts, &ops, r);
	assert_int_equal(trace_launch(r->t, argv), 0);
	r->status = trace_run(r->t);
	trace_free(r->t);
	alarm(0);
}

/* Return the i-th (from 0) event of that kind and number, or NULL. */
static const struct event *find(const struct run *r, enum what what,
				long number, size_t i)
{
	for (size_t at = 0; at < r->n; at++) {
		const struct event *e = &r->events[at];

		if (e->what == what && (number == ANY || e->number == number) &&
		    i-- == 0)
			return e;
	}
	return NULL;
}

static inline size_t count(const struct run *r, enum what what, long number)
{
	size_t n = 0;

	while (find(r, what, number, n))
		n++;
	return n;
}

/* poll() is ppoll where the architecture is young. */
static inline bool is_poll(const struct event *e)
{
	return e->id == CALL_POLL || e->id == CALL_PPOLL;
}

static inline void assert_exit(const struct run *r, int code)
{
	if (!WIFEXITED(r->status) || WEXITSTATUS(r->status) != code)
		fail_msg("wait status 0x%x, not exit status %d", r->status,
			 code);
}

/*
 * Check what holds for every run: a task is born, then acts, then goes, each once; an exit
 * follows its enter; no task is left.
 */
static inline void assert_sane(const struct run *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct event *e = &r->events[i];
		bool alive = false, inside = false;

		for (size_t j = 0; j < i; j++) {
			const struct event *b = &r->events[j];

			if (b->what == EXECED && b->other == e->tid &&
			    b->tid != e->tid)
				alive = false;
			if (b->what == EXECED && b->tid == e->tid)
				alive = true;
			if (b->tid != e->tid)
				continue;
			if (b->what == BORN)
				alive = true;
			if (b->what == GONE)
				alive = inside = false;
			if (b->what == ENTER)
				inside = true;
			if (b->what == EXIT)
				inside = false;
		}
		if (e->what == BORN)
			assert_false(alive);
		else if (e->what != EXECED)
			assert_true(alive);
		if (e->what == EXIT)
			assert_true(inside);
		if (e->what == ENTER && !r->skip)
			assert_false(inside);
	}
	assert_int_equal(count(r, BORN, ANY), count(r, GONE, ANY));
}

static inline void done(struct run *r)
{
	free(r->events);
}

/* Run body twice: with the filter, and with a stop at every call. */
static inline void both_ways(void (*body)(bool no_seccomp))
{
	body(false);
	body(true);
}

/* Run the tests, or skip all where tasks cannot be traced, as in an emulator of user programs. */
#define run_traced(tests) \
	(can_trace() ? cmocka_run_group_tests(tests, NULL, NULL) : 0)

static inline bool can_trace(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? errno : 0);
	waitpid(pid, &status, 0);
	if (!WEXITSTATUS(status))
		return true;
	printf("1..0 # SKIP no ptrace: %s\n", strerror(WEXITSTATUS(status)));
	return false;
}

#endif
