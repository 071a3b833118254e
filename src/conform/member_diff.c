// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/member_diff.h"

#include <stdlib.h>
#include <string.h>

#include "lib/die.h"

enum { SAME_NAME = 6, SAME_BITS = 2, SAME_WHEN = 3, OTHER_NAME = 3 };

struct diff {
	const struct api_struct *right, *said;
	size_t *of_right;	/* by index: whom it belongs to in said; SIZE_MAX: nobody */
	size_t *of_said;
	bool shifts;		/* something was told that moves all behind it */
	void (*hook)(void *ctx, enum member_diff_kind kind, const struct api_member *right,
		     const struct api_member *said);
	void *ctx;
};

/* Whether the lists have a word in common; so have two that are empty. */
static bool when_meets(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	while (*a) {
		size_t n = strcspn(a, " ");

		for (const char *s = b; *s; s += strcspn(s, " "), s += *s == ' ')
			if (strcspn(s, " ") == n && !memcmp(a, s, n))
				return true;
		a += n + (a[n] == ' ');
	}
	return false;
}

static bool is_type(const char *type, const char *kind)
{
	return type && !strncmp(type, kind, strlen(kind));
}

static bool same_width(const struct api_member *a, const struct api_member *b)
{
	if (a->reserved && b->reserved)
		return true;
	if (a->type && b->type && !a->array != !b->array)
		return false;
	/* structures are told by their names */
	if ((is_type(a->type, "struct ") || is_type(a->type, "union ")) && b->type)
		return !strcmp(a->type, b->type);
	return !a->bits || !b->bits || a->bits == b->bits;
}

static bool same_place(const struct api_member *a, const struct api_member *b)
{
	return a->start == b->start && a->bits == b->bits;
}

/* How well two members go together; 0: not at all. */
static unsigned int fits(const struct api_member *a, const struct api_member *b)
{
	bool when = when_meets(a->when, b->when) || !a->when;

	if (!strcmp(a->name, b->name))
		return SAME_NAME + (same_width(a, b) ? SAME_BITS : 0) + (when ? SAME_WHEN : 0);
	if (a->reserved != b->reserved || !when || !same_width(a, b) || a->bits != b->bits)
		return 0;
	if (a->placed && b->placed && !same_place(a, b))
		return 0;
	return OTHER_NAME;
}

/* The best alignment of the two lists, by the table of the best of all their ends. */
static void align(struct diff *d)
{
	size_t n = d->right->n, m = d->said->n, w = m + 1, i, j;
	unsigned int *best = xcalloc((n + 1) * w, sizeof(*best));

	for (i = n; i-- > 0;)
		for (j = m; j-- > 0;) {
			unsigned int fit = fits(&d->right->members[i], &d->said->members[j]);
			unsigned int with = fit ? fit + best[(i + 1) * w + j + 1] : 0;
			unsigned int *b = &best[i * w + j];

			*b = best[(i + 1) * w + j];
			if (best[i * w + j + 1] > *b)
				*b = best[i * w + j + 1];
			if (with > *b)
				*b = with;
		}
	for (i = j = 0; i < n && j < m;) {
		unsigned int fit = fits(&d->right->members[i], &d->said->members[j]);

		if (fit && best[i * w + j] == fit + best[(i + 1) * w + j + 1]) {
			d->of_right[i] = j;
			d->of_said[j] = i;
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

static void tell(struct diff *d, enum member_diff_kind kind, const struct api_member *right,
		 const struct api_member *said)
{
	d->shifts |= kind == MEMBER_ORDER || kind == MEMBER_WIDTH;
	d->hook(d->ctx, kind, right, said);
}

/* What is left over on both sides under one name has changed its place. */
static void match_moved(struct diff *d)
{
	for (size_t i = 0; i < d->right->n; i++) {
		const struct api_member *a = &d->right->members[i];

		for (size_t j = 0; j < d->said->n && d->of_right[i] == SIZE_MAX; j++) {
			const struct api_member *b = &d->said->members[j];

			if (d->of_said[j] != SIZE_MAX || strcmp(a->name, b->name) ||
			    (a->when && !when_meets(a->when, b->when)))
				continue;
			d->of_right[i] = j;
			d->of_said[j] = i;
			if (!a->placed || !b->placed || !same_place(a, b))
				tell(d, MEMBER_ORDER, a, b);
		}
	}
}

/* A word of reserved bytes in said covers it. */
static bool covered(const struct diff *d, const struct api_member *m)
{
	for (size_t i = 0; i < d->said->n; i++) {
		const struct api_member *s = &d->said->members[i];

		if (s->reserved && s->placed && s->start <= m->start &&
		    m->start + m->bits <= s->start + s->bits)
			return true;
	}
	return false;
}

static void tell_unmatched(struct diff *d)
{
	for (size_t i = 0; i < d->right->n; i++) {
		const struct api_member *m = &d->right->members[i];

		if (d->of_right[i] == SIZE_MAX &&
		    !(m->reserved && (covered(d, m) || d->said->left_over)))
			tell(d, MEMBER_MISSING, m, NULL);
	}
	for (size_t j = 0; j < d->said->n; j++)
		if (d->of_said[j] == SIZE_MAX && !d->said->members[j].reserved)
			tell(d, MEMBER_EXTRA, NULL, &d->said->members[j]);
}

static void tell_matched(struct diff *d)
{
	for (size_t i = 0; i < d->right->n; i++) {
		const struct api_member *a = &d->right->members[i], *b;

		if (d->of_right[i] == SIZE_MAX)
			continue;
		b = &d->said->members[d->of_right[i]];
		if (strcmp(a->name, b->name))
			tell(d, MEMBER_NAME, a, b);
		if (!same_width(a, b))
			tell(d, MEMBER_WIDTH, a, b);
		if (a->when && !when_meets(a->when, b->when))
			tell(d, MEMBER_WHEN, a, b);
	}
}

/* One member in a wrong place takes those behind it along. */
static void tell_place(struct diff *d)
{
	for (size_t i = 0; i < d->right->n; i++) {
		const struct api_member *a = &d->right->members[i], *b;

		if (d->of_right[i] == SIZE_MAX || a->reserved)
			continue;
		b = &d->said->members[d->of_right[i]];
		if (a->placed && b->placed && a->start != b->start) {
			tell(d, MEMBER_PLACE, a, b);
			return;
		}
	}
}

void member_diff(const struct api_struct *right, const struct api_struct *said,
		 void (*hook)(void *ctx, enum member_diff_kind kind,
			      const struct api_member *right, const struct api_member *said),
		 void *ctx)
{
	struct diff d = {
		.right = right, .said = said, .hook = hook, .ctx = ctx,
		.of_right = xmalloc((right->n + 1) * sizeof(size_t)),
		.of_said = xmalloc((said->n + 1) * sizeof(size_t)),
	};

	memset(d.of_right, 0xff, right->n * sizeof(size_t));
	memset(d.of_said, 0xff, said->n * sizeof(size_t));
	align(&d);
	match_moved(&d);
	tell_unmatched(&d);
	tell_matched(&d);
	if (!d.shifts)
		tell_place(&d);
	if (said->left_over)
		tell(&d, MEMBER_LEFT_OVER, NULL, NULL);
	free(d.of_right);
	free(d.of_said);
}
