// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/task.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/abi/ioctl.h"
#include "core/abi/layout.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/ptrace/conceal.h"
#include "engine/ptrace/filter.h"
#include "engine/ptrace/proc.h"

/* How long an early task waits for the event of its parent. */
static const uint64_t early_limit_ns = 300 * 1000000ULL;

/* Return 1 if kcmp(2) finds the resource shared, 0 if not, -1 if it cannot tell. */
static int birth_shares(pid_t a, pid_t b, int type)
{
	long order = syscall(SYS_kcmp, (long)a, (long)b, (long)type, 0L, 0L);

	return order < 0 ? -1 : order == 0;
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

/* Add the child of a PTRACE_EVENT_FORK, VFORK or CLONE stop and call the born hook. */
static void birth_event(struct tracer *t, struct task *parent, unsigned int event)
{
	struct trace_birth b = { .parent = parent->tid };
	int files, memory;
	unsigned long child;
	struct task *task;
	bool early, thread;

	if (ptrace_do(PTRACE_GETEVENTMSG, parent->tid, 0, (uintptr_t)&child))
		return;
	task = task_find(t, (pid_t)child);
	if (task && !task->early)
		return; /* birth_adopt() has added it */
	early = task;
	if (!early)
		task = task_add(t, (pid_t)child, (pid_t)child);
	thread = !syscall(SYS_tgkill, (long)parent->pid, (long)task->tid, 0L) || errno != ESRCH;
	files = birth_shares(parent->tid, task->tid, KCMP_FILES);
	memory = birth_shares(parent->tid, task->tid, KCMP_VM);
	task->pid = thread ? parent->pid : task->tid;
	task->filtered = parent->filtered;
	task->second_filter = thread ? second_filter_share(parent->second_filter) :
			      second_filter_inherit(parent->second_filter, task->tid, parent->tid);
	task->root = parent->root && thread;
	task->arch = parent->arch;
	b.tid = task->tid;
	b.pid = task->pid;
	b.shares_files = files < 0 ? thread : files;
	b.shares_memory = memory < 0 ? thread || event == PTRACE_EVENT_VFORK : memory;
	t->ops->born(t->ctx, &b);
	conceal_fork(parent, task);
	if (early)
		no_longer_early(t, task);
}

void birth_adopt(struct tracer *t)
{
	uint64_t now = clock_ns();
	struct task *task, *parent;
	size_t at = 0;

	while ((task = task_next(t, &at))) {
		struct trace_birth b = { .tid = task->tid };
		bool thread;
		long pid;

		if (!task->early || now - task->early_ns < early_limit_ns)
			continue;
		at = 0; /* the map changes */
		if (task->ended) {
			task_drop(t, task); /* perhaps never a tracee */
			continue;
		}
		pid = proc_status(task->tid, "Tgid");
		b.pid = task->pid = pid < 0 ? task->tid : (pid_t)pid;
		b.shares_files = b.shares_memory = thread = task->pid != task->tid;
		task->filtered = t->filter.len && proc_status(task->tid, "Seccomp") == 2;
		parent = task_find(t, thread ? task->pid : (pid_t)proc_status(task->tid, "PPid"));
		if (parent && !parent->early) {
			b.parent = parent->tid;
			task->root = parent->root && thread;
		}
		t->ops->born(t->ctx, &b);
		no_longer_early(t, task);
	}
}

/* Report the ends of the other threads, which exec killed, with the statuses that they left. */
static void drop_threads(struct tracer *t, pid_t pid, const struct task *except)
{
	struct task *task;
	size_t at = 0;

	while ((task = task_next(t, &at))) {
		int status = -1;
		pid_t tid;

		if (task == except || task->pid != pid || task->tid == pid)
			continue;
		do
			tid = wait4(task->tid, &status, WNOHANG | __WALL, NULL);
		while (tid > 0 && WIFSTOPPED(status));
		task_gone(t, task, tid > 0 ? status : trace_superseded(except->tid));
		at = 0;
	}
}

/*
 * Most results are not checked: a request fails with ESRCH if the task was killed in its
 * stop, and wait4(2) then reports its end.
 */

/* Bring the arguments into the usual order: some calls pass a pointer to them, or swap them. */
static void arrange_args(struct call *call)
{
	const struct arch *arch = call->arch;
	unsigned int n = call->desc->id == CALL_MMAP && arch->old_mmap ? 6 :
			 call->desc->id == CALL_SELECT && arch->old_select ? 5 : 0;
	uint8_t words[CALL_MAX_ARGS * sizeof(uint64_t)] = { 0 };
	uint64_t flags = call->args[1];

	if (call->desc->id == CALL_CLONE && arch->clone_stack_first) {
		call->args[1] = call->args[0];
		call->args[0] = flags;
	}
	if (call->desc->id == CALL_IOCTL && arch->ioctl_3bits)
		call->args[1] = ioctl_generic(arch, (uint32_t)call->args[1]);
	if (!n)
		return;
	remote_read_timeout(call->tid, call->args[0], words, (size_t)n * arch->word);
	for (unsigned int i = 0; i < n; i++)
		call->args[i] = load_uint(words + i * arch->word, arch->word);
}

/* Describe the call in task->call; return whether it is one to report. */
static bool describe_call(struct tracer *t, struct task *task, uint32_t audit, uint64_t nr,
			  const uint64_t *args)
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
	call->enter_ns = clock_ns();
	for (unsigned int i = 0; i < CALL_MAX_ARGS; i++)
		call->args[i] = args[i];
	arrange_args(call);
	/* the task may have stopped for another reason than the filter */
	return filter_matches(t->opts, call) ||
	       t->ops->close_watch(t->ctx, task->tid);
}

