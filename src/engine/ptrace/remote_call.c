// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The task has just executed a syscall instruction: set it back to that, with other
 * registers.  Signals are blocked, except SIGSTOP, which cannot be and is delivered at
 * once: a SIGSTOP sent again later could follow the SIGCONT that was to end it.  The calls
 * are made nevertheless, and the task is in group-stop afterwards if the stop lasts.
 */
#include "engine/ptrace/remote_call.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/ptrace/proc.h"
#include "engine/ptrace/remote.h"

bool remote_call_begin(struct remote_call *r, pid_t tid)
{
	const uint64_t all = ~0ULL;

	*r = (struct remote_call){ .tid = tid };
	return regs_get(tid, &r->regs) && regs_behind_call(tid, &r->regs) &&
	       !ptrace_do(PTRACE_GETSIGMASK, tid, sizeof(r->mask), (uintptr_t)&r->mask) &&
	       !ptrace_do(PTRACE_SETSIGMASK, tid, sizeof(all), (uintptr_t)&all);
}

/*
 * Wait for the next ptrace stop; return false if the task ended.  Do not wait for a zombie:
 * a thread killed by another one's exec remains one until others are waited for.
 */
static bool next_stop(struct remote_call *r)
{
	pid_t got;

	/* the pulse (delay.c) interrupts wait4() regularly */
	do
		got = wait4(r->tid, &r->status, __WALL, NULL);
	while (got < 0 && errno == EINTR && !proc_is_zombie(r->tid));
	r->gone = got != r->tid || !WIFSTOPPED(r->status);
	r->ended = r->gone && got == r->tid;
	return !r->gone;
}

/* Record a stop that is not part of the call; return the signal to deliver, or 0. */
static int note_stop(struct remote_call *r)
{
	r->interrupted = true;
	if (r->status >> 16)
		return 0;
	ptrace_do(PTRACE_GETSIGINFO, r->tid, 0, (uintptr_t)&r->stop);
	return WSTOPSIG(r->status);
}

/* Run the task to the syscall-exit-stop of the call that is set in its registers. */
static bool run_to_exit(struct remote_call *r)
{
	struct ptrace_syscall_info info;
	int sig = 0;

	for (;;) {
		ptrace_must(PTRACE_SYSCALL, r->tid, 0, (uintptr_t)sig);
		sig = 0;
		if (!next_stop(r))
			return false;
		if (r->status >> 16 == PTRACE_EVENT_SECCOMP)
			continue;
		if (WSTOPSIG(r->status) != (SIGTRAP | 0x80)) {
			sig = note_stop(r);
			continue;
		}
		ptrace_syscall_info(r->tid, &info);
		if (info.op == PTRACE_SYSCALL_INFO_EXIT)
			return true;
	}
}

bool remote_call(struct remote_call *r, long nr, const uint64_t args[6], int64_t *ret)
{
	struct regs regs;

	if (!regs_make_call(r->tid, &r->regs, nr, args) || !run_to_exit(r) ||
	    !regs_get(r->tid, &regs))
		return false;
	*ret = regs_result(&regs);
	return true;
}

void remote_call_end(struct remote_call *r)
{
	if (r->gone)
		return;
	regs_set(r->tid, &r->regs);
	ptrace_must(PTRACE_SETSIGMASK, r->tid, sizeof(r->mask), (uintptr_t)&r->mask);
	/* Report a group-stop again, if it lasts. */
	if (r->interrupted)
		ptrace_must(PTRACE_INTERRUPT, r->tid, 0, 0);
}
