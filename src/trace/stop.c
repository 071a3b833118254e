// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a stop means, and how the task goes on from it. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/die.h"
#include "trace/inject.h"
#include "trace/proc.h"
#include "trace/remote.h"
#include "trace/stack.h"
#include "trace/task.h"

/*
 * ESRCH from any request means that the task was killed in its stop: its end
 * will be reported.  So the results of most requests need no look.
 */

/*
 * A process that begins to hold something of perf may have other threads
 * that run past the calls we now want to see: stop those once.  One that
 * sleeps in a call which a stop would make fail is left alone: we see it from
 * its next stop on, and the target does not see us.
 */
static void nudge_others(struct tracer *t)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->tasks, &at))) {
		struct task *task = slot->value;

		if (task->every || task->early || task->starting || !task->filtered ||
		    second_filter_covers(t, task) || !t->ops->close_watch(t->ctx, task->tid))
			continue;
		if (nr_is_fragile(&t->nrs, task->arch ? task->arch : arch_native(),
				  proc_syscall(task->tid)))
			continue;
		task->every = true;
		task_ask(task);
	}
}

void trace_recheck(struct tracer *t)
{
	nudge_others(t);
}

/*
 * Descriptors come in runs.  A range for each would make many filters, and one
 * that reaches too far makes calls stop that need not: a quarter more than
 * there are.
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
	t->grown = true;
}

static unsigned int how_to_go_on(struct tracer *t, struct task *task)
{
	bool before = task->close;

	if (task->starting)
		return PTRACE_CONT;
	if (!task->filtered)
		return PTRACE_SYSCALL;
	task->close = t->ops->close_watch(t->ctx, task->tid) != TRACE_DISTANT;
	if (t->grown || (task->close && !before)) {
		t->grown = false;
		task->every = true;
		nudge_others(t);
	}
	task->every = (task->close && !second_filter_covers(t, task)) || task->in_call ||
		      task->entered || task->veil.strict;
	return task->every ? PTRACE_SYSCALL : PTRACE_CONT;
}

void task_resume(struct tracer *t, struct task *task, int sig)
{
	if (t->leaving) {
		leave_task(t, task, sig);
		return;
	}
	ptrace_must(how_to_go_on(t, task), task->tid, 0, (uintptr_t)sig);
}

/* i386 has calls that take a pointer to their arguments. */
static void fetch_args(struct call *call)
{
	unsigned int n = call->desc->id == CALL_MMAP	 ? 6
			 : call->desc->id == CALL_SELECT ? 5
							 : 0;
	uint32_t words[CALL_MAX_ARGS] = { 0 };

	if (!call->arch->old_mmap || !n)
		return;
	remote_read_warily(call->tid, call->args[0], words, n * sizeof(*words));
	for (unsigned int i = 0; i < n; i++)
		call->args[i] = words[i];
}

/* Is this a call to report?  Then the task's call describes it. */
static bool describe(struct tracer *t, struct task *task, uint32_t audit,
		     uint64_t nr, const uint64_t *args)
{
	const struct arch *arch = arch_find(audit, nr);
	const struct call_desc *desc;
	struct call *call;

	task->arch = arch;
	desc = arch ? nr_find(&t->nrs, arch, nr) : NULL;
	if (!desc || t->opts->unwanted[desc->id])
		return false;
	if (!task->call)
		task->call = xcalloc(1, sizeof(*task->call));
	call = task->call;
	call_reset(call);
	call->desc = desc;
	call->arch = arch;
	call->nr = nr;
	call->tid = task->tid;
	call->pid = task->pid;
	call->enter_ns = now_ns();
	for (unsigned int i = 0; i < CALL_MAX_ARGS; i++)
		call->args[i] = args[i];
	fetch_args(call);
	/* Judged here too, so that all ways of stopping show the same calls. */
	return filter_matches(t->opts, call) ||
	       t->ops->close_watch(t->ctx, task->tid);
}

/* False when the task is to stay in its stop. */
static bool enter(struct tracer *t, struct task *task, const struct ptrace_syscall_info *info)
{
	struct remote remote = remote_of(task->tid);

	task->in_call = false;
	/* entry and seccomp: number and arguments are in the same place */
	if (!task->starting && !t->leaving &&
	    describe(t, task, info->arch, info->entry.nr, (const uint64_t *)info->entry.args))
		task->in_call = t->ops->enter(t->ctx, task->call,
					      &remote.mem) == TRACE_EXIT;
	if (task->filtered && !task->starting && conceal_enter(t, task, info))
		task->entered = true; /* the exit is to stop */
	if (!task->in_call)
		return true;
	inject_begin(task->call);
	task->call->start_ns = now_ns();
	return !task_hold(t, task, task->call->inject.enter_delay_ns);
}

