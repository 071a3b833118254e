// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/compare.h"

#include <stdlib.h>
#include <string.h>

#include "dump/align.h"
#include "lib/die.h"
#include "lib/hash.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

struct comparison {
	struct normal *a, *b;
	const struct normal_choice *choice;
	struct map roles;	/* hashes of the members that say which event it is */
	void (*tell)(void *ctx, const struct difference *d);
	void *ctx;
	bool same;
};

/* Both sides of a task; either may be NULL. */
struct both {
	struct normal_task *a, *b;
};

enum { NOBODY = UINT32_MAX };

/*
 * The items of a task and whose mates they are.  What is the same at both ends
 * needs no list: only what lies between is aligned.
 */
struct pairing {
	struct both t;
	size_t head, tail;		/* items that are the same at either end */
	struct align_side a, b;		/* of those between */
};

/* A task's items from one end on, with the place of the next open. */
struct cursor {
	const struct normal *n;
	const struct normal_task *t;
	size_t item, open;
};

/* Which opens are each other's likes ------------------------------------------------ */

/* Members of an attr that say which event it is, and not how it is taken. */
static bool says_role(const struct field *f)
{
	return f->kind == FIELD_PMU || f->kind == FIELD_CONFIG || f->kind == FIELD_CONFIGX ||
	       f->kind == FIELD_ADDR || f->kind == FIELD_STRING || f->when.op == COND_PMU ||
	       (f->when.op != COND_NONE && f->when.field == ATTR_TYPE);
}

static void learn_roles(struct comparison *c)
{
	const struct layout *l = &layout_perf_event_attr;
	struct map seen = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];
		uint64_t h = hash_text(HASH_START, f->name);

		/* of members of one name, the first tells */
		if (!map_set(&seen, h, c) && says_role(f))
			map_set(&c->roles, h, c);
	}
	map_free(&seen);
}

static bool is_role(const struct comparison *c, const char *key)
{
	return map_get(&c->roles, hash_text(HASH_START, key));
}

/*
 * A number for the value: the text, and the events in it.  Where two differ and
 * have the same number, that is told all the same: see same_item().
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

	for (size_t k = 0; k < form->nfields; k++) {
		const struct normal_field *f = &form->fields[k];
		bool role = is_role(c, f->key) || !strcmp(f->key, "pid") ||
			    (!strcmp(f->key, "cpu") && level < 3);
		bool chosen = level < 2 && normal_chosen(level ? c->choice : &ignored,
							 form->desc->name, f->key);

		if (!role && !chosen)
			continue;
		h = hash_text(h, f->key);
		if (!strcmp(f->key, "result") && *f->value == REF_START)
			h = hash_text(h, "ok"); /* its number may be another */
		else
			h = value_token(h, n, i, f->value);
	}
	return hash_word(h, (uint64_t)level) | 1; /* 0 is like nothing */
}

static bool is_open(const struct normal *n, const struct normal_item *i)
{
	return normal_form(n, i)->desc->class == CLASS_OPEN;
}

/* The task's opens, which are few beside its other calls. */
static const struct normal_item **opens_of(const struct comparison *c, const struct normal *n,
					   struct normal_task *t, struct align_side *s)
{
	const struct normal_item **opens;
	size_t count = 0;

	for (size_t i = 0; i < t->nitems; i++)
		count += is_open(n, &t->items[i]);
	opens = xcalloc(count + 1, sizeof(*opens));
	align_init(s, count, ALIGN_LEVELS);
	count = 0;
	for (size_t i = 0; i < t->nitems; i++)
		if (is_open(n, &t->items[i]))
			opens[count++] = &t->items[i];
	for (size_t i = 0; i < count; i++)
		for (int level = 0; level < ALIGN_LEVELS; level++)
			s->token[level][i] = open_token(c, n, opens[i], level);
	t->nopens = count;
	t->open_mates = xcalloc(count + 1, sizeof(*t->open_mates));
	return opens;
}

