// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/task.h"

#include <stdlib.h>

#include "core/lib/die.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/stack.h"

struct task *task_add(struct tracer *t, pid_t tid, pid_t pid)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->tid = tid;
	task->pid = pid;
	map_set(&t->tasks, (uint64_t)tid, task);
	return task;
}

void task_interrupt(struct task *task)
{
	task->interrupted = ptrace_must(PTRACE_INTERRUPT, task->tid, 0, 0);
}

void task_drop(struct tracer *t, struct task *task)
{
	map_del(&t->tasks, (uint64_t)task->tid);
	if (task->early)
		t->early_tasks--;
	if (task->delayed_until_ns)
		t->delayed_tasks--;
	if (task->call)
		call_free(task->call);
	free(task->call);
	stack_forget(t, task);
	second_filter_free(task->second_filter);
	free(task);
}

void task_gone(struct tracer *t, struct task *task, int status)
{
	/* The exec of another thread, whose status is negative, does not end the launched program. */
	if (task->tid == t->launched && status >= 0) {
		t->launched_ended = true;
		t->launched_status = status;
	}
	/* The hook may ask which tasks are left. */
	map_del(&t->tasks, (uint64_t)task->tid);
	if (!task->starting)
		t->ops->gone(t->ctx, task->tid, status,
			     task->in_call ? task->call : NULL);
	task_drop(t, task);
}
