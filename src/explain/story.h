/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session told in English, out of the model and of what a view sees besides:
 * what was asked for, what came of it, what was measured and what failed.
 */
#ifndef PEVTRACE_EXPLAIN_STORY_H
#define PEVTRACE_EXPLAIN_STORY_H

#include "explain/attr_prose.h"
#include "session/view.h"

enum story_level { STORY_BRIEF, STORY_NORMAL, STORY_DEEP };

struct story_options {
	enum story_level level;
	bool kernel;		/* and the functions of the kernel, step by step */
};

/*
 * Watches a session.  m keeps what has ended (model_new); m and n must outlive
 * the view.  arch: of the machine, for masks of registers.
 */
struct view *story_view_new(struct model *m, const struct names *n, const struct arch *arch,
			    uint32_t release);

/* The functions of the kernel that such an open and its samples go through. */
void story_call_steps(const struct attr_words *a, struct prose *p);

/* Tells what was seen so far. */
void story_tell(const struct view *v, const struct story_options *o, struct prose *p);

#endif
