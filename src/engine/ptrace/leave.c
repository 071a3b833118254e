// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/leave.h"

#include "engine/ptrace/ptrace.h"
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
