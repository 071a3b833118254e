/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A comparison under way: which opens and calls of both sides belong together. */
#ifndef PEVTRACE_DUMP_COMPARE_INTERNAL_H
#define PEVTRACE_DUMP_COMPARE_INTERNAL_H

#include "dump/align.h"
#include "dump/compare.h"
#include "lib/map.h"

struct comparison {
	struct normal *a, *b;
	const struct normal_choice *choice;
	struct map roles;	/* hashes of the members that say which event it is */
	void (*tell)(void *ctx, const struct difference *d);
	void *ctx;
	bool same;
};

/* Both sides of a task; either may be NULL. */
struct both {
	struct normal_task *a, *b;
};

/* Learns from the tables which members say which event it is. */
void compare_learn_roles(struct comparison *c);

/* A number for each event, by its name: what is the same event has the same. */
void compare_identify(const struct normal *n);

/* Finds which opens of a task, and so which of its events, are the same. */
void compare_pair_opens(struct comparison *c, const struct both *t);

/* b's events without a mate must not go by a name that a's have taken. */
void compare_rename_rest(struct comparison *c);

/*
 * A number for the value: the text, and the events in it.  Where two differ and
 * have the same number, that is told all the same: see compare_same_item().
 */
uint64_t compare_value_token(uint64_t h, const struct normal *n, const struct normal_item *i,
			     const char *value);

/* The same call on the same events, whatever was chosen? */
bool compare_same_item(const struct comparison *c, const struct normal_item *x,
		       const struct normal_item *y);

enum { NOBODY = UINT32_MAX };

/*
 * The items of a task and whose mates they are.  What is the same at both ends
 * needs no list: only what lies between is aligned.
 */
struct pairing {
	struct both t;
	size_t head, tail;		/* items that are the same at either end */
	struct align_side a, b;		/* of those between */
};

/* Pairs the items of p->t, whose opens have been paired. */
void pairing_make(const struct comparison *c, struct pairing *p);
void pairing_free(struct pairing *p);

/* The mate of an item on that side; NOBODY: none. */
size_t pairing_mate(const struct pairing *p, bool first, size_t i);

/* Has one of a's items its mate at another place, and does that mean something? */
bool pairing_moved(const struct comparison *c, const struct pairing *p, size_t i);

#endif
