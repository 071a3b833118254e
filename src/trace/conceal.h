/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that would come out differently because the task has a tracer, or the
 * tracer's filter: they are made to come out as they would without.
 *
 *   clone, clone3 with CLONE_UNTRACED	the child would have our filter and no
 *					tracer: the flag is taken away, unseen
 *   a filter's own SECCOMP_RET_TRACE	without a tracer it means ENOSYS
 *   the strict mode of seccomp		cannot be entered with a filter: it is
 *					enforced by us
 *   epoll_wait and its like, calls	fail with EINTR when a tracer stops the task
 *   on sockets with a timeout		inside: they begin again
 */
#ifndef PEVTRACE_TRACE_CONCEAL_H
#define PEVTRACE_TRACE_CONCEAL_H

#include <linux/ptrace.h>
#include <stdbool.h>
#include <stdint.h>

struct task;
struct tracer;

/* What our filters give with SECCOMP_RET_TRACE before filter_mark(). */
enum { VEIL_DATA = 0x7065 };

/* What was changed for the time of a call. */
struct conceal {
	enum { VEIL_NOTHING, VEIL_REGISTER, VEIL_MEMORY } what;
	uintptr_t addr;		/* or offset into the registers */
	unsigned long word;	/* that was there */
	bool strict;		/* it entered the strict mode */
};

/*
 * A task with our filter is at the beginning of a call, which nobody has looked
 * at yet (op is ENTRY or SECCOMP).  True if its return is to be seen, too.
 */
bool conceal_enter(struct tracer *t, struct task *task,
		const struct ptrace_syscall_info *info);

/* A SECCOMP stop: if it is none of ours, the call fails as without a tracer. */
void conceal_refuse(const struct tracer *t, const struct task *task,
		 const struct ptrace_syscall_info *info);

/*
 * A task that was asked to stop is behind a call, of that audit architecture,
 * perhaps inside of it until we came: if it failed only for that, it begins again,
 * with the whole of its timeout, and the answer is true.
 */
bool conceal_restart(struct tracer *t, const struct task *task, uint32_t audit);

/* Puts back what conceal_enter() changed: at the return, and in a new child. */
void conceal_lift(struct task *task);

/*
 * The parent is in the stop that tells of the child, which has not run yet: puts
 * things back in the parent, and leaves to do so in the child what is its own.
 */
void conceal_pass_on(struct task *parent, struct task *child);

#endif
