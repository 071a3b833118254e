// SPDX-License-Identifier: LGPL-2.1-or-later
/* Creating a tracer, and the loop that waits for its tasks. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/ptrace/signal_forward.h"
#include "engine/ptrace/task.h"

/*
 * wait4(-1) reports the youngest task that has something to report.  Tasks that stop
 * again at once would keep it from ever reporting others.  So tasks are served in
 * rounds: when enough stops came from tasks that the round has served, the others are
 * waited for one by one.  No wait status is stored: the task could be
 * killed, or exec could change its tid, before the status is used.
 */

enum {
	/* While no task is late, rounds grow to this number of stops per fruitless wait4(). */
	STOPS_PER_CALL = 4,
	/* Limit of fruitless calls per stop, however many tasks sleep. */
	CALLS_PER_STOP = 16,
};

/* Handle signals before the end of a task: it may have sent them.  All tasks may be gone then. */
static void serve_task(struct tracer *t, pid_t tid, int status)
{
	if (!WIFSTOPPED(status))
		own_signals_handle(t);
	if (t->tasks.len)
		stop_handle(t, tid, status);
}

/* Serve the tasks that the round did not. */
static void end_round(struct tracer *t)
{
	struct wait_rounds *w = &t->rounds;
	size_t at = 0, late = 0;
	struct task *task;
	bool any = false;

	if (w->room < t->tasks.len) {
		w->room = t->tasks.len * 2;
		w->late = xrealloc(w->late, w->room * sizeof(*w->late));
	}
	/* tids, not tasks: serving one task may end others */
	while ((task = task_next(t, &at)))
		if (task->round != w->round)
			w->late[late++] = task->tid;
	for (size_t i = 0; i < late && t->tasks.len; i++) {
		int status = 0;

		if (wait4(w->late[i], &status, WNOHANG | __WALL, NULL) <= 0)
			continue;
		any = true;
		serve_task(t, w->late[i], status);
	}
	w->max_repeats = any ? late / CALLS_PER_STOP : w->max_repeats * 2 + 1;
	if (w->max_repeats > late * STOPS_PER_CALL)
		w->max_repeats = late * STOPS_PER_CALL;
	w->repeats = 0;
	w->round++;
}

/* Mark the task as served in this round; return whether it was already. */
static bool mark_served(struct tracer *t, pid_t tid)
{
	struct task *task = task_find(t, tid);
	bool again = task && task->round == t->rounds.round;

	if (task)
		task->round = t->rounds.round;
	return again;
}

enum { BURST = 256 };	/* stops between two checks for signals, delays and ticks */

struct tracer *trace_new(const struct trace_options *opts,
			 const struct trace_ops *ops, void *ctx)
{
	struct tracer *t = xcalloc(1, sizeof(*t));

	t->opts = opts;
	t->ops = ops;
	t->ctx = ctx;
	nr_build(&t->nrs, arch_native());
	/* random numbers may be unavailable early after boot */
	if (getrandom(&t->mark, sizeof(t->mark), GRND_NONBLOCK) != sizeof(t->mark))
		t->mark = FILTER_DATA;
	t->mark |= 0x8000; /* other tracers use small numbers */
	getrlimit(RLIMIT_NOFILE, &t->inherited.nofile);
	own_signals_block(t);
	pulse_start(t);
	return t;
}

static void tick(struct tracer *t)
{
	uint64_t now = clock_ns();
	unsigned int ms;

	if (!t->ops->tick || t->leaving || now < t->tick_ns)
		return;
	ms = t->ops->tick(t->ctx);
	t->tick_ns = now + ms * 1000000ULL;
	if (ms == t->tick_ms)
		return;
	t->tick_ms = ms;
	pulse_set(t);
}

static void wait_for_all(struct tracer *t)
{
	unsigned int stops = 0;

	while (t->tasks.len) {
		int status = 0;
		pid_t tid = wait4(-1, &status, __WALL, NULL);

		if (tid > 0) {
			bool again = mark_served(t, tid);

			serve_task(t, tid, status);
			if (again && t->rounds.repeats++ >= t->rounds.max_repeats) {
				end_round(t);
				mark_served(t, tid); /* its stop counts in the new round */
			}
		} else if (errno == ECHILD) {
			break;
		}
		if (tid > 0 && ++stops % BURST)
			continue;
		own_signals_handle(t);
		delay_resume(t);
		if (t->early_tasks)
			birth_adopt(t);
		stack_rest(t);
		tick(t);
	}
	/* The tasks left are no longer children: another thread waited for them. */
	leave_forget(t);
}

int trace_run(struct tracer *t)
{
	tick(t);
	wait_for_all(t);
	return t->launched_status;
}

void trace_free(struct tracer *t)
{
	if (t->tasks.len) {
		trace_leave(t);
		wait_for_all(t);
	}
	stack_end(t);
	pulse_stop(t);
	own_signals_restore(t);
	map_free(&t->tasks);
	nr_free(&t->nrs);
	filter_free(&t->filter);
	free(t->rounds.late);
	free(t->ranges);
	free(t);
}
