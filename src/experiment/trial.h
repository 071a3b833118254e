/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One perf_event_open(2), with an attr of any bytes; and opening an event only to learn the
 * result.  A child does that and exits at once: the event is closed again, and a signal of the
 * event (attr.sigtrap) reaches only the child.
 */
#pragma once

#include "core/abi/rules.h"

/*
 * Call perf_event_open(2) with an attr of exactly len readable bytes, or with a null
 * pointer if attr is NULL.  What the kernel writes to the attr (its size, with E2BIG) is
 * copied back.  Return a descriptor, which the caller closes, or a negative errno.
 */
int open_event(uint8_t *attr, size_t len, int32_t pid, int32_t cpu, int32_t group_fd,
	       uint64_t flags);

/* Set a member (ATTR_*) of an attr. */
void attr_put(uint8_t *attr, unsigned int index, uint64_t v);

/* What an earlier event measures, from the point of view of the call that is tried. */
enum trial_whom {
	TRIAL_SAME,	/* the same task or cgroup */
	TRIAL_CHILD,	/* the child that makes the calls */
	TRIAL_NO_TASK,	/* every task of a CPU */
};

/* An event that is opened earlier. */
struct trial_event {
	const uint8_t *attr;
	size_t len;
	int32_t cpu;
	enum trial_whom whom;
	int leader;		/* index of its group leader; TRIAL_NONE: it leads */
	bool ring;		/* its ring buffer is mapped */
	/* it occupies a counter or breakpoint, or leads an event that does */
	bool holds;
};

/*
 * The events that are open when a call is tried.  Those that hold nothing and belong to
 * another group are opened as descriptors of "/" instead.
 */
struct trial_state {
	const struct trial_event *events;
	size_t n;
	int leader;		/* index of the one whose descriptor is group_fd, or TRIAL_NONE */
};

enum { TRIAL_NONE = -1 };

struct trial {
	int error;		/* positive errno, or 0: it opened */
	uint32_t size;		/* attr.size afterwards */
	int before_error;	/* errno of an event of the state; if set, the call was not tried */
};

/*
 * Try a call.  pid 0 is the child, which runs nothing else.  before: NULL for no open
 * events.  Return false if no child could be created.
 */
bool trial_open(const struct rule_ask *ask, const struct trial_state *before,
		struct trial *out);

/*
 * Return the errno, any one, with which every call fails before perf checks it: that of a seccomp
 * filter, or of a kernel without perf events.  0: calls reach the kernel's checks.
 */
int trial_gate(void);

/* Return sizeof(struct perf_event_attr) in the kernel, or 0 if it does not report it. */
uint32_t trial_attr_size(void);

/*
 * Return whether the kernel refuses this process everything, as patched ones do where
 * perf_event_paranoid is above 2 (rule paranoid_all); unknown if the machine's facts say that it
 * has the right, or that the level is lower.
 */
enum fact trial_denies_all(const struct rule_machine *m);

/*
 * Return whether a PMU with checks that the rules do not describe has the event of ask, by opening
 * it with nothing else in its attr.  If not, *error is the errno.
 */
enum fact trial_pmu_event(const struct rule_ask *ask, int *error);

/*
 * Find the facts about a call that only opening events shows, with those before it open: the size
 * of the kernel's attr and whether it denies all, unless they are known, whether a breakpoint is free, and whether the PMU has
 * the event.
 */
void trial_find_facts(const struct rule_ask *ask, const struct trial_state *before,
		      struct rule_facts *f);
