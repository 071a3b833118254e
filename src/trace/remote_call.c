// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The task has just executed a syscall instruction: set it back to that, with other
 * registers.  Signals are blocked, except SIGSTOP, which cannot be and is delivered at
 * once: a SIGSTOP sent again later could follow the SIGCONT that was to end it.  The calls
 * are made nevertheless, and the task is in group-stop afterwards if the stop lasts.
 */
#include "trace/remote_call.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/proc.h"
#include "trace/ptrace.h"
#include "trace/remote.h"

#ifdef __x86_64__

enum {
	SYSCALL_BYTES = 2,	/* 0f 05 */
	CODE_64BIT = 0x33,	/* code segment selector of 64-bit programs */
};

static bool behind_syscall(pid_t tid, const struct user_regs_struct *regs)
{
	uint8_t code[SYSCALL_BYTES];

	return regs->cs == CODE_64BIT &&
	       remote_read(tid, regs->rip - SYSCALL_BYTES, code, sizeof(code)) ==
		       sizeof(code) &&
	       code[0] == 0x0f && code[1] == 0x05;
}

bool remote_call_begin(struct remote_call *r, pid_t tid)
{
	const uint64_t all = ~0ULL;

	*r = (struct remote_call){ .tid = tid };
	return !ptrace_do(PTRACE_GETREGS, tid, 0, (uintptr_t)&r->regs) &&
	       behind_syscall(tid, &r->regs) &&
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

	/* pulse.c interrupts wait4() regularly */
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
	struct user_regs_struct regs = r->regs;

	regs.rip -= SYSCALL_BYTES;
	regs.orig_rax = (unsigned long long)-1; /* not in a call: no restart */
	regs.rax = (unsigned long long)nr;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	if (ptrace_do(PTRACE_SETREGS, r->tid, 0, (uintptr_t)&regs) || !run_to_exit(r) ||
	    ptrace_do(PTRACE_GETREGS, r->tid, 0, (uintptr_t)&regs))
		return false;
	*ret = (int64_t)regs.rax;
	return true;
}

void remote_call_end(struct remote_call *r)
{
	if (r->gone)
		return;
	ptrace_must(PTRACE_SETREGS, r->tid, 0, (uintptr_t)&r->regs);
	ptrace_must(PTRACE_SETSIGMASK, r->tid, sizeof(r->mask), (uintptr_t)&r->mask);
	/* Report a group-stop again, if it lasts. */
	if (r->interrupted)
		ptrace_must(PTRACE_INTERRUPT, r->tid, 0, 0);
}

#else

bool remote_call_begin(struct remote_call *r, pid_t tid)
{
	*r = (struct remote_call){ .tid = tid };
	return false;
}

bool remote_call(struct remote_call *r, long nr, const uint64_t args[6], int64_t *ret)
{
	(void)r;
	(void)nr;
	(void)args;
	*ret = -ENOSYS;
	return false;
}

void remote_call_end(struct remote_call *r)
{
	(void)r;
}

#endif
