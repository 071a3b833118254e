/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls that a traced task is made to do for us, without a trace of it
 * in what the task sees of itself.
 */
#ifndef PEVTRACE_TRACE_REMOTE_CALL_H
#define PEVTRACE_TRACE_REMOTE_CALL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#ifdef __x86_64__
#include <sys/user.h>
#endif

struct remote_call {
	pid_t tid;
	bool gone;	/* the task is out of our hands: touch it no more */
	bool ended;	/* ... and status, from wait4(2), says how */
	int status;
	bool interrupted; /* a stop came between */
	siginfo_t stop; /* the last SIGSTOP that was delivered meanwhile; si_signo 0: none */
	uint64_t mask;	/* the task's signal mask */
#ifdef __x86_64__
	struct user_regs_struct regs;
#endif
};

/*
 * Prepares a task that is in the stop at the return of a call of the native
 * ABI, one that succeeded and has no signal mask of its own (as ppoll has).
 * False, and nothing changed, where that cannot be done.
 */
bool remote_call_begin(struct remote_call *in, pid_t tid);

/*
 * Makes the task do one call, which must not sleep.  False when the task was
 * killed meanwhile.  *ret is what the kernel returned: a negative errno for a
 * failure.
 */
bool remote_call(struct remote_call *in, long nr, const uint64_t args[6], int64_t *ret);

/* Puts everything back, but for a task that is gone. */
void remote_call_end(struct remote_call *in);

#endif
