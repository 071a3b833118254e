// SPDX-License-Identifier: LGPL-2.1-or-later
/* Pairing the calls of both sides. */
#include "formats/diff/compare_internal.h"

#include "core/lib/hash.h"

/* A position in a task's items, counted from one end, and that of the next open. */
struct cursor {
	const struct normal *n;
	const struct normal_task *t;
	size_t item, open;
};

bool compare_same_item(const struct comparison *c, const struct normal_item *x,
		       const struct normal_item *y)
{
	uint32_t nrefs;

	if (x->form != y->form)
		return false;
	nrefs = normal_form(c->a, x)->nrefs;
	for (uint32_t i = 0; i < nrefs; i++)
		if (normal_ref(c->a, x, i)->ident != normal_ref(c->b, y, i)->ident)
			return false;
	return true;
}

static uint64_t subject_token(const struct normal *n, const struct normal_item *i)
{
	const struct normal_event *e = normal_subject(n, i);

	return e ? e->ident : 0;
}

/* Return a token of the whole call, as far as its fields were chosen. */
static uint64_t line_token(const struct comparison *c, const struct normal *n,
			   const struct normal_item *i)
{
	const struct normal_form *form = normal_form(n, i);
	/* --only may exclude all other fields */
	uint64_t h = hash_word(hash_word(HASH_START, form->desc->id), subject_token(n, i));

	for (size_t k = 0; k < form->nfields; k++) {
		if (!normal_chosen(c->choice, form->desc->name, form->fields[k].key))
			continue;
		h = hash_text(h, form->fields[k].key);
		h = compare_value_token(h, n, i, form->fields[k].value);
	}
	return h | 1;
}

/* Return a token of the call, its request and its subject. */
static uint64_t sort_token(const struct normal *n, const struct normal_item *i)
{
	const struct normal_form *form = normal_form(n, i);
	const char *request = normal_get(form, "request");
	uint64_t h = hash_word(hash_word(HASH_START, form->desc->id), subject_token(n, i));

	return hash_text(hash_word(h, form->late), request ? request : "") | 1;
}

/* Return the mate of the open at the cursor; for b's, itself if it has one. */
static uint64_t open_mate(const struct cursor *at, bool first)
{
	uint32_t mate = at->t->open_mates[at->open];

	return !first ? mate : mate ? at->open + 1 : 0;
}

/* Level 0: line_token(), or the mate of an open; level 1: sort_token(). */
static void item_tokens(const struct comparison *c, struct cursor at, bool first,
			struct align_side *s)
{
	for (size_t i = 0; i < s->n; i++, at.item++) {
		const struct normal_item *x = &at.t->items[at.item];

		if (normal_is_open(at.n, x)) {
			s->token[0][i] = hash_word(0, open_mate(&at, first));
			at.open++;
		} else {
			s->token[0][i] = line_token(c, at.n, x);
			s->token[1][i] = sort_token(at.n, x);
		}
	}
}

/* Return whether item_tokens() would give both the same token at level 0. */
static bool compare_alike(const struct comparison *c, const struct cursor *a,
			  const struct cursor *b)
{
	const struct normal_item *x = &a->t->items[a->item], *y = &b->t->items[b->item];

	if (normal_is_open(a->n, x) || normal_is_open(b->n, y))
		return normal_is_open(a->n, x) && normal_is_open(b->n, y) && open_mate(a, true) &&
		       open_mate(a, true) == open_mate(b, false);
	return compare_same_item(c, x, y) || line_token(c, a->n, x) == line_token(c, b->n, y);
}

static void forward(struct cursor *at)
{
	at->open += normal_is_open(at->n, &at->t->items[at->item++]);
}

/* Move to the previous item, which must exist. */
static void back(struct cursor *at)
{
	at->open -= normal_is_open(at->n, &at->t->items[--at->item]);
}

static void pair_ends(const struct comparison *c, struct pairing *p, struct cursor *a,
		      struct cursor *b)
{
	struct cursor x = { c->a, p->t.a, p->t.a->nitems, p->t.a->nopens };
	struct cursor y = { c->b, p->t.b, p->t.b->nitems, p->t.b->nopens };

	while (a->item < x.item && b->item < y.item && compare_alike(c, a, b)) {
		forward(a);
		forward(b);
	}
	p->head = a->item;
	while (x.item > p->head && y.item > p->head) {
		back(&x);
		back(&y);
		if (!compare_alike(c, &x, &y))
			break;
		p->tail++;
	}
}

void pairing_make(const struct comparison *c, struct pairing *p)
{
	struct cursor a = { .n = c->a, .t = p->t.a }, b = { .n = c->b, .t = p->t.b };

	if (a.t && b.t)
		pair_ends(c, p, &a, &b);
	align_init(&p->a, (a.t ? a.t->nitems : 0) - p->head - p->tail, 2);
	align_init(&p->b, (b.t ? b.t->nitems : 0) - p->head - p->tail, 2);
	if (!a.t || !b.t)
		return;
	item_tokens(c, a, true, &p->a);
	item_tokens(c, b, false, &p->b);
	align(&p->a, &p->b, 2);
}

void pairing_free(struct pairing *p)
{
	align_free(&p->a);
	align_free(&p->b);
}

size_t pairing_mate(const struct pairing *p, bool first, size_t i)
{
	const struct align_side *s = first ? &p->a : &p->b, *o = first ? &p->b : &p->a;

	if (i < p->head)
		return i;
	if (i - p->head >= s->n)
		return i - s->n + o->n;
	return s->mate[i - p->head] < 0 ? NOBODY : (size_t)s->mate[i - p->head] + p->head;
}

bool pairing_moved(const struct comparison *c, const struct pairing *p, size_t i)
{
	return i >= p->head && i - p->head < p->a.n && p->a.moved[i - p->head] &&
	       !normal_form(c->a, &p->t.a->items[i])->late;
}
