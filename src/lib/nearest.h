/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The candidate closest to a misspelt word. */
#ifndef PEVTRACE_LIB_NEAREST_H
#define PEVTRACE_LIB_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum { NEAREST_MAX = 80 };	/* bytes of a word worth comparing */

struct nearest {
	char word[NEAREST_MAX + 1];
	char best[NEAREST_MAX + 1];	/* "" if no candidate is close enough */
	unsigned int distance;		/* of best, or the limit */
	bool any;			/* no limit */
};

/* Start with the misspelt word, which is copied. */
void nearest_start(struct nearest *n, const char *word, size_t len);

/* Start without a limit on the distance. */
void nearest_start_any(struct nearest *n, const char *word, size_t len);

/*
 * Copy the candidate if it is closer than all before: by the number of letters changed,
 * added, omitted, or swapped with their neighbour.  Case is ignored, and _ equals -.
 */
void nearest_try(struct nearest *n, const char *candidate);

#endif
