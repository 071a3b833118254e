/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The candidate closest to a misspelt word. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/lib/buf.h"

enum { NEAREST_MAX = 80 };	/* bytes of a word worth comparing */

struct nearest {
	char word[NEAREST_MAX + 1];
	char best[NEAREST_MAX + 1];	/* "" if no candidate is close enough */
	unsigned int limit;		/* of the distance of a candidate */
	unsigned int distance;		/* of best */
	bool any;			/* no limit */
	bool close;			/* also for candidates that begin like the word */
	void (*list)(void *ctx, const char *candidate); /* of nearest_start_list(), or NULL */
	void *ctx;
	char hint[NEAREST_MAX + 20];	/* of nearest_hint() */
};

/* Start with the misspelt word, which is copied. */
void nearest_start(struct nearest *n, const char *word, size_t len);

/* Start without a limit on the distance. */
void nearest_start_any(struct nearest *n, const char *word, size_t len);

/* Start a list: pass each candidate to the function instead of comparing it. */
void nearest_start_list(struct nearest *n, void (*list)(void *ctx, const char *candidate),
			void *ctx);

/* Start a list: append each candidate to words, after a blank. */
void nearest_start_words(struct nearest *n, struct buf *words);

/*
 * Copy the candidate if it is closer than all before: by the number of letters changed,
 * added, omitted, or swapped with their neighbour, where a first letter counts twice, as it is
 * rarely wrong.  Candidates that begin like the word may be farther.  Case is ignored, and _
 * equals -.
 */
void nearest_try(struct nearest *n, const char *candidate);

/* Return "; did you mean BEST?", which is part of n, or "" if no candidate was close enough. */
const char *nearest_hint(struct nearest *n);

/* Return whether a message ends with such a hint, which leaves nothing to add. */
bool nearest_hinted(const char *message);
