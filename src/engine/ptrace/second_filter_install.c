// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "engine/ptrace/proc.h"
#include "engine/ptrace/regs.h"
#include "engine/ptrace/task.h"

/*
 * System calls that a tracee makes for the tracer, which leave its registers, memory, signal mask
 * and pending signals unchanged.
 *
 * The task has just executed a syscall instruction: set it back to that, with other
 * registers.  Signals are blocked, except SIGSTOP, which cannot be and is delivered at
 * once: a SIGSTOP sent again later could follow the SIGCONT that was to end it.  The calls
 * are made nevertheless, and the task is in group-stop afterwards if the stop lasts.
 */
struct remote_call {
	pid_t tid;
	bool gone;	/* the task ended: make no more requests */
	bool ended;	/* gone, and status is its wait status */
	int status;
	bool interrupted; /* by another ptrace stop */
	siginfo_t stop;	/* the last SIGSTOP delivered meanwhile; si_signo 0: none */
	uint64_t mask;	/* the task's signal mask */
	struct regs regs;
};

/*
 * Prepare a task in the syscall-exit-stop of a native call that succeeded and did not
 * replace the signal mask (as ppoll does).  Return false, with nothing changed, if
 * that is not possible.
 */
static bool remote_call_begin(struct remote_call *r, pid_t tid)
{
	const uint64_t all = ~0ULL;

	*r = (struct remote_call){ .tid = tid };
	return regs_get(tid, &r->regs) && regs_behind_call(tid, &r->regs) &&
	       !ptrace_do(PTRACE_GETSIGMASK, tid, sizeof(r->mask), (uintptr_t)&r->mask) &&
	       !ptrace_do(PTRACE_SETSIGMASK, tid, sizeof(all), (uintptr_t)&all);
}

/* Run the task to the syscall-exit-stop of the call that is set in its registers. */
static bool run_to_exit(struct remote_call *r)
{
	struct ptrace_syscall_info info;
	int sig = 0;
	pid_t got;

	for (;;) {
		ptrace_must(PTRACE_SYSCALL, r->tid, 0, (uintptr_t)sig);
		sig = 0;
		/*
		 * The pulse interrupts wait4() regularly.  Do not wait for a zombie: a thread
		 * killed by another one's exec remains one until others are waited for.
		 */
		do
			got = wait4(r->tid, &r->status, __WALL, NULL);
		while (got < 0 && errno == EINTR && !proc_is_zombie(r->tid));
		r->gone = got != r->tid || !WIFSTOPPED(r->status);
		r->ended = r->gone && got == r->tid;
		if (r->gone)
			return false;
		if (r->status >> 16 == PTRACE_EVENT_SECCOMP)
			continue;
		if (WSTOPSIG(r->status) == (SIGTRAP | 0x80)) {
			ptrace_syscall_info(r->tid, &info);
			if (info.op == PTRACE_SYSCALL_INFO_EXIT)
				return true;
			continue;
		}
		/* a stop that is not part of the call */
		r->interrupted = true;
		if (r->status >> 16)
			continue;
		ptrace_do(PTRACE_GETSIGINFO, r->tid, 0, (uintptr_t)&r->stop);
		sig = WSTOPSIG(r->status);
	}
}

/*
 * Make one call, which must not sleep, and store what the kernel returned, a negative
 * errno for a failure.  Return false if the task was killed.
 */
static bool remote_call(struct remote_call *r, long nr, const uint64_t args[6], int64_t *ret)
{
	struct regs regs;

	if (!regs_make_call(r->tid, &r->regs, nr, args) || !run_to_exit(r) ||
	    !regs_get(r->tid, &regs))
		return false;
	*ret = regs_result(&regs);
	return true;
}

static bool copy_out(pid_t tid, uint64_t addr, const void *data, size_t len)
{
	struct iovec local = { (void *)data, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };

	return process_vm_writev(tid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

/* Where only mmap2 exists, its offset of 0 is the same. */
#ifdef SYS_mmap2
enum { NR_MMAP = SYS_mmap2 };
#else
enum { NR_MMAP = SYS_mmap };
#endif

/*
 * Install the filter from a new mapping: the memory below a small stack may hold
 * another thread's data.
 */
static bool install(struct remote_call *r, const struct filter *f)
{
	const uint64_t flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	const size_t insns = f->len * sizeof(*f->insns);
	struct sock_fprog prog = { .len = f->len };
	const uint64_t size = sizeof(prog) + insns;
	const uint64_t map[6] = {
		0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
	};
	int64_t at, ret;
	uint64_t page;
	bool ok;

	if (!remote_call(r, NR_MMAP, map, &at) || (at < 0 && at > -4096))
		return false;
	page = (uint64_t)at;
	prog.filter = (struct sock_filter *)(uintptr_t)(page + sizeof(prog));
	ok = copy_out(r->tid, page, &prog, sizeof(prog)) &&
	     copy_out(r->tid, page + sizeof(prog), f->insns, insns) &&
	     remote_call(r, SYS_seccomp, (uint64_t[6]){ SECCOMP_SET_MODE_FILTER, flags, page },
			 &ret) && !ret;
	if (!r->gone)
		remote_call(r, SYS_munmap, (uint64_t[6]){ page, size }, &ret);
	return ok;
}

bool second_filter_extend(struct tracer *t, struct task *task)
{
	struct second_filter *state = task->second_filter;
	const struct call *c = task->call;
	struct filter f = { 0 };
	struct remote_call r;

	/* remote_call_begin() requires that there is no restart, and no signal mask to restore */
	if (!state || state->refused || c->failed || c->arch != arch_native() ||
	    c->desc->class == CLASS_POLL || c->desc->class == CLASS_PROCESS ||
	    second_filter_covers(t, task) ||
	    t->ops->close_watch(t->ctx, task->tid) != TRACE_CLOSE)
		return true;
	/* The program's own filters might kill it for calls that it never makes itself. */
	state->refused = !second_filter_is_alone(task) ||
			 !second_filter_build(&f, t->opts, &t->nrs, t->ranges + state->ranges,
					      t->nranges - state->ranges, !state->held) ||
			 !remote_call_begin(&r, task->tid);
	if (state->refused) {
		filter_free(&f);
		return true;
	}
	filter_set_data(&f, t->mark);
	state->refused = !install(&r, &f);
	if (!r.gone) {
		regs_set(r.tid, &r.regs);
		ptrace_must(PTRACE_SETSIGMASK, r.tid, sizeof(r.mask), (uintptr_t)&r.mask);
		/* report a group-stop again, if it lasts */
		if (r.interrupted)
			ptrace_must(PTRACE_INTERRUPT, r.tid, 0, 0);
	}
	if (r.stop.si_signo)
		t->ops->signalled(t->ctx, task->tid, &r.stop);
	filter_free(&f);
	if (!state->refused) {
		state->filters++;
		state->held = true;
		state->ranges = t->nranges;
	}
	if (r.ended)
		task_gone(t, task, r.status);
	return !r.gone;
}
