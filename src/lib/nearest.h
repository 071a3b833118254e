/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The word that somebody may have meant who wrote another one. */
#ifndef PEVTRACE_LIB_NEAREST_H
#define PEVTRACE_LIB_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum { NEAREST_MAX = 80 };	/* bytes of a word worth comparing */

struct nearest {
	char word[NEAREST_MAX + 1];
	char best[NEAREST_MAX + 1];	/* "" while nothing is near enough */
	unsigned int distance;		/* of best; anything farther is no help */
	bool any;			/* is a help, however far */
};

/* What was written; it is copied. */
void nearest_start(struct nearest *n, const char *word, size_t len);

/* The same, where any candidate is better than none. */
void nearest_start_any(struct nearest *n, const char *word, size_t len);

/*
 * Remembers the candidate, which is copied, if it is nearer than all before:
 * fewest letters changed, added, left out, or swapped with their neighbour.
 * Capitals count as small letters, and _ as -.
 */
void nearest_try(struct nearest *n, const char *candidate);

#endif
