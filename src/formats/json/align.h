/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pairing the members of two sequences. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ALIGN_LEVELS = 4 };

/*
 * Two members are alike at a level if their tokens of that level are equal and not 0.
 * Level 0 is the strictest.
 */
struct align_side {
	size_t n;
	uint64_t *token[ALIGN_LEVELS];	/* n each */
	ptrdiff_t *mate;		/* index on the other side, or -1 */
	bool *moved;			/* paired out of order */
};

/* Allocate n members; the first levels have tokens, which the caller fills in. */
void align_init(struct align_side *s, size_t n, size_t levels);
void align_free(struct align_side *s);

/*
 * Pair members: first the longest common subsequence at level 0, then the members
 * between two pairs at level 1, and so on; finally the rest in any order.  Sequences of
 * several thousand members that have little in common are paired greedily.
 */
void align(struct align_side *a, struct align_side *b, size_t levels);
