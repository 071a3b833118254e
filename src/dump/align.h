/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which members of two sequences belong together. */
#ifndef PEVTRACE_DUMP_ALIGN_H
#define PEVTRACE_DUMP_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ALIGN_LEVELS = 4 };

/*
 * Members are alike at a level when they have the same token there; level 0 is
 * the strictest.  Token 0 is like nothing.
 */
struct align_side {
	size_t n;
	uint64_t *token[ALIGN_LEVELS];	/* n each */
	ptrdiff_t *mate;		/* index on the other side, -1: none */
	bool *moved;			/* has a mate, but out of order */
};

/* Room for n members, without tokens, which there are of the first levels. */
void align_init(struct align_side *s, size_t n, size_t levels);
void align_free(struct align_side *s);

/*
 * Pairs members: first the longest common sequence at level 0; what lies
 * between two pairs by level 1, and so on; at last what is left over wherever
 * it stands.  Sequences of more than some thousand members each that differ
 * all over are paired in order, without looking for the longest sequence.
 */
void align(struct align_side *a, struct align_side *b, size_t levels);

#endif
