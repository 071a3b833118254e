/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A view: what shows a session or learns from it, such as text lines or a dump.
 * Its hooks are called in the order in which things happened.  Times (ns) are of
 * CLOCK_MONOTONIC.
 */
#pragma once

#include "core/abi/call.h"
#include "core/abi/record.h"
#include "core/model/model.h"
#include "xlat/activities.h"

struct view;

/* A frame of a user stack; module, symbol and file may be NULL. */
struct view_frame {
	const char *module, *symbol;
	uint64_t offset, ip;	/* offset: into the symbol, or else the module */
	const char *file;	/* the source line, if it is known */
	uint32_t line;
	bool inlined;		/* into the function of the next frame; offset is 0 */
};

enum { VIEW_FRAMES = 256 };	/* limit of a stack */

/* How a call ended, as -e status= selects. */
enum call_status {
	STATUS_SUCCESSFUL = 1 << 0,
	STATUS_FAILED = 1 << 1,
	STATUS_UNFINISHED = 1 << 2,	/* the call did not return, as exit never does */
	STATUS_UNAVAILABLE = 1 << 3,	/* it returned, but its result is unknown */
	STATUS_DETACHED = 1 << 4,	/* we left the task inside */
	STATUS_ALL = (1 << 5) - 1,
};

/* Return whether a set of enum call_status selects a call that returned. */
static inline bool view_shows_status(unsigned int status, const struct call *c)
{
	return status & (!c->returned ? STATUS_UNAVAILABLE :
			 c->failed ? STATUS_FAILED : STATUS_SUCCESSFUL);
}

/* Any hook may be NULL. */
struct view_ops {
	/*
	 * An activity of that kind (xlat/activities.in) happened; what it points to is valid for
	 * the call only.  shown: whether the selection includes it, for views that print.
	 */
	void (*on[ACTIVITY_KINDS])(struct view *v, const struct activity *a);
	/*
	 * A call begins, and returns.  The model learns of the call between enter
	 * and before_exit (close, sendmsg), and between before_exit and exit.
	 */
	void (*enter)(struct view *v, const struct call *c);
	void (*before_exit)(struct view *v, const struct call *c);
	void (*exit)(struct view *v, const struct call *c);
	/* The stack of the task's current call; why: a text, why it is incomplete, or NULL. */
	void (*stack)(struct view *v, pid_t tid, const struct view_frame *frames,
		      size_t n, const char *why);
	/*
	 * What is written goes on in another file.  Activities between the two calls, that begins
	 * and that does not, describe the state of the session.
	 */
	void (*cut)(struct view *v, bool begins);
	/* Called regularly: flush output. */
	void (*idle)(struct view *v, uint64_t ns);
	/* The session ends; its model still exists. */
	void (*free)(struct view *v);
};

struct view {
	const struct view_ops *ops;
	struct view *next;	/* used by the session */
};

/* Return the struct of the view's own whose first member it is. */
static inline void *view_self(struct view *v)
{
	return v;
}
