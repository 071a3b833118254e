// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * wait4(-1) reports the youngest task that has something to report.  Tasks that stop
 * again at once would keep it from ever reporting others.  So tasks are served in
 * rounds: when enough stops came from tasks that the round has served, the others are
 * waited for one by one.  No wait status is stored: the task could be
 * killed, or exec could change its tid, before the status is used.
 */
#include "engine/ptrace/wait_rounds.h"

#include <sys/wait.h>

#include "core/lib/die.h"
#include "engine/ptrace/own_signals.h"
#include "engine/ptrace/stop.h"
#include "engine/ptrace/task.h"

enum {
	/* While no task is late, rounds grow to this number of stops per fruitless wait4(). */
	STOPS_PER_CALL = 4,
	/* Limit of fruitless calls per stop, however many tasks sleep. */
	CALLS_PER_STOP = 16,
};

/* Fill rounds.late with tids, not tasks: serving one task may end others. */
static size_t find_late(struct tracer *t)
{
	struct wait_rounds *w = &t->rounds;
	struct task *task;
	size_t at = 0, n = 0;

	if (w->room < t->tasks.len) {
		w->room = t->tasks.len * 2;
		w->late = xrealloc(w->late, w->room * sizeof(*w->late));
	}
	while ((task = task_next(t, &at)))
		if (task->round != w->round)
			w->late[n++] = task->tid;
	return n;
}

/* Handle signals before the end of a task: it may have sent them.  All tasks may be gone then. */
static void serve_task(struct tracer *t, pid_t tid, int status)
{
	if (!WIFSTOPPED(status))
		own_signals_handle(t);
	if (t->tasks.len)
		stop_handle(t, tid, status);
}

static void end_round(struct tracer *t)
{
	struct wait_rounds *w = &t->rounds;
	size_t late = find_late(t);
	bool any = false;

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

void wait_rounds_handle(struct tracer *t, pid_t tid, int status)
{
	bool again = mark_served(t, tid);

	serve_task(t, tid, status);
	if (!again || t->rounds.repeats++ < t->rounds.max_repeats)
		return;
	end_round(t);
	mark_served(t, tid); /* its stop counts in the new round */
}
