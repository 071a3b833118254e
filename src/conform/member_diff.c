// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/compare.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

enum { SAME_NAME = 6, SAME_BITS = 2, SAME_WHEN = 3, OTHER_NAME = 3 };

struct diff {
	const struct api_struct *known, *stated;
	size_t *match_known;	/* by index in known: index in stated, SIZE_MAX: no match */
	size_t *match_stated;	/* the reverse */
	bool shifts;		/* a reported difference moves the members after it */
	member_diff_fn *hook;
	void *ctx;
};

/* Return true if the lists have a common word, or both are NULL. */
static bool when_meets(const char *a, const char *b)
{
	size_t n;

	if (!a || !b)
		return a == b;
	for (const char *s; (s = text_item(&a, ' ', &n));)
		if (text_has_item(b, ' ', s, n))
			return true;
	return false;
}

static bool same_width(const struct api_member *a, const struct api_member *b)
{
	if (a->reserved && b->reserved)
		return true;
	if (a->type && b->type && !a->array != !b->array)
		return false;
	/* structures are compared by name */
	if (a->type && b->type &&
	    (!strncmp(a->type, "struct ", 7) || !strncmp(a->type, "union ", 6)))
		return !strcmp(a->type, b->type);
	return !a->bits || !b->bits || a->bits == b->bits;
}

static bool at_same_place(const struct api_member *a, const struct api_member *b)
{
	return a->start == b->start && a->bits == b->bits;
}

/* Return how well two members match; 0: they do not. */
static unsigned int member_fit(const struct api_member *a, const struct api_member *b)
{
	bool when = when_meets(a->when, b->when) || !a->when;

	if (!strcmp(a->name, b->name))
		return SAME_NAME + (same_width(a, b) ? SAME_BITS : 0) + (when ? SAME_WHEN : 0);
	if (a->reserved != b->reserved || !when || !same_width(a, b) || a->bits != b->bits)
		return 0;
	if (a->placed && b->placed && !at_same_place(a, b))
		return 0;
	return OTHER_NAME;
}

/* Align the two lists: dynamic programming over the best scores of their tails. */
static void align_members(struct diff *d)
{
	size_t n = d->known->n, m = d->stated->n, w = m + 1, i, j;
	unsigned int *best = xcalloc((n + 1) * w, sizeof(*best));

	for (i = n; i-- > 0;)
		for (j = m; j-- > 0;) {
			unsigned int fit = member_fit(&d->known->members[i],
						      &d->stated->members[j]);
			unsigned int with = fit ? fit + best[(i + 1) * w + j + 1] : 0;
			unsigned int *b = &best[i * w + j];

			*b = best[(i + 1) * w + j];
			if (best[i * w + j + 1] > *b)
				*b = best[i * w + j + 1];
			if (with > *b)
				*b = with;
		}
	for (i = j = 0; i < n && j < m;) {
		unsigned int fit = member_fit(&d->known->members[i], &d->stated->members[j]);

		if (fit && best[i * w + j] == fit + best[(i + 1) * w + j + 1]) {
			d->match_known[i] = j;
			d->match_stated[j] = i;
			i++;
			j++;
		} else if (best[i * w + j] == best[(i + 1) * w + j]) {
			i++;
		} else {
			j++;
		}
	}
	free(best);
}

static void report_diff(struct diff *d, enum finding_kind kind, const struct api_member *known,
			const struct api_member *stated)
{
	d->shifts |= kind == FINDING_MEMBER_ORDER || kind == FINDING_MEMBER_WIDTH;
	d->hook(d->ctx, kind, known, stated);
}

