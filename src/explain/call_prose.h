/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One call of perf_event_open in English. */
#pragma once

#include "explain/story.h"

struct call_prose {
	const struct call *call;
	const struct names *names;
	const char *label;		/* the event's name, or "" */
	const char *events;		/* -e, to suggest a command with it; or NULL */
	bool made;			/* by a program: its target is known */
	bool elided;			/* "..." in the text: members are unknown */
	bool returned, injected;	/* if it was made */
	int error;			/* of the call, or of refused_by; 0: none */
	bool assumed;			/* refused_by only if nothing changed since xlat_release */
	const struct rule_desc *refused_by; /* if it was not made; NULL: it would open */
};

void call_prose_write(const struct call_prose *c, const struct story_options *o,
		      struct prose *p);
