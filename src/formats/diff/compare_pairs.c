// SPDX-License-Identifier: LGPL-2.1-or-later
/* Pairing the opens, and thereby the events, and then the other calls of both sides. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "formats/diff/compare_internal.h"

/* Both sides are sorted by name. */
void compare_each_task(struct comparison *c,
		       void (*hook)(struct comparison *c, const struct both *t))
{
	size_t i = 0, j = 0;

	while (i < c->a->ntasks || j < c->b->ntasks) {
		struct both t = {
			i < c->a->ntasks ? c->a->tasks[i] : NULL,
			j < c->b->ntasks ? c->b->tasks[j] : NULL,
		};
		int order = !t.a ? 1 : !t.b ? -1 : strverscmp(t.a->name, t.b->name);

		if (order > 0)
			t.a = NULL;
		if (order < 0)
			t.b = NULL;
		i += !!t.a;
		j += !!t.b;
		hook(c, &t);
	}
}

/* Find in the tables which members identify an event. */
static void learn_roles(struct comparison *c)
{
	const struct layout *l = &layout_perf_event_attr;
	struct map seen = { 0 };

	for (const struct field *f = l->fields; f < l->fields + l->n; f++) {
		uint64_t h = hash_text(HASH_START, f->name);
		bool role = f->kind == FIELD_PMU || f->kind == FIELD_CONFIG ||
			    f->kind == FIELD_CONFIGX || f->kind == FIELD_ADDR ||
			    f->kind == FIELD_STRING || f->when.op == COND_PMU ||
			    (f->when.op != COND_NONE && f->when.field == ATTR_TYPE);

		/* of members with one name, the first counts */
		if (!map_set(&seen, h, c) && role)
			map_set(&c->roles, h, c);
	}
	map_free(&seen);
}

/*
 * Return a hash of the value: of its text and of the events in it.  A collision hides no
 * difference: see compare_same_item().
 */
static uint64_t value_token(uint64_t h, const struct normal *n, const struct normal_item *i,
			    const char *value)
{
	const char *start = value;
	uint32_t place;
	size_t before;

	while (normal_next_ref(&value, &before, &place)) {
		h = hash_bytes(h, start, before);
		h = hash_word(h, normal_ref(n, i, place)->ident);
		start = value;
	}
	return hash_bytes(h, start, before + 1);
}

/*
 * 0: everything, but the number in the result; 1: the role and what was
 * chosen to be compared; 2: the role; 3: the role on whatever CPU.
 */
static uint64_t open_token(const struct comparison *c, const struct normal *n,
			   const struct normal_item *i, int level)
{
	const struct normal_choice ignored = {
		.ignore = c->choice->ignore, .nignore = c->choice->nignore,
	};
	const struct normal_form *form = normal_form(n, i);
	uint64_t h = HASH_START;

	for_each(f, form->fields, form->nfields) {
		bool role = map_get(&c->roles, hash_text(HASH_START, f->key)) ||
			    !strcmp(f->key, "pid") || (!strcmp(f->key, "cpu") && level < 3);
		bool chosen = level < 2 && normal_chosen(level ? c->choice : &ignored,
							 form->desc->name, f->key);

		if (!role && !chosen)
			continue;
		h = hash_text(h, f->key);
		if (!strcmp(f->key, "result") && *f->value == REF_START)
			h = hash_text(h, "ok"); /* the descriptor's number may differ */
		else
			h = value_token(h, n, i, f->value);
	}
	return hash_word(h, (uint64_t)level) | 1; /* 0 is never alike */
}

/* List the task's opens, which are few among its calls. */
static const struct normal_item **opens_of(const struct comparison *c, const struct normal *n,
					   struct normal_task *t, struct align_side *s)
{
	const struct normal_item **opens = NULL;

	t->nopens = 0;
	for (size_t i = 0; i < t->nitems; i++) {
		if (!normal_is_open(n, &t->items[i]))
			continue;
		APPEND(opens, t->nopens) = &t->items[i];
	}
	align_init(s, t->nopens, ALIGN_LEVELS);
	for (size_t i = 0; i < t->nopens; i++)
		for (int level = 0; level < ALIGN_LEVELS; level++)
			s->token[level][i] = open_token(c, n, opens[i], level);
	t->open_mates = xcalloc(t->nopens + 1, sizeof(*t->open_mates));
	return opens;
}

