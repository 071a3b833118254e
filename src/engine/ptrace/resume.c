// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/resume.h"

#include <stdlib.h>

#include "core/lib/die.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/task.h"

/* Return whether the task is killed and not detached. */
static bool leave_kills(const struct tracer *t, const struct task *task)
{
	return task->filtered || t->opts->kill_on_exit;
}

void leave_kill_filtered(struct tracer *t)
{
	struct task *task;
	size_t at = 0;

	while ((task = task_next(t, &at)))
		if (leave_kills(t, task))
			kill(task->pid, SIGKILL);
}

void leave_task(struct tracer *t, struct task *task, int sig)
{
	if (leave_kills(t, task))
		kill(task->pid, SIGKILL);
	/* The kernel keeps a process in group-stop stopped. */
	else if (ptrace_must(PTRACE_DETACH, task->tid, 0, (uintptr_t)sig))
		task_gone(t, task, TRACE_DETACHED);
}

void leave_start(struct tracer *t)
{
	struct task *task;
	size_t at = 0;

	t->leaving = true;
	leave_kill_filtered(t);
	while ((task = task_next(t, &at)))
		task_interrupt(task);
}

void trace_leave(struct tracer *t)
{
	if (!t->leaving)
		leave_start(t);
}

void leave_forget(struct tracer *t)
{
	struct task *task;
	size_t at;

	while (at = 0, (task = task_next(t, &at))) {
		if (task->early)
			task_drop(t, task);
		else
			task_gone(t, task, TRACE_DETACHED);
	}
}

void trace_recheck(struct tracer *t)
{
	struct task *task;
	size_t at = 0;

	while ((task = task_next(t, &at))) {
		if (task->every_call || task->early || task->starting || !task->filtered ||
		    second_filter_covers(t, task) || !t->ops->close_watch(t->ctx, task->tid))
			continue;
		/* An interrupt would fail the call that it sleeps in: wait for its next stop. */
		if (nr_is_interruptible(&t->nrs, task->arch ? task->arch : arch_native(),
					proc_syscall(task->tid)))
			continue;
		task->every_call = true;
		task_interrupt(task);
	}
}

/*
 * Descriptors are numbered consecutively.  A range for each would need many filters,
 * and too large a range stops calls without need.  So a new range exceeds
 * the sum of the others by a quarter.
 */
void trace_watch_fd(struct tracer *t, int fd)
{
	uint32_t first = (uint32_t)fd, all = 0;

	for (size_t i = 0; i < t->nranges; i++) {
		const struct fd_range *r = &t->ranges[i];

		if (first >= r->first && first <= r->last)
			return;
		all += r->last - r->first + 1;
	}
	t->ranges = xrealloc(t->ranges, (t->nranges + 1) * sizeof(*t->ranges));
	t->ranges[t->nranges++] = (struct fd_range){ first, first + all / 4 };
	t->ranges_grown = true;
}

static unsigned int resume_request(struct tracer *t, struct task *task)
{
	bool before = task->close;

	if (task->starting)
		return PTRACE_CONT;
	if (!task->filtered)
		return PTRACE_SYSCALL;
	task->close = t->ops->close_watch(t->ctx, task->tid) != TRACE_DISTANT;
	if (t->ranges_grown || (task->close && !before)) {
		t->ranges_grown = false;
		task->every_call = true;
		trace_recheck(t);
	}
	task->every_call = (task->close && !second_filter_covers(t, task)) || task->in_call ||
			   task->entered || task->conceal.strict;
	return task->every_call ? PTRACE_SYSCALL : PTRACE_CONT;
}

void resume_task(struct tracer *t, struct task *task, int sig)
{
	if (t->leaving)
		leave_task(t, task, sig);
	else
		ptrace_must(resume_request(t, task), task->tid, 0, (uintptr_t)sig);
}