/* Return false if the task must stay in its stop. */
static bool enter_call(struct tracer *t, struct task *task, const struct ptrace_syscall_info *info)
{
	struct remote remote = remote_of(task->tid);

	task->in_call = false;
	/* info->seccomp has the number and the arguments at the same offsets */
	if (!task->starting && !t->leaving &&
	    describe_call(t, task, info->arch, info->entry.nr, (const uint64_t *)info->entry.args)) {
		task->call->ip = info->instruction_pointer;
		task->in_call = t->ops->enter(t->ctx, task->call,
					      &remote.mem) == TRACE_EXIT;
	}
	if (task->filtered && !task->starting && conceal_enter(t, task, info))
		task->entered = true;
	if (!task->in_call)
		return true;
	inject_enter(task);
	task->call->start_ns = clock_ns();
	return !delay_task(t, task, task->call->inject.enter_delay_ns);
}

/* Return false if the task must stay in its stop, or has ended. */
static bool exit_call(struct tracer *t, struct task *task, int64_t rval, bool is_error)
{
	struct remote remote = remote_of(task->tid);
	struct call *call = task->call;

	task->entered = false;
	conceal_undo(task);
	if (!task->in_call)
		return true;
	task->in_call = false;
	call->exit_ns = clock_ns();
	call->returned = true;
	call->failed = is_error;
	call->ret = is_error ? -rval : rval;
	/* a filter of the program may have returned 0: ours stopped no call, or does not stop reads */
	call->answered = !rval && !call->genuine && !call->inject.injected &&
			 second_filter_is_hidden(task) &&
			 (call->desc->class == CLASS_READ || filter_matches(t->opts, call));
	t->ops->exit(t->ctx, call, &remote.mem);
	return (t->leaving || second_filter_extend(t, task)) &&
	       !delay_task(t, task, call->inject.exit_delay_ns);
}

/*
 * Under PTRACE_SYSCALL a call may have a syscall-enter-stop and then a seccomp stop.
 * Every syscall-enter-stop is resumed by PTRACE_SYSCALL, so that a syscall-exit-stop
 * follows: until then, task->entered tells the second stop from the first.
 */
static void syscall_stop(struct tracer *t, struct task *task)
{
	struct ptrace_syscall_info info;
	bool goes_on = true;

	ptrace_syscall_info(task->tid, &info);
	switch (info.op) {
	case PTRACE_SYSCALL_INFO_ENTRY:
		task->entered = true;
		goes_on = enter_call(t, task, &info);
		break;
	case PTRACE_SYSCALL_INFO_SECCOMP:
		if (!task->entered)
			goes_on = enter_call(t, task, &info);
		conceal_refuse(t, task, &info);
		/* where a filter of the program answers a call itself, ours does not stop it */
		if (task->in_call)
			task->call->genuine = info.seccomp.ret_data == t->mark;
		break;
	case PTRACE_SYSCALL_INFO_EXIT:
		/* a call that is restarted has not returned */
		if (t->leaving && conceal_restart(t, task, info.arch))
			break;
		goes_on = exit_call(t, task, info.exit.rval, info.exit.is_error);
		break;
	}
	if (goes_on)
		resume_task(t, task, 0);
}

