/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls that a tracee makes for the tracer, which leave its registers, memory,
 * signal mask and pending signals unchanged.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/ptrace/regs.h"

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
bool remote_call_begin(struct remote_call *r, pid_t tid);

/*
 * Make one call, which must not sleep, and store what the kernel returned, a negative
 * errno for a failure.  Return false if the task was killed.
 */
bool remote_call(struct remote_call *r, long nr, const uint64_t args[6], int64_t *ret);

/* Restore registers and signal mask unless the task is gone. */
void remote_call_end(struct remote_call *r);
