/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the engine share; nobody else includes this. */
#ifndef PEVTRACE_TRACE_TASK_H
#define PEVTRACE_TRACE_TASK_H

#include <linux/ptrace.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "abi/call.h"
#include "lib/map.h"
#include "trace/conceal.h"
#include "trace/filter.h"
#include "trace/nr.h"
#include "trace/second_filter.h"
#include "trace/signal_forward.h"
#include "trace/trace.h"

/*
 * A thread that we follow.  The kernel reports a new thread and its maker's
 * fork event in either order, so a task may be known before it is born.
 */
struct task {
	pid_t tid, pid;
	const struct arch *arch; /* of the last call seen, or NULL */
	struct call *call; /* reused by every call; NULL at first */
	pid_t walked; /* what stack.c calls it to the walker; 0: it never did */
	struct second_filter *guard; /* see guard.h; NULL without a filter */
	uint64_t held_ns; /* stays in its stop until then; 0: does not */
	struct conceal veil; /* see veil.h */
	uint64_t early_ns; /* when an early task was first seen */
	int status; /* of an early task that has ended */
	bool in_call; /* enter was answered with TRACE_EXIT */
	bool entered; /* stopped at entry: the exit will stop too */
	bool filtered; /* carries our seccomp filter */
	bool close; /* last answer of close_watch was not TRACE_FAR */
	bool every; /* stops at every call, or is about to stop anyway */
	bool asked; /* to stop, by task_ask() */
	bool root; /* of a program we launched or attached to */
	bool starting; /* ours, but not yet the launched program */
	bool early; /* seen before its birth; held if it lives */
	bool ended; /* early, and dead already */
	bool listening; /* stopped with its process, as job control has it */
	bool unwalkable; /* its program is too much for libunwind */
	uint64_t round; /* the last one that it was served in: see fair.c */
};

/* See fair.c.  A round ends when so many stops came from tasks served in it before. */
struct fairness {
	uint64_t round;
	size_t again; /* so many came */
	size_t patience; /* so many may */
	pid_t *late; /* room for the tasks that were not served */
	size_t room;
};

/* What a launched program gets back, as we found it in ourselves. */
struct inherited {
	sigset_t mask;
	sigset_t ignored;
	struct rlimit nofile;
	struct sigaction pulse; /* of the signal that we use for it */
};

struct tracer {
	const struct trace_options *opts;
	const struct trace_ops *ops;
	void *ctx;
	struct map tasks; /* tid -> struct task */
	struct nr_tables nrs;
	uint16_t mark; /* of our filters' stops */
	struct filter filter;
	struct stacks *stacks; /* see stack.c; NULL before the first */
	struct fd_range *ranges; /* descriptors of WATCH_FD calls, as they came up */
	size_t nranges;
	bool grown; /* ... one of late */
	struct inherited inherited;
	sigset_t taken; /* signals that are blocked, and looked for now and then */
	sigset_t stops; /* of these, the ones that job control stops us with */
	struct signal_forward_reached reached[RELAY_SIGNALS];
	timer_t pulse; /* interrupts what we sleep in */
	size_t nearly; /* early tasks */
	size_t nheld; /* held ones */
	struct fairness fair;
	pid_t launched; /* 0: none */
	bool launched_ended;
	int launched_status;
	bool leaving; /* detaching everything */
	uint64_t tick_ns; /* when the next tick is due */
	unsigned int urges; /* how often we were asked to stop of late */
	uint64_t urged_ns;
};

/* ptrace(2) without libc's idea of its types; 0 or -1 and errno. */
long ptrace_do(unsigned int request, pid_t tid, uintptr_t addr, uintptr_t data);

/*
 * The same for a task in a stop that would be left in it, or harmed, if this did
 * not work.  False: the task was killed, and its end will be reported.  Dies of
 * other failures, which frees those that we attached to and kills the others.
 */
bool ptrace_must(unsigned int request, pid_t tid, uintptr_t addr, uintptr_t data);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t now_ns(void);

/* The options of PTRACE_SEIZE. */
uintptr_t seize_options(bool launched, bool filtered);

/* engine.c: the task table. */
struct task *task_find(const struct tracer *t, pid_t tid);
struct task *task_add(struct tracer *t, pid_t tid, pid_t pid);

/* Takes a task out of the table and frees it; no hook. */
void task_drop(struct tracer *t, struct task *task);

/* Calls gone() and drops the task. */
void task_gone(struct tracer *t, struct task *task, int status);

/* Asks a task to stop, for no reason of its own. */
void task_ask(struct task *task);

/* stop.c: acts on one report of wait4(2). */
void stop_handle(struct tracer *t, pid_t tid, int status);

/*
 * fair.c: the same, for an end after tracer_heed(), as the task may have sent us
 * something; and then on those that others did not let through, if it is time to.
 */
void wait_rounds_handle(struct tracer *t, pid_t tid, int status);

/* engine.c: acts on the signals that wait for us.  All tasks may be gone after it. */
void tracer_heed(struct tracer *t);

/* engine.c: keeps a task in its stop for so long; false when it may go on now. */
bool task_hold(struct tracer *t, struct task *task, uint64_t ns);

/* Lets a stopped task run on, the way its filter and close_watch ask for. */
void task_resume(struct tracer *t, struct task *task, int sig);

/* birth.c: fork events, their children, and exec's change of identity. */
void birth_event(struct tracer *t, struct task *parent, unsigned int event);

/* A report about a task that nobody has announced yet. */
void birth_early(struct tracer *t, struct task *task, pid_t tid, int status);

/* Gives up waiting for the announcement of tasks that are early for long. */
void birth_adopt(struct tracer *t);

/* The task that now stands for process tid; NULL if it is none of ours. */
struct task *exec_event(struct tracer *t, pid_t tid, pid_t *former);

/* leave.c: the tracer's own signals, and letting go. */
void leave_signal(struct tracer *t, const siginfo_t *info);

/* Asks every task to stop, to be detached there. */
void leave_start(struct tracer *t);

/* Detaches a task that is in a stop, handing sig on. */
void leave_task(struct tracer *t, struct task *task, int sig);

/* Tells of the end of every task that is left, and waits for none. */
void leave_forget(struct tracer *t);

#endif