static void pair_open(const struct comparison *c, const struct normal_item *x,
		      const struct normal_item *y)
{
	struct normal_event *e = normal_subject(c->a, x), *f = normal_subject(c->b, y);

	if (e)
		e->paired = true;
	if (f)
		f->paired = true;
	if (e && f)
		f->mate = e;
}

static void pair_opens(struct comparison *c, const struct both *t)
{
	struct align_side a, b;
	const struct normal_item **as = opens_of(c, c->a, t->a, &a);
	const struct normal_item **bs = opens_of(c, c->b, t->b, &b);

	align(&a, &b, ALIGN_LEVELS);
	for (size_t i = 0; i < a.n; i++) {
		if (a.mate[i] < 0)
			continue;
		t->a->open_mates[i] = (uint32_t)a.mate[i] + 1;
		t->b->open_mates[a.mate[i]] = (uint32_t)i + 1;
		pair_open(c, as[i], bs[a.mate[i]]);
	}
	align_free(&a);
	align_free(&b);
	free(as);
	free(bs);
}

/* Which events are the same --------------------------------------------------------- */

/* An event is its name, as every task sees it. */
static uint64_t name_token(const struct normal_event *e, struct buf *scratch)
{
	static const struct normal_task nobody = { .name = "" };

	buf_reset(scratch);
	normal_event_name(&nobody, e, scratch);
	return hash_text(HASH_START, buf_str(scratch));
}

static void identify(const struct normal *n)
{
	struct buf scratch = { 0 };

	for (size_t i = 0; i < n->nevents; i++)
		normal_event_at(n, i)->ident = name_token(normal_event_at(n, i), &scratch);
	buf_free(&scratch);
}

/* b's events without a mate must not go by a name that a's have taken. */
static void rename_rest(struct comparison *c)
{
	struct map taken = { 0 };

	for (size_t i = 0; i < c->a->nevents; i++)
		map_set(&taken, normal_event_at(c->a, i)->ident, c);
	for (size_t i = 0; i < c->b->nevents; i++) {
		struct normal_event *e = normal_event_at(c->b, i);

		e->renamed = !e->mate && e->opened && map_get(&taken, e->ident);
	}
	map_free(&taken);
	identify(c->b);
}

/* Which calls are each other's likes -------------------------------------------------- */

