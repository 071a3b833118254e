// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/delay.h"

#include "core/lib/clock.h"
#include "engine/ptrace/pulse.h"
#include "engine/ptrace/resume.h"
#include "engine/ptrace/task.h"

enum { SLEEP_NS = 2000000 };	/* sleep for shorter delays: the pulse is too slow */

bool delay_task(struct tracer *t, struct task *task, uint64_t ns)
{
	if (!ns || t->leaving)
		return false;
	if (ns < SLEEP_NS) {
		const struct timespec ts = { .tv_nsec = (long)ns };

		nanosleep(&ts, NULL);
		return false;
	}
	task->delayed_until_ns = clock_ns() + ns;
	t->delayed_tasks++;
	pulse_set(t);
	return true;
}

void delay_end_all(struct tracer *t)
{
	struct task *task;
	size_t at = 0;

	while (t->delayed_tasks && (task = task_next(t, &at)))
		if (task->delayed_until_ns)
			task->delayed_until_ns = 1;
}

/* Return a task whose delay is over, or NULL. */
static struct task *delay_find_over(const struct tracer *t)
{
	uint64_t now = clock_ns();
	struct task *task;
	size_t at = 0;

	while ((task = task_next(t, &at)))
		if (task->delayed_until_ns && (t->leaving || task->delayed_until_ns <= now))
			return task;
	return NULL;
}

void delay_resume(struct tracer *t)
{
	struct task *task;

	if (!t->delayed_tasks)
		return;
	while (t->delayed_tasks && (task = delay_find_over(t))) {
		task->delayed_until_ns = 0;
		t->delayed_tasks--;
		if (task->in_call)
			task->call->start_ns = clock_ns();
		resume_task(t, task, 0);
	}
	if (!t->delayed_tasks)
		pulse_set(t);
}
