// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/birth.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lib/clock.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/resume.h"
#include "engine/ptrace/task.h"

/* How long an early task waits for the event of its parent. */
static const uint64_t early_limit_ns = 300 * 1000000ULL;

static bool in_group(pid_t pid, pid_t tid)
{
	return !syscall(SYS_tgkill, (long)pid, (long)tid, 0L) || errno != ESRCH;
}

/* Return 1 if kcmp(2) finds the resource shared, 0 if not, -1 if it cannot tell. */
static int birth_shares(pid_t a, pid_t b, int type)
{
	long order = syscall(SYS_kcmp, (long)a, (long)b, (long)type, 0L, 0L);

	return order < 0 ? -1 : order == 0;
}

static void announce(struct tracer *t, struct task *task,
		     const struct task *parent, bool vfork)
{
	struct trace_birth b = { .tid = task->tid, .parent = parent->tid };
	bool thread = in_group(parent->pid, task->tid);
	int files = birth_shares(parent->tid, task->tid, KCMP_FILES);
	int memory = birth_shares(parent->tid, task->tid, KCMP_VM);

	task->pid = thread ? parent->pid : task->tid;
	task->filtered = parent->filtered;
	task->second_filter = thread ? second_filter_share(parent->second_filter) :
			      second_filter_inherit(parent->second_filter, task->tid, parent->tid);
	task->root = parent->root && thread;
	task->arch = parent->arch;
	b.pid = task->pid;
	b.shares_files = files < 0 ? thread : files;
	b.shares_memory = memory < 0 ? thread || vfork : memory;
	t->ops->born(t->ctx, &b);
}

/* Resume an early task after its born hook, or report its end. */
static void no_longer_early(struct tracer *t, struct task *task)
{
	task->early = false;
	t->early_tasks--;
	conceal_undo(task);
	if (task->ended)
		task_gone(t, task, task->status);
	else
		resume_task(t, task, 0);
}

void birth_event(struct tracer *t, struct task *parent, unsigned int event)
{
	unsigned long child;
	struct task *task;
	bool early;

	if (ptrace_do(PTRACE_GETEVENTMSG, parent->tid, 0, (uintptr_t)&child))
		return;
	task = task_find(t, (pid_t)child);
	if (task && !task->early)
		return; /* birth_adopt() has added it */
	early = task;
	if (!early)
		task = task_add(t, (pid_t)child, (pid_t)child);
	announce(t, task, parent, event == PTRACE_EVENT_VFORK);
	conceal_fork(parent, task);
	if (early)
		no_longer_early(t, task);
}

void birth_early(struct tracer *t, struct task *task, pid_t tid, int status)
{
	if (!task) {
		task = task_add(t, tid, tid);
		task->early = true;
		task->early_ns = clock_ns();
		t->early_tasks++;
	}
	if (!WIFSTOPPED(status)) {
		task->ended = true;
		task->status = status;
	}
}

/* Call the born hook for a task whose parent was killed before its event. */
static void adopt(struct tracer *t, struct task *task)
{
	struct trace_birth b = { .tid = task->tid };
	struct task *parent;
	bool thread;
	long pid = proc_status(task->tid, "Tgid");

	if (pid < 0)
		pid = task->tid;
	b.pid = task->pid = (pid_t)pid;
	b.shares_files = b.shares_memory = thread = task->pid != task->tid;
	task->filtered =
		t->filter.len && proc_status(task->tid, "Seccomp") == 2;
	parent = task_find(t, thread ? task->pid
				     : (pid_t)proc_status(task->tid, "PPid"));
	if (parent && !parent->early) {
		b.parent = parent->tid;
		task->root = parent->root && thread;
	}
	t->ops->born(t->ctx, &b);
	no_longer_early(t, task);
}

void birth_adopt(struct tracer *t)
{
	uint64_t now = clock_ns();
	struct task *task;
	size_t at = 0;

	while ((task = task_next(t, &at))) {
		if (!task->early || now - task->early_ns < early_limit_ns)
			continue;
		if (task->ended)
			task_drop(t, task); /* perhaps never a tracee */
		else
			adopt(t, task);
		at = 0; /* the map has changed */
	}
}

/* Report the end of a thread that exec killed, with its wait status if it left one. */
static void superseded(struct tracer *t, struct task *task, pid_t by)
{
	int status = -1;
	pid_t tid;

	do
		tid = wait4(task->tid, &status, WNOHANG | __WALL, NULL);
	while (tid > 0 && WIFSTOPPED(status));
	if (task->early)
		task_drop(t, task);
	else
		task_gone(t, task, tid > 0 ? status : trace_superseded(by));
}

static void drop_threads(struct tracer *t, pid_t pid, const struct task *except)
{
	struct task *task;
	size_t at = 0;

	while ((task = task_next(t, &at))) {
		if (task == except || task->pid != pid || task->tid == pid)
			continue;
		superseded(t, task, except->tid);
		at = 0;
	}
}

struct task *birth_exec(struct tracer *t, pid_t tid, pid_t *former)
{
	struct task *leader = task_find(t, tid), *task = leader;
	unsigned long msg;

	if (ptrace_do(PTRACE_GETEVENTMSG, tid, 0, (uintptr_t)&msg))
		msg = (unsigned long)tid; /* killed by now */
	*former = (pid_t)msg;
	if (*former != tid && task_find(t, *former))
		task = task_find(t, *former);
	if (!task || task->early)
		return NULL;
	drop_threads(t, tid, task);
	if (task == leader)
		return task;

	/* The former leader leaves no wait status: its tid is another thread's now. */
	if (leader)
		task_gone(t, leader, trace_superseded(task->tid));
	map_del(&t->tasks, (uint64_t)task->tid);
	task->tid = tid;
	if (task->call)
		task->call->tid = tid;
	map_set(&t->tasks, (uint64_t)tid, task);
	return task;
}
