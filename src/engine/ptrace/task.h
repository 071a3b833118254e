/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the tracer and of its tracees.  Private to this directory. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "core/abi/call.h"
#include "core/lib/map.h"
#include "engine/ptrace/conceal.h"
#include "engine/ptrace/filter.h"
#include "engine/ptrace/nr.h"
#include "engine/ptrace/signal_forward.h"
#include "engine/ptrace/trace.h"

/*
 * A traced thread.  The kernel may report its first stop before the
 * PTRACE_EVENT_FORK, VFORK or CLONE stop of its parent: until that comes, the task is
 * "early" and stays in its stop.
 */
struct task {
	pid_t tid, pid;
	const struct arch *arch;	/* of the last call seen, or NULL */
	struct call *call;		/* reused by every call; NULL at first */
	struct second_filter *second_filter;	/* of the process; NULL without a filter */
	struct conceal conceal;
	pid_t walked;			/* its number in the stack walker; 0: none yet */
	uint64_t delayed_until_ns;	/* stays in its stop until then; 0: not delayed */
	uint64_t early_ns;		/* when an early task was first reported */
	uint64_t round;			/* the last that served it: see engine.c */
	int status;			/* wait status of an early task that has ended */
	bool in_call;			/* the enter hook returned TRACE_EXIT */
	bool entered;			/* was in a syscall-enter-stop: the exit stops too */
	bool filtered;			/* has the first seccomp filter */
	bool close;			/* the last close_watch() was not TRACE_DISTANT */
	bool every_call;		/* stops at every call, or is interrupted to start that */
	bool interrupted;		/* by task_interrupt() */
	bool root;			/* in a process that was launched or attached to */
	bool starting;			/* launched, before its exec */
	bool early;
	bool ended;			/* early, and has ended */
	bool group_stopped;		/* in a group-stop, under PTRACE_LISTEN */
	bool unwalkable;		/* the stack walker failed on its program */
};

/* Rounds of waiting: see engine.c. */
struct wait_rounds {
	uint64_t round;
	size_t repeats;		/* stops in this round of tasks that it had served before */
	size_t max_repeats;	/* the number that ends the round */
	pid_t *late;		/* buffer for the tasks that the round did not serve */
	size_t room;
};

/* What pevtrace inherited, and a launched program is to inherit. */
struct inherited {
	sigset_t mask;
	sigset_t ignored;
	struct rlimit nofile;
	struct sigaction pulse;	/* action of the signal that pulse_start() uses */
};

struct tracer {
	const struct trace_options *opts;
	const struct trace_ops *ops;
	void *ctx;
	struct map tasks;	/* tid -> struct task */
	struct nr_tables nrs;
	uint16_t mark;		/* SECCOMP_RET_DATA of the filters */
	struct filter filter;	/* the first filter */
	struct stacks *stacks;	/* see stack.c; NULL before the first stack */
	struct fd_range *ranges; /* for the second filter; see trace_watch_fd() */
	size_t nranges;
	bool ranges_grown;	/* since a task was last resumed */
	struct inherited inherited;
	sigset_t fetched;	/* blocked signals that own_signals_handle() fetches */
	sigset_t stop_signals;	/* those of them that stop pevtrace with its job */
	struct signal_count signals[FORWARD_SIGNALS];
	timer_t pulse;		/* interrupts wait4() */
	size_t early_tasks, delayed_tasks;
	struct wait_rounds rounds;
	pid_t launched;		/* 0: none */
	bool launched_ended;
	int launched_status;
	bool leaving;		/* detaching from all tasks */
	uint64_t tick_ns;	/* when the next tick is due */
	unsigned int tick_ms;	/* between two ticks; 0: none yet */
	unsigned int end_requests; /* signals such as SIGINT in quick succession */
	uint64_t end_request_ns;
};

/* Return the task, or NULL. */
static inline struct task *task_find(const struct tracer *t, pid_t tid)
{
	return map_get(&t->tasks, (uint64_t)tid);
}

/* Return the next task, or NULL; *at is 0 at first.  Tasks must not change between calls. */
static inline struct task *task_next(const struct tracer *t, size_t *at)
{
	struct map_slot *slot = map_next(&t->tasks, at);

	return slot ? slot->value : NULL;
}

struct task *task_add(struct tracer *t, pid_t tid, pid_t pid);

/* Take a task out of the table and free it, without a hook. */
void task_drop(struct tracer *t, struct task *task);

/* Call the gone hook, unless none was called for its birth, and drop the task. */
void task_gone(struct tracer *t, struct task *task, int status);

/* Make a running task enter a PTRACE_EVENT_STOP. */
void task_interrupt(struct task *task);

/* Detach from a task in a ptrace stop and deliver sig to it; kill it if it has a filter. */
void leave_task(struct tracer *t, struct task *task, int sig);

/* Kill the tasks that have a filter; with kill_on_exit, all. */
void leave_kill_filtered(struct tracer *t);

/* Call the gone hook for all tasks that are left, without waiting for any. */
void leave_forget(struct tracer *t);

/*
 * Resume a task in a ptrace stop and deliver sig to it: with PTRACE_SYSCALL or
 * PTRACE_CONT, as its filters and close_watch() require.  Detach from it while leaving.
 */
void resume_task(struct tracer *t, struct task *task, int sig);

void pulse_start(struct tracer *t);
void pulse_stop(struct tracer *t);

/* Set the period: 1 ms while tasks are delayed, otherwise 100 ms or a tick if that is shorter. */
void pulse_set(const struct tracer *t);

/* Delays that -e inject= asks for: the task stays in its stop while others run. */

/* Keep a task in its stop for ns; return false if it may be resumed at once. */
bool delay_task(struct tracer *t, struct task *task, uint64_t ns);

/* Resume the tasks whose delay is over; all of them while leaving. */
void delay_resume(struct tracer *t);

/* Make all delays end now. */
void delay_end_all(struct tracer *t);

/* Call the born hook for early tasks older than 300 ms: their parents were killed. */
void birth_adopt(struct tracer *t);

/* Act on a wait status: call the hooks and resume the task, or drop it. */
void stop_handle(struct tracer *t, pid_t tid, int status);

/* Discard what the process that walks stacks caches about a task that exits or executes a program. */
void stack_forget(struct tracer *t, struct task *task);

/* End that process; stack_rest: only if it has been idle for a while. */
void stack_end(struct tracer *t);
void stack_rest(struct tracer *t);

/* Return whether wait4() has just reported the end of that process, and note that it ended. */
bool stack_is_walker(struct tracer *t, pid_t tid);
