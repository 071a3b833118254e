/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The syntax of events: that of perf (perf-list(1)), and any member of struct
 * perf_event_attr by its name.
 *
 *   cycles:u  cpu-clock  LLC-load-misses  r1a8  1:3	generic, cache, raw, by number
 *   sched:sched_switch  'sched:*'			tracepoints
 *   msr/tsc/  cpu/event=0x3c,umask=1/u		a PMU's terms
 *   mem:0x601040/8:rw				breakpoints
 *   {a,b}:u					a group; the first event is its leader
 *   cpu-clock,sample_freq=999,sample_type=IP|TID,exclude_kernel
 *   type=1,config=2				members only
 *
 * A member applies to the event before it, after a group to all of its events.
 */
#pragma once

#include "core/abi/attr_text.h"
#include "core/host/host.h"
#include "core/lib/buf.h"
#include "xlat/layouts.h"

enum { EVENT_LIST_MAX = 2048 };

struct event_spec {
	struct attr_text attr;	/* label: as it was written, without members */
	size_t leader;		/* index of its group leader in the list */
	bool given[ATTR_NFIELDS]; /* the text sets the member */
	bool reads;		/* :S, its samples hold the counts of its group */
};

/* Zero-initialised is empty. */
struct event_list {
	struct event_spec *events;
	size_t n;
	/* when event_list_add() fails */
	size_t at;		/* offset in the text */
	char why[320];		/* the error and a remedy, without a full stop */
};

/*
 * Append the events in text.  h resolves names of PMUs and tracepoints.  On an error
 * return false with at and why, and leave the list unchanged.  The attrs hold only
 * what the text sets, and the size of the newest known version.
 */
bool event_list_add(struct event_list *l, struct host *h, const char *text);
void event_list_free(struct event_list *l);

/* Return whether the i-th event is in a group with others. */
bool event_grouped(const struct event_list *l, size_t i);

/* Return a member by its index (ATTR_TYPE, ...). */
uint64_t event_get(const struct event_spec *e, unsigned int member);

/*
 * Set a member.  For a member of a union that a bit selects (sample_freq), set that
 * bit, for its counterpart clear it, unless the text sets the bit.
 */
void event_set(struct event_spec *e, unsigned int member, uint64_t v);

/* Set a member unless the text sets it or another member of its union. */
void event_default(struct event_spec *e, unsigned int member, uint64_t v);

/*
 * Append the event: its label if that is a name, then the members that differ from those
 * of the name.  names decides which member of a union applies.
 */
void event_text(struct buf *out, struct host *h, const struct names *names,
		const struct event_spec *e);
