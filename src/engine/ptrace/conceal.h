/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls that would behave differently because of the tracer or its filter,
 * and what is done to conceal the difference:
 *
 *   clone, clone3 with CLONE_UNTRACED	The child would have the filter and no tracer:
 *					clear the flag while the call runs.
 *   SECCOMP_RET_TRACE of a filter	Means ENOSYS without a tracer: fail the call.
 *     of the program itself
 *   seccomp's strict mode		Cannot be entered with a filter: enforce it here.
 *   a filter of the program itself	Its errors go before our filter's stops: stop at
 *					every call from then on.
 *   epoll_wait and the like, socket	Fail with EINTR when a tracer interrupts them:
 *     calls with a timeout		restart them.
 *
 * Nothing is concealed where the registers are not known (engine/ptrace/regs.h).
 */
#pragma once

#include <linux/ptrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/abi/arch.h"

struct task;
struct tracer;

/* What conceal_enter() changed in a task. */
struct conceal {
	enum { CONCEAL_NOTHING, CONCEAL_REGISTER, CONCEAL_MEMORY } what;
	const struct arch *arch; /* of the call */
	uintptr_t addr;		/* in memory */
	unsigned long word;	/* the former value */
	bool strict;		/* the task is in seccomp's strict mode */
	bool skipped;		/* the call is skipped */
	uint64_t nr;		/* its number */
};

/*
 * Change the call that a filtered task is about to make, if necessary.  info is of a
 * syscall-enter-stop or seccomp stop.  Return whether the exit of the call must stop, too.
 */
bool conceal_enter(struct tracer *t, struct task *task,
		   const struct ptrace_syscall_info *info);

/* In a seccomp stop: fail the call if the stop is not caused by the tracer's filters. */
void conceal_refuse(const struct tracer *t, struct task *task,
		    const struct ptrace_syscall_info *info);

/*
 * After a task was interrupted: restart its call, with its full timeout, if it failed
 * with EINTR only because of that.  audit: AUDIT_ARCH_* of the task.  Return
 * whether the call is restarted.
 */
bool conceal_restart(struct tracer *t, const struct task *task, uint32_t audit);

/* Undo what conceal_enter() and conceal_skip() changed: at the exit of the call, and in a new child. */
void conceal_undo(struct task *task);

/*
 * In the event stop of a clone, before the child runs: undo the change in the parent
 * and, if the child has a copy, let conceal_undo() do so in the child.
 */
void conceal_fork(struct task *parent, struct task *child);

/* In the syscall-enter-stop: skip the call and set its result, send the signal. */
void inject_enter(struct task *task);
