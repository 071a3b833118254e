/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attr of one open: its members, and what produces the event's counts and samples. */
#pragma once

#include "core/abi/call.h"

/* An attr as it was passed, with what is needed to interpret it. */
struct open_attr {
	const uint8_t *attr;
	size_t len;
	const struct names *names;
	const struct arch *arch;
	const struct call *call;	/* for strings that the attr points to, or NULL */
	const char *probed;		/* the path or function that it points to, or NULL */
	pid_t pid;			/* other arguments of the call */
	uint64_t flags;
};

enum event_source {
	SOURCE_CLOCK, SOURCE_SOFTWARE, SOURCE_DUMMY, SOURCE_BPF, SOURCE_TRACEPOINT,
	SOURCE_BREAKPOINT, SOURCE_UPROBE, SOURCE_KPROBE, SOURCE_MSR, SOURCE_CPU,
	SOURCE_OTHER,	/* a PMU that rules.in does not describe */
};

/* Return a member by its index in layout_perf_event_attr; 0 if the attr is too short. */
uint64_t open_attr_get(const struct open_attr *a, unsigned int index);

/* Return what counts the event. */
enum event_source open_attr_source(const struct open_attr *a);

/* Return whether the event takes samples: it has a period and is no dummy. */
bool open_attr_samples(const struct open_attr *a);

/* Return whether each counted occurrence is sampled, so that samples are no estimate. */
bool open_attr_every_hit(const struct open_attr *a);
