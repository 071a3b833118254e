/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a trace shows to be wrong with its events: the rows of xlat/flaws.in, each with the events
 * in which it was seen.  What was not seen is not judged.
 */
#pragma once

#include "core/model/model.h"
#include "xlat/enums.h"

enum { FLAW_NAME = 80 };

/* What one row is about; events 0: nothing. */
struct flaw {
	unsigned int events;	/* in which it was seen */
	unsigned int number;	/* the worst of them, the first of equal ones, and its name */
	char event[FLAW_NAME];
	/*
	 * Of that event, or for records and samples of all of them: how many were lost, of how many;
	 * bytes that were overwritten, or unread; ns that it ran, of those that it was enabled.
	 * of 0: not known.
	 */
	uint64_t n, of;
	bool partly;		/* of is the lost records and those that were seen: there were more */
	bool about;		/* of has an estimate of those that were not seen, by their bytes */
	uint64_t bursts, burst;	/* how often the ring was full, and the most records lost at once */
	uint64_t enough;	/* bytes of a ring that would have held them; 0: not known */
	uint64_t ring;		/* bytes for records in the ring of that event; 0: not known */
	uint32_t page;		/* bytes of a page there; 0: not known */
	bool overwrite;		/* that one is mapped read-only */
};

struct flaws {
	struct flaw of[FLAW_COUNT];
};

/* Judge an event, and add what was found. */
void flaws_add(struct flaws *f, const struct model *m, const struct event *e);

/* Judge all events that the model has.  session_flaws() knows those that have ended, too. */
void flaws_of(struct flaws *f, const struct model *m);

/*
 * Return whether the row is a loss (of records or samples) that differs between two sessions: one has
 * none, or the other more than twice as much.
 */
bool flaw_loss_differs(enum flaw_id id, const struct flaws *a, const struct flaws *b);
