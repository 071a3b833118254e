/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the comparison only: the pairs of opens and of calls. */
#pragma once

#include "core/lib/map.h"
#include "formats/diff/compare.h"
#include "formats/json/align.h"

struct comparison {
	struct normal *a, *b;
	const struct normal_choice *choice;
	struct map roles;	/* hashes of the members that identify an event */
	void (*report)(void *ctx, const struct difference *d);
	void *ctx;
	bool same;
};

/* Both sides of a task; either may be NULL. */
struct both {
	struct normal_task *a, *b;
};

/* Call hook() for the tasks by name, those of both sides with one name together. */
void compare_each_task(struct comparison *c,
		       void (*hook)(struct comparison *c, const struct both *t));

/*
 * Pair the opens of tasks of both sides, and thereby their events.  Number all events by name,
 * the same event on both sides alike.
 */
void compare_pair_events(struct comparison *c);

/* Return whether both are the same call on the same events, in all fields. */
bool compare_same_item(const struct comparison *c, const struct normal_item *x,
		       const struct normal_item *y);

enum { NOBODY = UINT32_MAX };

/*
 * The items of a task and their mates.  Equal items at both ends need no list: only those
 * between are aligned.
 */
struct pairing {
	struct both t;
	size_t head, tail;		/* equal items at the beginning and the end */
	struct align_side a, b;		/* of those between */
};

/* Pair the items of p->t, after its opens.  Free p->a and p->b. */
void pairing_make(const struct comparison *c, struct pairing *p);

/* Return the mate of an item on that side, or NOBODY. */
size_t pairing_mate(const struct pairing *p, bool first, size_t i);

/* Return whether the mate of an item of a is at another place, where the order counts. */
bool pairing_moved(const struct comparison *c, const struct pairing *p, size_t i);
