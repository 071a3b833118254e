// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/json/align.h"

#include <stdlib.h>

#include "core/lib/die.h"
#include "core/lib/map.h"

/* Limit of the cells of a table for one pair of ranges. */
#define CELLS_MAX (16u << 20)

/* Number of members in which greedy pairing searches for a like one. */
#define WINDOW 256

void align_init(struct align_side *s, size_t n, size_t levels)
{
	*s = (struct align_side){ .n = n };
	for (size_t l = 0; l < levels; l++)
		s->token[l] = xcalloc(n + 1, sizeof(uint64_t));
	s->mate = xcalloc(n + 1, sizeof(ptrdiff_t));
	s->moved = xcalloc(n + 1, sizeof(bool));
	for (size_t i = 0; i < n; i++)
		s->mate[i] = -1;
}

void align_free(struct align_side *s)
{
	for (size_t l = 0; l < ALIGN_LEVELS; l++)
		free(s->token[l]);
	free(s->mate);
	free(s->moved);
}

/* A part of both sequences, at one level. */
struct range {
	struct align_side *a, *b;
	size_t level, a0, a1, b0, b1;	/* from .. to - 1 */
};

static bool align_like(const struct range *r, size_t i, size_t j)
{
	uint64_t t = r->a->token[r->level][i];

	return t && t == r->b->token[r->level][j] && r->a->mate[i] < 0 && r->b->mate[j] < 0;
}

static void pair(const struct range *r, size_t i, size_t j)
{
	r->a->mate[i] = (ptrdiff_t)j;
	r->b->mate[j] = (ptrdiff_t)i;
}

/* Pair the longest common subsequence: fill a table of steps from the end, then follow it. */
static void pair_longest(const struct range *r)
{
	enum { SKIP_A, SKIP_B, TAKE };
	size_t n = r->a1 - r->a0, m = r->b1 - r->b0;
	uint32_t *below = xcalloc(m + 1, sizeof(*below));
	uint32_t *row = xcalloc(m + 1, sizeof(*row)), *swap;
	uint8_t *step = xmalloc(n * m + 1);

	for (size_t i = n; i-- > 0;) {
		for (size_t j = m; j-- > 0;) {
			bool same = align_like(r, r->a0 + i, r->b0 + j);

			row[j] = same ? below[j + 1] + 1 :
				 below[j] >= row[j + 1] ? below[j] : row[j + 1];
			step[i * m + j] = same ? TAKE : below[j] >= row[j + 1] ? SKIP_A : SKIP_B;
		}
		swap = below;
		below = row;
		row = swap;
		row[m] = 0;
	}
	for (size_t i = 0, j = 0; i < n && j < m;) {
		uint8_t s = step[i * m + j];

		if (s == TAKE)
			pair(r, r->a0 + i, r->b0 + j);
		i += s != SKIP_B;
		j += s != SKIP_A;
	}
	free(step);
	free(row);
	free(below);
}

static void pair_range(struct range r)
{
	size_t from;

	while (r.a0 < r.a1 && r.b0 < r.b1 && align_like(&r, r.a0, r.b0)) {
		pair(&r, r.a0, r.b0);
		r.a0++, r.b0++;
	}
	while (r.a0 < r.a1 && r.b0 < r.b1 && align_like(&r, r.a1 - 1, r.b1 - 1)) {
		pair(&r, r.a1 - 1, r.b1 - 1);
		r.a1--, r.b1--;
	}
	if (r.a0 == r.a1 || r.b0 == r.b1)
		return;
	if ((r.a1 - r.a0) <= CELLS_MAX / (r.b1 - r.b0)) {
		pair_longest(&r);
		return;
	}
	/* they differ much: pair each member with the next like one, without a table */
	from = r.b0;
	for (size_t i = r.a0; i < r.a1; i++) {
		size_t j = from, end = from + WINDOW < r.b1 ? from + WINDOW : r.b1;

		while (j < end && !align_like(&r, i, j))
			j++;
		if (j >= end)
			continue;
		pair(&r, i, j);
		from = j + 1;
	}
}

/* Pair what is left in any order: map a token to its first unpaired member; next links others. */
static void pair_anywhere(struct align_side *a, struct align_side *b, size_t level)
{
	size_t *next = xcalloc(b->n + 1, sizeof(*next));
	struct map first = { 0 };
	uint64_t token;

	for (size_t j = b->n; j-- > 0;) {
		token = b->token[level][j];
		if (!token || b->mate[j] >= 0)
			continue;
		next[j] = (uintptr_t)map_get(&first, token);
		map_set(&first, token, (void *)(uintptr_t)(j + 1));
	}
	for (size_t i = 0; i < a->n; i++) {
		size_t j;

		token = a->token[level][i];
		j = token && a->mate[i] < 0 ? (uintptr_t)map_get(&first, token) : 0;
		if (!j--)
			continue;
		a->mate[i] = (ptrdiff_t)j;
		b->mate[j] = (ptrdiff_t)i;
		a->moved[i] = b->moved[j] = true;
		if (next[j])
			map_set(&first, token, (void *)(uintptr_t)next[j]);
		else
			map_del(&first, token);
	}
	map_free(&first);
	free(next);
}

void align(struct align_side *a, struct align_side *b, size_t levels)
{
	for (size_t l = 0; l < levels; l++) {
		struct range r = { .a = a, .b = b, .level = l };

		/* the members between existing pairs, which are all in order */
		for (size_t i = 0; i <= a->n; i++) {
			if (i < a->n && a->mate[i] < 0)
				continue;
			r.a1 = i;
			r.b1 = i < a->n ? (size_t)a->mate[i] : b->n;
			pair_range(r);
			r.a0 = i + 1, r.b0 = r.b1 + 1;
		}
	}
	for (size_t l = 0; l < levels; l++)
		pair_anywhere(a, b, l);
}
