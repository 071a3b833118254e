// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The task stands behind the instruction that made its call.  It is set back
 * to that instruction with other registers, and afterwards gets its own again.
 * All signals are blocked meanwhile.  A SIGSTOP cannot be: it is delivered, as to
 * send it again later might undo a SIGCONT that has come since.  The task does its
 * calls all the same, and stands still afterwards if the stop lasts.
 */
#include "trace/remote_call.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/die.h"
#include "trace/proc.h"
#include "trace/remote.h"
#include "trace/task.h"

#ifdef __x86_64__

enum {
	SYSCALL_BYTES = 2,	/* 0f 05 */
	CODE_64BIT = 0x33,	/* selector of 64-bit user code */
};

static bool behind_syscall(pid_t tid, const struct user_regs_struct *regs)
{
	uint8_t code[SYSCALL_BYTES];

	return regs->cs == CODE_64BIT &&
	       remote_read(tid, regs->rip - SYSCALL_BYTES, code, sizeof(code)) ==
		       sizeof(code) &&
	       code[0] == 0x0f && code[1] == 0x05;
}

bool remote_call_begin(struct remote_call *in, pid_t tid)
{
	const uint64_t all = ~0ULL;

	*in = (struct remote_call){ .tid = tid };
	return !ptrace_do(PTRACE_GETREGS, tid, 0, (uintptr_t)&in->regs) &&
	       behind_syscall(tid, &in->regs) &&
	       !ptrace_do(PTRACE_GETSIGMASK, tid, sizeof(in->mask), (uintptr_t)&in->mask) &&
	       !ptrace_do(PTRACE_SETSIGMASK, tid, sizeof(all), (uintptr_t)&all);
}

/*
 * Waits for the task's next stop.  One that exec of another thread killed may
 * stay a zombie until its siblings have been waited for, which is not our
 * business here: then it is given up.
 */
static bool next_stop(struct remote_call *in)
{
	pid_t got;

	/* interrupted regularly: see start_pulse() */
	do
		got = wait4(in->tid, &in->status, __WALL, NULL);
	while (got < 0 && errno == EINTR && !proc_is_zombie(in->tid));
	in->gone = got != in->tid || !WIFSTOPPED(in->status);
	in->ended = in->gone && got == in->tid;
	return !in->gone;
}

/*
 * A stop that is no part of the call: it is looked after when we are through.
 * Returns the signal to be delivered, or 0.
 */
static int put_off(struct remote_call *in)
{
	in->interrupted = true;
	if (in->status >> 16)
		return 0;
	ptrace_do(PTRACE_GETSIGINFO, in->tid, 0, (uintptr_t)&in->stop);
	return WSTOPSIG(in->status);
}

/* Runs the task to the return of the call that its registers are set for. */
static bool to_return(struct remote_call *in)
{
	struct ptrace_syscall_info info;
	int sig = 0;

	for (;;) {
		ptrace_must(PTRACE_SYSCALL, in->tid, 0, (uintptr_t)sig);
		sig = 0;
		if (!next_stop(in))
			return false;
		if (in->status >> 16 == PTRACE_EVENT_SECCOMP)
			continue;
		if (WSTOPSIG(in->status) != (SIGTRAP | 0x80)) {
			sig = put_off(in);
			continue;
		}
		info.op = PTRACE_SYSCALL_INFO_NONE;
		if (ptrace_do(PTRACE_GET_SYSCALL_INFO, in->tid, sizeof(info), (uintptr_t)&info) < 0 &&
		    errno != ESRCH)
			die("cannot see what task %d does: %s", (int)in->tid, strerror(errno));
		if (info.op == PTRACE_SYSCALL_INFO_EXIT)
			return true;
	}
}

bool remote_call(struct remote_call *in, long nr, const uint64_t args[6], int64_t *ret)
{
	struct user_regs_struct regs = in->regs;

	regs.rip -= SYSCALL_BYTES;
	regs.orig_rax = (unsigned long long)-1; /* in no call: nothing to restart */
	regs.rax = (unsigned long long)nr;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	if (ptrace_do(PTRACE_SETREGS, in->tid, 0, (uintptr_t)&regs) || !to_return(in) ||
	    ptrace_do(PTRACE_GETREGS, in->tid, 0, (uintptr_t)&regs))
		return false;
	*ret = (int64_t)regs.rax;
	return true;
}

void remote_call_end(struct remote_call *in)
{
	if (in->gone)
		return;
	ptrace_must(PTRACE_SETREGS, in->tid, 0, (uintptr_t)&in->regs);
	ptrace_must(PTRACE_SETSIGMASK, in->tid, sizeof(in->mask), (uintptr_t)&in->mask);
	/* reports a group stop again, if it lasts */
	if (in->interrupted)
		ptrace_must(PTRACE_INTERRUPT, in->tid, 0, 0);
}

#else /* other architectures go without */

bool remote_call_begin(struct remote_call *in, pid_t tid)
{
	*in = (struct remote_call){ .tid = tid };
	return false;
}

bool remote_call(struct remote_call *in, long nr, const uint64_t args[6], int64_t *ret)
{
	(void)in;
	(void)nr;
	(void)args;
	*ret = -ENOSYS;
	return false;
}

void remote_call_end(struct remote_call *in)
{
	(void)in;
}

#endif