/* The same call on the same events, whatever was chosen? */
static bool same_item(const struct comparison *c, const struct normal_item *x,
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

/* The same call to the letter, as far as it was chosen. */
static uint64_t line_token(const struct comparison *c, const struct normal *n,
			   const struct normal_item *i)
{
	const struct normal_form *form = normal_form(n, i);
	/* --only may leave nothing else of it */
	uint64_t h = hash_word(hash_word(HASH_START, form->desc->id), subject_token(n, i));

	for (size_t k = 0; k < form->nfields; k++) {
		if (!normal_chosen(c->choice, form->desc->name, form->fields[k].key))
			continue;
		h = hash_text(h, form->fields[k].key);
		h = value_token(h, n, i, form->fields[k].value);
	}
	return h | 1;
}

/* The same sort of call. */
static uint64_t sort_token(const struct normal *n, const struct normal_item *i)
{
	const struct normal_form *form = normal_form(n, i);
	const char *request = normal_get(form, "request");
	uint64_t h = hash_word(hash_word(HASH_START, form->desc->id), subject_token(n, i));

	return hash_text(hash_word(h, form->late), request ? request : "") | 1;
}

/* The mate of the open at the cursor; for b's, itself where it has one. */
static uint64_t open_mate(const struct cursor *at, bool first)
{
	uint32_t mate = at->t->open_mates[at->open];

	return !first ? mate : mate ? at->open + 1 : 0;
}

/* 0: as line_token(), or the mate of an open; 1: the same sort. */
static void item_tokens(const struct comparison *c, struct cursor at, bool first,
			struct align_side *s)
{
	for (size_t i = 0; i < s->n; i++, at.item++) {
		const struct normal_item *x = &at.t->items[at.item];

		if (is_open(at.n, x)) {
			s->token[0][i] = hash_word(0, open_mate(&at, first));
			at.open++;
		} else {
			s->token[0][i] = line_token(c, at.n, x);
			s->token[1][i] = sort_token(at.n, x);
		}
	}
}

/* What item_tokens() would make the same token of at level 0. */
static bool like(const struct comparison *c, const struct cursor *a, const struct cursor *b)
{
	const struct normal_item *x = &a->t->items[a->item], *y = &b->t->items[b->item];

	if (is_open(a->n, x) || is_open(b->n, y))
		return is_open(a->n, x) && is_open(b->n, y) && open_mate(a, true) &&
		       open_mate(a, true) == open_mate(b, false);
	return same_item(c, x, y) || line_token(c, a->n, x) == line_token(c, b->n, y);
}

static void forward(struct cursor *at)
{
	at->open += is_open(at->n, &at->t->items[at->item++]);
}

/* To what stands before, which is there. */
static void back(struct cursor *at)
{
	at->open -= is_open(at->n, &at->t->items[--at->item]);
}

static void pair_ends(const struct comparison *c, struct pairing *p, struct cursor *a,
		      struct cursor *b)
{
	struct cursor x = { c->a, p->t.a, p->t.a->nitems, p->t.a->nopens };
	struct cursor y = { c->b, p->t.b, p->t.b->nitems, p->t.b->nopens };

	while (a->item < x.item && b->item < y.item && like(c, a, b)) {
		forward(a);
		forward(b);
	}
	p->head = a->item;
	while (x.item > p->head && y.item > p->head) {
		back(&x);
		back(&y);
		if (!like(c, &x, &y))
			break;
		p->tail++;
	}
}

static void pair_items(const struct comparison *c, struct pairing *p)
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

/* The mate of an item on that side; NOBODY: none. */
static size_t mate_of(const struct pairing *p, bool first, size_t i)
{
	const struct align_side *s = first ? &p->a : &p->b, *o = first ? &p->b : &p->a;

	if (i < p->head)
		return i;
	if (i - p->head >= s->n)
		return i - s->n + o->n;
	return s->mate[i - p->head] < 0 ? NOBODY : (size_t)s->mate[i - p->head] + p->head;
}

/* Has one of a's items its mate at another place, and does that mean something? */
static bool is_moved(const struct comparison *c, const struct pairing *p, size_t i)
{
	return i >= p->head && i - p->head < p->a.n && p->a.moved[i - p->head] &&
	       !normal_form(c->a, &p->t.a->items[i])->late;
}

/* Telling ----------------------------------------------------------------------------- */

static void tell(struct comparison *c, struct difference *d, const struct normal *n,
		 const struct normal_task *t, const struct normal_item *i)
{
	const struct normal_event *subject = normal_subject(n, i);
	struct buf line = { 0 }, what = { 0 };

	normal_line(n, t, i, c->choice, &line);
	if (subject)
		normal_event_name(t, subject, &what);
	d->task = t->name;
	d->call = normal_form(n, i)->desc->name;
	d->request = normal_get(normal_form(n, i), "request");
	d->what = what.data;
	d->line = buf_str(&line) + strlen(t->name) + 1;
	c->same = false;
	c->tell(c->ctx, d);
	buf_free(&line);
	buf_free(&what);
}

/* What one side alone has of a task, and for each item the next about its event. */
struct lone {
	struct comparison *c;
	const struct normal *n;
	const struct normal_task *t;
	const struct pairing *p;
	bool first;
	uint32_t *next;		/* NULL until somebody asks; NOBODY: no more */
};

static void link_lone(struct lone *l)
{
	struct map next = { 0 };

	l->next = xcalloc(l->t->nitems + 1, sizeof(*l->next));
	for (size_t i = l->t->nitems; i-- > 0;) {
		const struct normal_event *e = normal_subject(l->n, &l->t->items[i]);
		uint64_t key = e ? e->index + 1ULL : 0;

		l->next[i] = (uint32_t)((uintptr_t)map_get(&next, key) - 1);
		if (e && mate_of(l->p, l->first, i) == NOBODY)
			map_set(&next, key, (void *)(uintptr_t)(i + 1));
	}
	map_free(&next);
}

/* The calls that an event brings with it, by name, each once. */
static void followers(struct lone *l, size_t open, struct buf *out)
{
	const struct call_desc *last = NULL;

	if (!l->next)
		link_lone(l);
	for (uint32_t i = l->next[open]; i != NOBODY; i = l->next[i]) {
		const struct normal_form *f = normal_form(l->n, &l->t->items[i]);
		const char *request = normal_get(f, "request");

		if (!f->desc || (f->desc == last && !request))
			continue;
		buf_addf(out, "%s%s%s%s", out->len ? ", " : "", f->desc->name,
			 request ? " " : "", request ? request : "");
		last = f->desc;
	}
}

static void tell_alone(struct lone *l, size_t at)
{
	const struct normal_item *i = &l->t->items[at];
	const struct normal_form *f = normal_form(l->n, i);
	const struct normal_event *e = normal_subject(l->n, i);
	struct difference d = { .kind = l->first ? DIFF_REMOVED : DIFF_ADDED };
	bool made = e && f->desc->class == CLASS_OPEN;
	struct buf rest = { 0 };

	if (!normal_chosen(l->c->choice, f->desc->name, l->first ? "removed" : "added"))
		return;
	/* it is told of together with its event's open */
	if (e && !made && e->opened && !e->paired && e->opener == l->t)
		return;
	if (made)
		followers(l, at, &rest);
	d.followers = rest.data;
	tell(l->c, &d, l->n, l->t, i);
	buf_free(&rest);
}

/* A call of both sides. */
struct pair {
	const struct both *t;
	const struct normal_item *a, *b;
	const struct normal_form *fa, *fb;
};

static bool is_compared(const struct comparison *c, const struct pair *p, const char *key)
{
	if (!normal_chosen(c->choice, p->fa->desc->name, key))
		return false;
	if (!strcmp(key, "result")) /* an event and its mate */
		return !(p->fa->desc->class == CLASS_OPEN && normal_subject(c->a, p->a) &&
			 normal_subject(c->b, p->b));
	if (!strcmp(key, "cpu"))
		return !p->fa->masked && !p->fb->masked;
	if (!strcmp(key, "opens")) /* not every file tells */
		return normal_get(p->fa, key) && normal_get(p->fb, key);
	return true;
}

/* A field of either side against the other's; NULL reads as zero. */
static void tell_field(struct comparison *c, const struct pair *p, const char *key)
{
	struct difference d = { .kind = DIFF_CHANGED, .field = key };
	const char *x = normal_get(p->fa, key), *y = normal_get(p->fb, key);
	struct buf a = { 0 }, b = { 0 };

	if (!is_compared(c, p, key))
		return;
	if (x)
		normal_value(c->a, p->t->a, p->a, x, &a);
	if (y)
		normal_value(c->b, p->t->b, p->b, y, &b);
	if (strcmp(x ? buf_str(&a) : "0", y ? buf_str(&b) : "0")) {
		d.a = x ? buf_str(&a) : NULL;
		d.b = y ? buf_str(&b) : NULL;
		tell(c, &d, c->a, p->t->a, p->a);
	}
	buf_free(&a);
	buf_free(&b);
}

static void tell_pair(struct comparison *c, const struct both *t, const struct normal_item *a,
		      const struct normal_item *b)
{
	const struct pair p = { t, a, b, normal_form(c->a, a), normal_form(c->b, b) };

	if (same_item(c, a, b))
		return;
	for (size_t k = 0; k < p.fa->nfields; k++)
		tell_field(c, &p, p.fa->fields[k].key);
	for (size_t k = 0; k < p.fb->nfields; k++)
		if (!normal_get(p.fa, p.fb->fields[k].key))
			tell_field(c, &p, p.fb->fields[k].key);
}

static void tell_order(struct comparison *c, const struct both *t, const struct normal_item *i)
{
	struct difference d = { .kind = DIFF_ORDER };

	if (normal_chosen(c->choice, normal_form(c->a, i)->desc->name, "order"))
		tell(c, &d, c->a, t->a, i);
}

/* In a's order; what b alone has comes where its neighbours stand. */
static void tell_items(struct comparison *c, const struct pairing *p)
{
	struct lone a = { c, c->a, p->t.a, p, true, NULL };
	struct lone b = { c, c->b, p->t.b, p, false, NULL };
	size_t na = a.t ? a.t->nitems : 0, nb = b.t ? b.t->nitems : 0, j = 0;

	for (size_t i = 0; i < na; i++) {
		size_t mate = mate_of(p, true, i);

		if (mate == NOBODY) {
			tell_alone(&a, i);
			continue;
		}
		for (; !is_moved(c, p, i) && j < nb && j != mate; j++)
			if (mate_of(p, false, j) == NOBODY)
				tell_alone(&b, j);
		tell_pair(c, &p->t, &a.t->items[i], &b.t->items[mate]);
		if (is_moved(c, p, i))
			tell_order(c, &p->t, &a.t->items[i]);
	}
	for (; j < nb; j++)
		if (mate_of(p, false, j) == NOBODY)
			tell_alone(&b, j);
	free(a.next);
	free(b.next);
}

static void tell_task(struct comparison *c, const struct both *t)
{
	struct pairing p = { .t = *t };

	pair_items(c, &p);
	tell_items(c, &p);
	align_free(&p.a);
	align_free(&p.b);
}

/* Tasks go by their names, which both sides have sorted. */
static void each_task(struct comparison *c, bool alone,
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
		if (alone || (t.a && t.b))
			hook(c, &t);
	}
}

