// SPDX-License-Identifier: LGPL-2.1-or-later
/* How tasks come to be, and how exec makes one of another. */
#include <errno.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/proc.h"
#include "trace/task.h"

/* How long an unannounced task is held before we take it in as it is. */
static const uint64_t early_limit_ns = 300 * 1000000ULL;

static bool in_group(pid_t pid, pid_t tid)
{
	return !syscall(SYS_tgkill, (long)pid, (long)tid, 0L) || errno != ESRCH;
}

/* kcmp(2): 1 same, 0 different, -1 cannot tell. */
static int same(pid_t a, pid_t b, int type)
{
	long order = syscall(SYS_kcmp, (long)a, (long)b, (long)type, 0L, 0L);

	return order < 0 ? -1 : order == 0;
}

static void announce(struct tracer *t, struct task *task,
		     const struct task *parent, bool vfork)
{
	struct trace_birth b = { .tid = task->tid, .parent = parent->tid };
	bool thread = in_group(parent->pid, task->tid);
	int files = same(parent->tid, task->tid, KCMP_FILES);
	int memory = same(parent->tid, task->tid, KCMP_VM);

	task->pid = thread ? parent->pid : task->tid;
	task->filtered = parent->filtered;
	task->guard = thread ? second_filter_share(parent->guard)
			     : second_filter_inherit(parent->guard, task->tid, parent->tid);
	task->root = parent->root && thread;
	task->arch = parent->arch;
	b.pid = task->pid;
	b.shares_files = files < 0 ? thread : files;
	b.shares_memory = memory < 0 ? thread || vfork : memory;
	t->ops->born(t->ctx, &b);
}

/* An early task has been born: let it run, or bury it. */
static void no_longer_early(struct tracer *t, struct task *task)
{
	task->early = false;
	t->nearly--;
	conceal_lift(task);
	if (task->ended)
		task_gone(t, task, task->status);
	else
		task_resume(t, task, 0);
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
		return; /* taken in by birth_adopt() */
	early = task;
	if (!early)
		task = task_add(t, (pid_t)child, (pid_t)child);
	announce(t, task, parent, event == PTRACE_EVENT_VFORK);
	conceal_pass_on(parent, task);
	if (early)
		no_longer_early(t, task);
}

void birth_early(struct tracer *t, struct task *task, pid_t tid, int status)
{
	if (!task) {
		task = task_add(t, tid, tid);
		task->early = true;
		task->early_ns = now_ns();
		t->nearly++;
	}
	if (!WIFSTOPPED(status)) {
		task->ended = true;
		task->status = status;
	}
}

/* Its maker died before telling: find out what we can. */
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
	uint64_t now = now_ns();
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->tasks, &at))) {
		struct task *task = slot->value;

		if (!task->early || now - task->early_ns < early_limit_ns)
			continue;
		if (task->ended)
			task_drop(t, task); /* perhaps no task of ours at all */
		else
			adopt(t, task);
		at = 0; /* the map has changed */
	}
}

/* A thread that exec has killed: it may have left its exit status. */
static void bury(struct tracer *t, struct task *task)
{
	int status = -1;
	pid_t tid;

	do
		tid = wait4(task->tid, &status, WNOHANG | __WALL, NULL);
	while (tid > 0 && WIFSTOPPED(status));
	if (task->early)
		task_drop(t, task);
	else
		task_gone(t, task, tid > 0 ? status : TRACE_SUPERSEDED);
}

static void bury_threads(struct tracer *t, pid_t pid, const struct task *but)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->tasks, &at))) {
		struct task *task = slot->value;

		if (task == but || task->pid != pid || task->tid == pid)
			continue;
		bury(t, task);
		at = 0;
	}
}

struct task *exec_event(struct tracer *t, pid_t tid, pid_t *former)
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
	bury_threads(t, tid, task);
	if (task == leader)
		return task;

	/* Its number now means another thread: the old one has no status. */
	if (leader)
		task_gone(t, leader, TRACE_SUPERSEDED);
	map_del(&t->tasks, (uint64_t)task->tid);
	task->tid = tid;
	if (task->call)
		task->call->tid = tid;
	map_set(&t->tasks, (uint64_t)tid, task);
	return task;
}