/* PTRACE_EVENT_STOP: a new or interrupted task, or a group-stop. */
static void event_stop(struct tracer *t, struct task *task, int sig)
{
	struct ptrace_syscall_info info;

	if (sig == SIGTRAP && task->interrupted &&
	    ptrace_do(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), (uintptr_t)&info) > 0)
		conceal_restart(t, task, info.arch);
	task->interrupted = false;
	conceal_undo(task); /* in a new child */
	if (sig == SIGTRAP || t->leaving) {
		resume_task(t, task, 0);
		return;
	}
	task->group_stopped = ptrace_must(PTRACE_LISTEN, task->tid, 0, 0);
	if (task->pid == t->launched)
		signal_forward_group_stop(t);
}

static void handle_stop(struct tracer *t, struct task *task, int status)
{
	int sig = WSTOPSIG(status);
	unsigned int event = (unsigned int)status >> 16;
	siginfo_t info;

	task->group_stopped = false;
	switch (event) {
	case 0:
		if (sig == (SIGTRAP | 0x80)) {
			syscall_stop(t, task);
			break;
		}
		if (!task->starting &&
		    !ptrace_do(PTRACE_GETSIGINFO, task->tid, 0, (uintptr_t)&info)) {
			signal_forward_note(t, task, &info);
			t->ops->signalled(t->ctx, task->tid, &info);
		}
		resume_task(t, task, sig);
		break;
	case PTRACE_EVENT_SECCOMP:
		syscall_stop(t, task);
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		birth_event(t, task, event);
		resume_task(t, task, 0);
		break;
	case PTRACE_EVENT_STOP:
		event_stop(t, task, sig);
		break;
	default:
		resume_task(t, task, 0);
	}
}

/* PTRACE_EVENT_EXEC: the other threads are gone, and another task may have this tid. */
static void exec_stop(struct tracer *t, pid_t tid)
{
	struct trace_exec exec = { .tid = tid, .comm = "", .path = "" };
	struct task *leader = task_find(t, tid), *task = leader;
	unsigned long former;

	if (ptrace_do(PTRACE_GETEVENTMSG, tid, 0, (uintptr_t)&former))
		former = (unsigned long)tid; /* killed by now */
	exec.former = (pid_t)former;
	if (exec.former != tid && task_find(t, exec.former))
		task = task_find(t, exec.former);
	if (!task || task->early)
		return;
	drop_threads(t, tid, task);
	if (task != leader) {
		/* The former leader leaves no wait status: its tid is another thread's now. */
		if (leader)
			task_gone(t, leader, trace_superseded(task->tid));
		map_del(&t->tasks, (uint64_t)task->tid);
		task->tid = tid;
		if (task->call)
			task->call->tid = tid;
		map_set(&t->tasks, (uint64_t)tid, task);
	}
	stack_forget(t, task);
	if (task->starting) {
		task->starting = false;
		t->ops->born(t->ctx, &(struct trace_birth){ .tid = tid, .pid = tid });
	} else {
		t->ops->execed(t->ctx, &exec);
		if (t->opts->detach_on_exec && !task->root) {
			leave_task(t, task, 0);
			return;
		}
	}
	resume_task(t, task, 0);
}

void stop_handle(struct tracer *t, pid_t tid, int status)
{
	struct task *task = task_find(t, tid);

	if (WIFSTOPPED(status) && (unsigned int)status >> 16 == PTRACE_EVENT_EXEC) {
		exec_stop(t, tid);
	} else if (task && !task->early) {
		if (WIFSTOPPED(status))
			handle_stop(t, task, status);
		else
			task_gone(t, task, status);
	} else if (task || !stack_is_walker(t, tid)) {
		/* an early task remains in its stop */
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
}
