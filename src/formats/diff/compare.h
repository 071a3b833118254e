/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The differences between two normal forms. */
#pragma once

#include "formats/diff/normal.h"

enum difference_kind {
	DIFF_CHANGED,	/* a field of a call that both made */
	DIFF_REMOVED,	/* a call that only the first made */
	DIFF_ADDED,	/* a call that only the second made */
	DIFF_ORDER,	/* a call that both made, at another place */
};

/* One difference.  The strings are valid during the call of report. */
struct difference {
	enum difference_kind kind;
	const char *task, *call; /* of a loss: NULL, and its name */
	const char *request;	/* of an ioctl; NULL: none */
	const char *what;	/* the event it is about; NULL: none */
	const struct normal_item *item; /* the call; CHANGED and ORDER: that of the first */
	const char *line;	/* the same in normal form, without its task */
	/* CHANGED; NULL where that side has no such field */
	const char *field, *a, *b;
	/* REMOVED and ADDED: other calls that are about that event alone */
	const char *followers;	/* "mmap, ioctl, close"; NULL: none */
};

/*
 * Report every difference, task by task, in the order of a.  The names of b's events
 * become those of their mates in a.  report may be NULL.  Return whether the two are equal.  "order", "added"
 * and "removed" count as fields: choice says whether these differences are reported.
 */
bool normal_compare(struct normal *a, struct normal *b, const struct normal_choice *choice,
		    void (*report)(void *ctx, const struct difference *d), void *ctx);

/*
 * If both values of the field are sets of flags, append the names of the flags that were
 * added and removed, each after a space.
 */
bool compare_flags(const char *key, const char *a, const char *b, struct buf *added,
		   struct buf *removed);
