/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events as people write them: perf's own syntax (perf-list(1)), and any member
 * of struct perf_event_attr by its name.
 *
 *   cycles:u  cpu-clock  LLC-load-misses  r1a8  1:3	generic, cache, raw, by number
 *   sched:sched_switch  'sched:*'			tracepoints
 *   msr/tsc/  cpu/event=0x3c,umask=1/u		a PMU's terms
 *   mem:0x601040/8:rw				breakpoints
 *   {a,b}:u					groups; the first leads
 *   cpu-clock,sample_freq=999,sample_type=IP|TID,exclude_kernel
 *   type=1,config=2				nothing but members
 *
 * A member belongs to the event before it, behind a group to all of that.
 */
#ifndef PEVTRACE_HOST_EVENT_SYNTAX_H
#define PEVTRACE_HOST_EVENT_SYNTAX_H

#include "abi/attr_text.h"
#include "host/host.h"
#include "xlat/layouts.h"

enum { EVENT_LIST_MAX = 2048 };

struct event_spec {
	struct attr_text attr;	/* label: as it was written, without members */
	size_t leader;		/* place in the list of its group's leader; its own */
	bool given[ATTR_NFIELDS]; /* the text says what the member is */
	bool reads;		/* :S, its samples have counts in them: those of its group */
};

/* Zero-initialised is empty. */
struct event_list {
	struct event_spec *events;
	size_t n;
	/* when event_list_add() fails */
	size_t at;		/* where in the text */
	char why[320];		/* what is wrong and what to do, without a full stop */
};

/*
 * Appends the events that text is of.  Names of PMUs and tracepoints are h's.
 * False, with at and why, and the list as it was, when text is no such list.
 * The attrs have nothing in them that the text does not say, but for their size:
 * that of all members that we know.
 */
bool event_list_add(struct event_list *l, struct host *h, const char *text);
void event_list_free(struct event_list *l);

/* Whether the i-th is of a group with others in it. */
bool event_grouped(const struct event_list *l, size_t i);

/* A member by its index (ATTR_TYPE, ...). */
uint64_t event_get(const struct event_spec *e, unsigned int member);

/*
 * Gives the member a value.  One that shares its place with another by a bit
 * (sample_freq) has that bit set, and its counterpart has it cleared, unless
 * the text says what that bit is.
 */
void event_set(struct event_spec *e, unsigned int member, uint64_t v);

/* The same unless the text says what the member is, or what is in its place. */
void event_default(struct event_spec *e, unsigned int member, uint64_t v);

#endif
