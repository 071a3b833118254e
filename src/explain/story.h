/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session in English: which events a program opened, what they measured, how the data
 * was read, and what failed.  Its facts come from the model and from a view.
 */
#pragma once

#include "core/session/view.h"
#include "explain/prose.h"
#include "formats/text/open_attr.h"

struct story_options {
	bool deep;		/* each member in full, and all chapters */
	bool kernel;		/* list the kernel functions of each step */
	/* who held events of its type when an open failed with held_errno; or NULL */
	const char *held;
	int held_errno;
	/* who held events of the PMU when the first multiplexed count was read; or NULL */
	const char *sharers;
	/* sentences about events that opened, but do not count on this machine; or NULL */
	const char *doubts;
};

/*
 * Return a view that collects what a story needs.  m must keep what has ended (see
 * model_new); m and n must outlive the view.  arch: the traced machine's, for register
 * masks; release: KVER() of its kernel, or 0.
 */
struct view *story_view_new(struct model *m, const struct names *n, const struct arch *arch,
			    uint32_t release);

/* Write the story of what the view has seen so far. */
void story_write(const struct view *v, const struct story_options *o, struct prose *p);

/* One call of perf_event_open, to be explained by itself (call_prose.c). */
struct call_prose {
	const struct call *call;
	const struct names *names;
	const char *label;		/* the event's name, or "" */
	const char *events;		/* -e, to suggest a command with it; or NULL */
	bool made;			/* by a program: its target is known */
	bool elided;			/* "..." in the text: members are unknown */
	bool returned, injected;	/* if it was made */
	int error;			/* of the call, or of refused_by; 0: none */
	/* refused_by only if nothing changed since xlat_release; or another may have, if it was made */
	bool assumed;
	const struct rule_desc *refused_by; /* NULL: it would open, or no rule explains the error */
};

void call_prose_write(const struct call_prose *c, const struct story_options *o,
		      struct prose *p);