/* Match unmatched members of the same name: they have changed their position. */
static void match_moved(struct diff *d)
{
	for (size_t i = 0; i < d->known->n; i++) {
		const struct api_member *a = &d->known->members[i];

		for (size_t j = 0; j < d->stated->n && d->match_known[i] == SIZE_MAX; j++) {
			const struct api_member *b = &d->stated->members[j];

			if (d->match_stated[j] != SIZE_MAX || strcmp(a->name, b->name) ||
			    (a->when && !when_meets(a->when, b->when)))
				continue;
			d->match_known[i] = j;
			d->match_stated[j] = i;
			if (!a->placed || !b->placed || !at_same_place(a, b))
				report_diff(d, FINDING_MEMBER_ORDER, a, b);
		}
	}
}

/* Return true if m names the word of bit-fields that both have, as a member of their union. */
static bool is_whole(const struct diff *d, const struct api_member *m)
{
	bool found = false;

	for (size_t i = 0; m->placed && i < d->known->n; i++) {
		const struct api_member *k = &d->known->members[i];

		if (!k->placed || k->reserved || k->bits == m->bits || k->start < m->start ||
		    k->start + k->bits > m->start + m->bits)
			continue;
		if (d->match_known[i] == SIZE_MAX)
			return false;
		found = true;
	}
	return found;
}

static void report_unmatched(struct diff *d)
{
	for (size_t i = 0; i < d->known->n; i++) {
		const struct api_member *m = &d->known->members[i];
		bool covered = d->stated->left_over;	/* by a reserved member of stated */

		for_each(s, d->stated->members, d->stated->n)
			covered |= s->reserved && s->placed && s->start <= m->start &&
				   m->start + m->bits <= s->start + s->bits;
		if (d->match_known[i] == SIZE_MAX && !(m->reserved && covered))
			report_diff(d, FINDING_MEMBER_MISSING, m, NULL);
	}
	for (size_t j = 0; j < d->stated->n; j++)
		if (d->match_stated[j] == SIZE_MAX && !d->stated->members[j].reserved &&
		    !is_whole(d, &d->stated->members[j]))
			report_diff(d, FINDING_MEMBER_EXTRA, NULL, &d->stated->members[j]);
}

/* Report how matched members differ, and the first at a wrong place: those after it follow. */
static void report_matched(struct diff *d)
{
	const struct api_member *shifted = NULL, *to = NULL;

	for (size_t i = 0; i < d->known->n; i++) {
		const struct api_member *a = &d->known->members[i], *b;

		if (d->match_known[i] == SIZE_MAX)
			continue;
		b = &d->stated->members[d->match_known[i]];
		if (strcmp(a->name, b->name))
			report_diff(d, FINDING_MEMBER_NAME, a, b);
		if (!same_width(a, b))
			report_diff(d, FINDING_MEMBER_WIDTH, a, b);
		if (a->sign && b->sign && a->sign != b->sign)
			report_diff(d, FINDING_MEMBER_SIGN, a, b);
		if (a->when && !when_meets(a->when, b->when))
			report_diff(d, FINDING_MEMBER_WHEN, a, b);
		if (!shifted && !a->reserved && a->placed && b->placed && a->start != b->start) {
			shifted = a;
			to = b;
		}
	}
	if (shifted && !d->shifts)
		report_diff(d, FINDING_MEMBER_PLACE, shifted, to);
}

void member_diff(const struct api_struct *known, const struct api_struct *stated,
		 member_diff_fn *hook, void *ctx)
{
	struct diff d = {
		.known = known, .stated = stated, .hook = hook, .ctx = ctx,
		.match_known = xmalloc((known->n + 1) * sizeof(size_t)),
		.match_stated = xmalloc((stated->n + 1) * sizeof(size_t)),
	};

	memset(d.match_known, 0xff, known->n * sizeof(size_t));
	memset(d.match_stated, 0xff, stated->n * sizeof(size_t));
	align_members(&d);
	match_moved(&d);
	report_unmatched(&d);
	report_matched(&d);
	if (stated->left_over)
		report_diff(&d, FINDING_BITS, NULL, NULL);
	free(d.match_known);
	free(d.match_stated);
}
