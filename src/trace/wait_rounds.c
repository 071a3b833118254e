// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * wait4() finds the youngest task that has something to report, and where some
 * stop again at once, it never comes to the others.  So tasks are served in
 * rounds: when those that had their turn come back, the others are asked one by
 * one.  Nothing is collected in advance: a report that waits here could be of a
 * task that has been killed or has become another by exec.
 */
#include <sys/wait.h>

#include "lib/die.h"
#include "trace/task.h"

/*
 * As long as nobody is late, we look less and less often: in the end, with one
 * call that finds nothing for so many stops.
 */
enum { STOPS_A_CALL = 4 };

/* However many tasks sleep: a stop costs no more than so many calls that find nothing. */
enum { CALLS_A_STOP = 16 };

/* Serving one can end others, so they are noted by number. */
static size_t find_late(struct tracer *t)
{
	struct fairness *fair = &t->fair;
	struct map_slot *slot;
	size_t at = 0, n = 0;

	if (fair->room < t->tasks.len) {
		fair->room = t->tasks.len * 2;
		fair->late = xrealloc(fair->late, fair->room * sizeof(*fair->late));
	}
	while ((slot = map_next(&t->tasks, &at))) {
		const struct task *task = slot->value;

		if (task->round != fair->round)
			fair->late[n++] = task->tid;
	}
	return n;
}

/* Before a task's end comes what it may have sent us; all may be gone after that. */
static void serve(struct tracer *t, pid_t tid, int status)
{
	if (!WIFSTOPPED(status))
		tracer_heed(t);
	if (t->tasks.len)
		stop_handle(t, tid, status);
}

static void end_round(struct tracer *t)
{
	struct fairness *fair = &t->fair;
	size_t late = find_late(t);
	bool any = false;

	for (size_t i = 0; i < late && t->tasks.len; i++) {
		int status = 0;

		if (wait4(fair->late[i], &status, WNOHANG | __WALL, NULL) <= 0)
			continue;
		any = true;
		serve(t, fair->late[i], status);
	}
	fair->patience = any ? late / CALLS_A_STOP : fair->patience * 2 + 1;
	if (fair->patience > late * STOPS_A_CALL)
		fair->patience = late * STOPS_A_CALL;
	fair->again = 0;
	fair->round++;
}

/* In the round that is now; was it served in that before? */
static bool count_in(struct tracer *t, pid_t tid)
{
	struct task *task = task_find(t, tid);
	bool again = task && task->round == t->fair.round;

	if (task)
		task->round = t->fair.round;
	return again;
}

void wait_rounds_handle(struct tracer *t, pid_t tid, int status)
{
	bool again = count_in(t, tid);

	serve(t, tid, status);
	if (!again || t->fair.again++ < t->fair.patience)
		return;
	end_round(t);
	count_in(t, tid); /* this stop was one too many in the last */
}
