/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening an event only to see what the kernel says.  It is done by a child of
 * ours that ends at once, so that nothing stays open and a signal that the event
 * sends (attr.sigtrap) hits nobody else.
 */
#ifndef PEVTRACE_DRIVE_TRIAL_H
#define PEVTRACE_DRIVE_TRIAL_H

#include "abi/rules.h"

/* An event that is opened before, on the same task or cgroup. */
struct trial_event {
	const uint8_t *attr;
	size_t len;
	int32_t cpu;
	int leader;		/* place of its group's leader; TRIAL_NONE: it leads */
	bool ring;		/* is mapped as well */
	/* it has a counter or breakpoint that others miss, or leads one that has */
	bool holds;
};

/* The events that are open when a call is tried; all zero but leader: none. */
struct trial_state {
	const struct trial_event *events;
	size_t n;
	int leader;		/* whose descriptor is then group_fd, or TRIAL_NONE */
};

/* Those that hold nothing and are of another group are but descriptors in a trial. */

enum { TRIAL_NONE = -1 };

struct trial {
	int error;		/* positive errno; 0: it opened */
	uint32_t size;		/* attr.size as it was afterwards */
	int before_error;	/* one of the state did not open: nothing else was tried */
};

/*
 * pid 0 is the child, on which nothing runs but this.  before: NULL for nothing.
 * False when there could be no child.
 */
bool trial_open(const struct rule_ask *ask, const struct trial_state *before,
		struct trial *out);

/*
 * The errno of what answers before the kernel does, whatever is asked for: a seccomp
 * filter, or ENOSYS of a kernel without perf events.  0: the kernel answers.
 */
int trial_gate(void);

/* sizeof the kernel's struct perf_event_attr, which it tells; 0: it did not. */
uint32_t trial_attr_size(void);

/*
 * Whether one more breakpoint can be had where ask wants one, of the kind that
 * its attr is of: found by having it.
 */
enum fact trial_breakpoint(const struct rule_ask *ask, const struct trial_state *before);

#endif
