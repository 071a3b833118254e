/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening an event only to see what the kernel says.  It is done by a child of
 * ours that ends at once, so that nothing stays open and a signal that the event
 * sends (attr.sigtrap) hits nobody else.
 */
#ifndef PEVTRACE_DRIVE_TRIAL_H
#define PEVTRACE_DRIVE_TRIAL_H

#include "abi/rules.h"

/* The event that is opened before, and whose descriptor is then group_fd. */
struct trial_leader {
	const uint8_t *attr;
	size_t len;
	int32_t pid, cpu;
	uint64_t flags;
	bool ring;		/* is mapped as well */
};

struct trial {
	int error;		/* positive errno; 0: it opened */
	uint32_t size;		/* attr.size as it was afterwards */
	int leader_error;	/* the leader did not open: nothing else was tried */
};

/*
 * pid 0 is the child, on which nothing runs but this.  leader: NULL for none.
 * False when there could be no child.
 */
bool trial_open(const struct rule_ask *ask, const struct trial_leader *leader,
		struct trial *out);

/*
 * The errno of what answers before the kernel does, whatever is asked for: a seccomp
 * filter, or ENOSYS of a kernel without perf events.  0: the kernel answers.
 */
int trial_gate(void);

/* sizeof the kernel's struct perf_event_attr, which it tells; 0: it did not. */
uint32_t trial_attr_size(void);

/*
 * Whether one more breakpoint can be had on pid and cpu, of the kind that
 * bp_type is of: found by having it.
 */
enum fact trial_breakpoint(int32_t pid, int32_t cpu, uint64_t bp_type);

#endif