static void pair_opens(struct comparison *c, const struct both *t)
{
	struct align_side a, b;
	const struct normal_item **as, **bs;

	if (!t->a || !t->b)
		return;
	as = opens_of(c, c->a, t->a, &a);
	bs = opens_of(c, c->b, t->b, &b);
	align(&a, &b, ALIGN_LEVELS);
	for (size_t i = 0; i < a.n; i++) {
		struct normal_event *e, *f;

		if (a.mate[i] < 0)
			continue;
		t->a->open_mates[i] = (uint32_t)a.mate[i] + 1;
		t->b->open_mates[a.mate[i]] = (uint32_t)i + 1;
		e = normal_subject(c->a, as[i]);
		f = normal_subject(c->b, bs[a.mate[i]]);
		if (e)
			e->paired = true;
		if (f)
			f->paired = true;
		if (e && f)
			f->mate = e;
	}
	align_free(&a);
	align_free(&b);
	free(as);
	free(bs);
}

/* Identity of events ---------------------------------------------------------------- */

static void identify(const struct normal *n)
{
	static const struct normal_task nobody = { .name = "" };
	struct buf name = { 0 };

	for (size_t i = 0; i < n->nevents; i++) {
		struct normal_event *e = normal_event_at(n, i);

		buf_reset(&name);
		normal_event_name(&nobody, e, &name);
		e->ident = hash_text(HASH_START, buf_str(&name));
	}
	buf_free(&name);
}

void compare_pair_events(struct comparison *c)
{
	struct map taken = { 0 };

	learn_roles(c);
	identify(c->a);
	identify(c->b);
	compare_each_task(c, pair_opens);
	map_free(&c->roles);
	/* rename events of b that have no mate and the name of an event of a */
	for (size_t i = 0; i < c->a->nevents; i++)
		map_set(&taken, normal_event_at(c->a, i)->ident, c);
	for (size_t i = 0; i < c->b->nevents; i++) {
		struct normal_event *e = normal_event_at(c->b, i);

		e->renamed = !e->mate && e->opened && map_get(&taken, e->ident);
	}
	map_free(&taken);
	identify(c->b);
}

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

/* Return a token of the call and its subject. */
static uint64_t call_token(const struct normal *n, const struct normal_item *i)
{
	const struct normal_event *e = normal_subject(n, i);

	return hash_word(hash_word(HASH_START, normal_form(n, i)->desc->id), e ? e->ident : 0);
}

/* Return a token of the whole call, as far as its fields were chosen. */
static uint64_t line_token(const struct comparison *c, const struct normal *n,
			   const struct normal_item *i)
{
	const struct normal_form *form = normal_form(n, i);
	uint64_t h = call_token(n, i); /* --only may exclude all other fields */

	for (size_t k = 0; k < form->nfields; k++) {
		if (!normal_chosen(c->choice, form->desc->name, form->fields[k].key))
			continue;
		h = hash_text(h, form->fields[k].key);
		h = value_token(h, n, i, form->fields[k].value);
	}
	return h | 1;
}

/* Return a token of the call, its request and its subject. */
static uint64_t sort_token(const struct normal *n, const struct normal_item *i)
{
	const struct normal_form *form = normal_form(n, i);
	const char *request = normal_get(form, "request");

	return hash_text(hash_word(call_token(n, i), form->late), request ? request : "") | 1;
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

/* Move to the next item, or to the previous one, which must exist. */
static void forward(struct cursor *at)
{
	at->open += normal_is_open(at->n, &at->t->items[at->item++]);
}

static void back(struct cursor *at)
{
	at->open -= normal_is_open(at->n, &at->t->items[--at->item]);
}

void pairing_make(const struct comparison *c, struct pairing *p)
{
	struct cursor a = { .n = c->a, .t = p->t.a }, b = { .n = c->b, .t = p->t.b };
	size_t na = a.t ? a.t->nitems : 0, nb = b.t ? b.t->nitems : 0;

	if (a.t && b.t) {
		struct cursor x = { c->a, a.t, na, a.t->nopens };
		struct cursor y = { c->b, b.t, nb, b.t->nopens };

		while (a.item < na && b.item < nb && compare_alike(c, &a, &b)) {
			forward(&a);
			forward(&b);
		}
		p->head = a.item;
		while (x.item > p->head && y.item > p->head) {
			back(&x);
			back(&y);
			if (!compare_alike(c, &x, &y))
				break;
			p->tail++;
		}
	}
	align_init(&p->a, na - p->head - p->tail, 2);
	align_init(&p->b, nb - p->head - p->tail, 2);
	if (!a.t || !b.t)
		return;
	item_tokens(c, a, true, &p->a);
	item_tokens(c, b, false, &p->b);
	align(&p->a, &p->b, 2);
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
