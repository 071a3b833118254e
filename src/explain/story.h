/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session in English: which events a program opened, what they measured, how the data
 * was read, and what failed.  Its facts come from the model and from a view.
 */
#pragma once

#include "core/session/view.h"
#include "explain/prose.h"
#include "formats/text/open_attr.h"

enum story_level { STORY_BRIEF, STORY_NORMAL, STORY_DEEP };

struct story_options {
	enum story_level level;
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

/* Write what the call requires: the oldest kernel, hardware, rights. */
void story_call_needs(const struct open_attr *a, const struct call *c, struct prose *p);

/* List the kernel functions that such an open and its samples go through. */
void story_call_steps(const struct open_attr *a, struct prose *p);