/* False when the task is not ours to let go on. */
static bool leave_call(struct tracer *t, struct task *task, int64_t rval,
		       bool is_error)
{
	struct remote remote = remote_of(task->tid);
	struct call *call = task->call;

	task->entered = false;
	conceal_lift(task);
	if (!task->in_call)
		return true;
	task->in_call = false;
	call->exit_ns = now_ns();
	call->returned = true;
	call->failed = is_error;
	call->ret = is_error ? -rval : rval;
	t->ops->exit(t->ctx, call, &remote.mem);
	return (t->leaving || second_filter_extend(t, task)) &&
	       !task_hold(t, task, call->inject.exit_delay_ns);
}

/*
 * Under PTRACE_SYSCALL a call may stop at its entry and then once more for
 * the filter.  We go on from every entry by PTRACE_SYSCALL, so an exit stop
 * will end the pair and "entered" tells the second stop from a first.
 */
static void syscall_stop(struct tracer *t, struct task *task)
{
	struct ptrace_syscall_info info = { .op = PTRACE_SYSCALL_INFO_NONE };
	bool goes_on = true;

	if (ptrace_do(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info),
		      (uintptr_t)&info) < 0 &&
	    errno != ESRCH)
		die("cannot see what task %d does: PTRACE_GET_SYSCALL_INFO: %s%s",
		    (int)task->tid, strerror(errno),
		    errno == EIO ? "; tracing needs Linux 5.3 or later" : "");
	switch (info.op) {
	case PTRACE_SYSCALL_INFO_ENTRY:
		task->entered = true;
		goes_on = enter(t, task, &info);
		break;
	case PTRACE_SYSCALL_INFO_SECCOMP:
		if (!task->entered)
			goes_on = enter(t, task, &info);
		conceal_refuse(t, task, &info);
		break;
	case PTRACE_SYSCALL_INFO_EXIT:
		/* let go of inside the call: it has not returned */
		if (t->leaving && conceal_restart(t, task, info.arch))
			break;
		goes_on = leave_call(t, task, info.exit.rval, info.exit.is_error);
		break;
	}
	if (goes_on)
		task_resume(t, task, 0);
}

static void signal_stop(struct tracer *t, struct task *task, int sig)
{
	siginfo_t info;

	if (!task->starting &&
	    !ptrace_do(PTRACE_GETSIGINFO, task->tid, 0, (uintptr_t)&info)) {
		signal_forward_saw(t, task, &info);
		t->ops->signalled(t->ctx, task->tid, &info);
	}
	task_resume(t, task, sig);
}

/* A new task, one that we interrupted, or a change of job control. */
static void trap_stop(struct tracer *t, struct task *task, int sig)
{
	struct ptrace_syscall_info info;

	if (sig == SIGTRAP && task->asked &&
	    ptrace_do(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), (uintptr_t)&info) > 0)
		conceal_restart(t, task, info.arch);
	task->asked = false;
	conceal_lift(task); /* of a new task */
	if (sig == SIGTRAP || t->leaving) {
		task_resume(t, task, 0);
		return;
	}
	task->listening = ptrace_must(PTRACE_LISTEN, task->tid, 0, 0);
	if (task->pid == t->launched)
		signal_forward_halt(t);
}

static void exec_stop(struct tracer *t, pid_t tid)
{
	pid_t former;
	struct task *task = exec_event(t, tid, &former);
	struct trace_birth birth = { .tid = tid, .pid = tid };

	if (!task)
		return;
	stack_forget(t, task);
	if (task->starting) {
		task->starting = false;
		t->ops->born(t->ctx, &birth);
	} else {
		t->ops->execed(t->ctx, tid, former);
		if (t->opts->detach_on_exec && !task->root) {
			leave_task(t, task, 0);
			return;
		}
	}
	task_resume(t, task, 0);
}

static void stopped(struct tracer *t, struct task *task, int status)
{
	int sig = WSTOPSIG(status);
	unsigned int event = (unsigned int)status >> 16;

	task->listening = false;
	switch (event) {
	case 0:
		if (sig == (SIGTRAP | 0x80))
			syscall_stop(t, task);
		else
			signal_stop(t, task, sig);
		break;
	case PTRACE_EVENT_SECCOMP:
		syscall_stop(t, task);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		birth_event(t, task, event);
		task_resume(t, task, 0);
		break;
	case PTRACE_EVENT_STOP:
		trap_stop(t, task, sig);
		break;
	default:
		task_resume(t, task, 0);
	}
}

void stop_handle(struct tracer *t, pid_t tid, int status)
{
	struct task *task = task_find(t, tid);

	if (WIFSTOPPED(status) &&
	    (unsigned int)status >> 16 == PTRACE_EVENT_EXEC)
		exec_stop(t, tid);
	else if (!task && stack_is_walker(t, tid))
		return;
	else if (!task || task->early)
		birth_early(t, task, tid, status);
	else if (WIFSTOPPED(status))
		stopped(t, task, status);
	else
		task_gone(t, task, status);
}