static void free_mates(const struct normal *n)
{
	for (size_t i = 0; i < n->ntasks; i++) {
		free(n->tasks[i]->open_mates);
		n->tasks[i]->open_mates = NULL;
	}
}

bool compare(struct normal *a, struct normal *b, const struct normal_choice *choice,
	     void (*tell)(void *ctx, const struct difference *d), void *ctx)
{
	struct comparison c = {
		.a = a, .b = b, .choice = choice, .tell = tell, .ctx = ctx, .same = true,
	};

	learn_roles(&c);
	identify(a);
	identify(b);
	each_task(&c, false, pair_opens);
	rename_rest(&c);
	each_task(&c, true, tell_task);
	free_mates(a);
	free_mates(b);
	map_free(&c.roles);
	return c.same;
}

/* Flags ------------------------------------------------------------------------------- */

static bool is_flags(const char *v)
{
	return v && (strchr(v, '+') || (*v >= 'A' && *v <= 'Z'));
}

static bool has_name(const char *set, const char *name, size_t n)
{
	for (const char *at = set; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL)
		if (!strncmp(at, name, n) && (!at[n] || at[n] == '+'))
			return true;
	return false;
}

/* The names in one set that the other has not, each with a space before it. */
static void missing(const char *set, const char *from, struct buf *out)
{
	while (set && *set && strcmp(set, "0")) {
		size_t n = strcspn(set, "+");

		if (!from || !has_name(from, set, n)) {
			buf_addc(out, ' ');
			buf_add(out, set, n);
		}
		set += n + !!set[n];
	}
}

bool compare_flags(const char *key, const char *a, const char *b, struct buf *added,
		   struct buf *removed)
{
	bool zero_a = !a || !strcmp(a, "0"), zero_b = !b || !strcmp(b, "0");

	if (!strcmp(key, "result") || !(is_flags(a) || zero_a) || !(is_flags(b) || zero_b))
		return false;
	/* one name for another is a value, unless one is among several */
	if (!(a && strchr(a, '+')) && !(b && strchr(b, '+')) && !zero_a && !zero_b)
		return false;
	missing(b, a, added);
	missing(a, b, removed);
	return true;
}
