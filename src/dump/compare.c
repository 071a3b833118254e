// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/compare.h"

#include <stdlib.h>
#include <string.h>

#include "dump/align.h"
#include "lib/die.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

struct comparison {
	struct normal *a, *b;
	const struct normal_choice *choice;
	struct intern *tokens;
	void (*tell)(void *ctx, const struct difference *d);
	void *ctx;
	bool same;
};

/* Both sides of a task; either may be NULL. */
struct both {
	struct normal_task *a, *b;
};

/* Which opens are each other's likes ------------------------------------------------ */

/* Members of an attr that say which event it is, and not how it is taken. */
static bool is_role(const char *key)
{
	const struct layout *l = &layout_perf_event_attr;

	for (size_t i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];

		if (strcmp(f->name, key))
			continue;
		return f->kind == FIELD_PMU || f->kind == FIELD_CONFIG ||
		       f->kind == FIELD_CONFIGX || f->kind == FIELD_ADDR ||
		       f->kind == FIELD_STRING || f->when.op == COND_PMU ||
		       (f->when.op != COND_NONE && f->when.field == ATTR_TYPE);
	}
	return false;
}

/*
 * 0: everything, but the number in the result; 1: the role and what was
 * chosen to be compared; 2: the role; 3: the role on whatever CPU.
 */
static uint32_t open_token(struct comparison *c, const struct normal *n,
			   const struct normal_task *t, const struct normal_item *i,
			   int level)
{
	const struct normal_choice ignored = {
		.ignore = c->choice->ignore, .nignore = c->choice->nignore,
	};
	struct buf text = { 0 };
	uint32_t token;

	buf_addf(&text, "%d", level);
	for (size_t k = 0; k < i->nfields; k++) {
		const struct normal_field *f = &i->fields[k];
		bool role = is_role(f->key) || !strcmp(f->key, "pid") ||
			    (!strcmp(f->key, "cpu") && level < 3);
		bool chosen = level < 2 && normal_chosen(level ? c->choice : &ignored,
							 i->desc->name, f->key);

		if (!role && !chosen)
			continue;
		buf_addf(&text, " %s=", f->key);
		if (strcmp(f->key, "result"))
			normal_value(n, t, f->value, &text);
		else /* its number may be another */
			buf_adds(&text, *f->value == REF_START ? "ok" : f->value);
	}
	token = intern(c->tokens, buf_str(&text));
	buf_free(&text);
	return token;
}

static struct normal_item **opens_of(struct comparison *c, const struct normal *n,
				     const struct normal_task *t, struct align_side *s)
{
	struct normal_item **opens = xcalloc(t->nitems + 1, sizeof(*opens));
	size_t count = 0;

	for (size_t i = 0; i < t->nitems; i++)
		if (t->items[i]->desc->class == CLASS_OPEN)
			opens[count++] = t->items[i];
	align_init(s, count);
	for (size_t i = 0; i < count; i++)
		for (int level = 0; level < ALIGN_LEVELS; level++)
			s->token[level][i] = open_token(c, n, t, opens[i], level);
	return opens;
}

static void pair_opens(struct comparison *c, const struct both *t)
{
	struct align_side a, b;
	struct normal_item **as = opens_of(c, c->a, t->a, &a);
	struct normal_item **bs = opens_of(c, c->b, t->b, &b);

	align(&a, &b, ALIGN_LEVELS);
	for (size_t i = 0; i < a.n; i++) {
		struct normal_item *mate = a.mate[i] < 0 ? NULL : bs[a.mate[i]];

		if (!mate)
			continue;
		as[i]->mate = mate;
		mate->mate = as[i];
		if (as[i]->subject && mate->subject)
			mate->subject->mate = as[i]->subject;
	}
	align_free(&a);
	align_free(&b);
	free(as);
	free(bs);
}

/* b's events without a mate must not go by a name that a's have taken. */
static void rename_rest(struct comparison *c)
{
	struct map taken = { 0 };
	struct buf name = { 0 };

	for (size_t i = 0; i < c->a->nevents; i++) {
		const struct normal_event *e = c->a->events[i];

		buf_reset(&name);
		buf_addf(&name, "%s:%s", e->opener->name, e->name);
		map_set(&taken, intern(c->tokens, buf_str(&name)), c);
	}
	for (size_t i = 0; i < c->b->nevents; i++) {
		struct normal_event *e = c->b->events[i];

		buf_reset(&name);
		buf_addf(&name, "%s:%s", e->opener->name, e->name);
		if (e->mate || !e->open || !map_get(&taken, intern(c->tokens, buf_str(&name))))
			continue;
		buf_reset(&name);
		buf_addf(&name, "%s+", e->name);
		free(e->name);
		e->name = xstrdup(buf_str(&name));
	}
	buf_free(&name);
	map_free(&taken);
}

/* Which calls are each other's likes -------------------------------------------------- */

/* 0: the same call to the letter, or the mate of an open; 1: the same sort. */
static uint32_t item_token(struct comparison *c, const struct normal *n,
			   const struct normal_task *t, const struct normal_item *i,
			   bool first, int level)
{
	const char *request = normal_get(i, "request");
	struct buf text = { 0 };
	uint32_t token;

	if (i->desc->class == CLASS_OPEN) {
		if (level || !i->mate)
			return 0;
		buf_addf(&text, "open %p", (const void *)(first ? i : i->mate));
	} else if (level == 0) {
		buf_adds(&text, "line ");
		if (i->subject) /* --only may leave nothing else of it */
			normal_event_name(t, i->subject, &text);
		normal_line(n, t, i, c->choice, &text);
	} else {
		buf_addf(&text, "sort %s %s ", i->desc->name, request ? request : "");
		if (i->subject)
			normal_event_name(t, i->subject, &text);
		buf_addf(&text, " %d", i->late);
	}
	token = intern(c->tokens, buf_str(&text));
	buf_free(&text);
	return token;
}

static void item_tokens(struct comparison *c, const struct normal *n,
			const struct normal_task *t, bool first, struct align_side *s)
{
	align_init(s, t->nitems);
	for (size_t i = 0; i < t->nitems; i++)
		for (int level = 0; level < 2; level++)
			s->token[level][i] = item_token(c, n, t, t->items[i], first, level);
}

static void pair_items(struct comparison *c, const struct both *t)
{
	struct align_side a, b;

	item_tokens(c, c->a, t->a, true, &a);
	item_tokens(c, c->b, t->b, false, &b);
	align(&a, &b, 2);
	for (size_t i = 0; i < a.n; i++) {
		if (a.mate[i] < 0)
			continue;
		t->a->items[i]->mate = t->b->items[a.mate[i]];
		t->b->items[a.mate[i]]->mate = t->a->items[i];
		t->a->items[i]->moved = a.moved[i] && !t->a->items[i]->late;
	}
	align_free(&a);
	align_free(&b);
}

/* Telling ----------------------------------------------------------------------------- */

static void tell(struct comparison *c, struct difference *d, const struct normal *n,
		 const struct normal_task *t, const struct normal_item *i)
{
	struct buf line = { 0 }, what = { 0 };

	normal_line(n, t, i, c->choice, &line);
	if (i->subject)
		normal_event_name(t, i->subject, &what);
	d->task = t->name;
	d->call = i->desc->name;
	d->request = normal_get(i, "request");
	d->what = what.data;
	d->line = buf_str(&line) + strlen(t->name) + 1;
	c->same = false;
	c->tell(c->ctx, d);
	buf_free(&line);
	buf_free(&what);
}

/* The calls that an event brings with it, by name, each once. */
static void followers(const struct normal_task *t, const struct normal_item *open,
		      struct buf *out)
{
	const struct call_desc *last = NULL;

	for (size_t i = 0; i < t->nitems; i++) {
		const struct normal_item *f = t->items[i];
		const char *request = normal_get(f, "request");

		if (f == open || f->mate || f->subject != open->subject ||
		    (f->desc == last && !request))
			continue;
		buf_addf(out, "%s%s%s%s", out->len ? ", " : "", f->desc->name,
			 request ? " " : "", request ? request : "");
		last = f->desc;
	}
}

static void tell_alone(struct comparison *c, const struct normal *n,
		       const struct normal_task *t, const struct normal_item *i,
		       enum difference_kind kind)
{
	struct difference d = { .kind = kind };
	struct buf rest = { 0 };
	const char *word = kind == DIFF_ADDED ? "added" : "removed";
	const struct normal_event *e = i->subject;

	if (!normal_chosen(c->choice, i->desc->name, word))
		return;
	/* it is told of together with its event's open */
	if (e && e->open && e->open != i && !e->open->mate && e->opener == t)
		return;
	if (e && e->open == i)
		followers(t, i, &rest);
	d.followers = rest.data;
	tell(c, &d, n, t, i);
	buf_free(&rest);
}

static bool same_result(const struct normal_item *a, const struct normal_item *b)
{
	/* an event and its mate */
	return a->desc->class == CLASS_OPEN && a->subject && b->subject;
}

/* A field of either side against the other's; NULL reads as zero. */
static void tell_field(struct comparison *c, const struct both *t,
		       const struct normal_item *i, const char *key)
{
	struct difference d = { .kind = DIFF_CHANGED, .field = key };
	const char *x = normal_get(i, key), *y = normal_get(i->mate, key);
	struct buf a = { 0 }, b = { 0 };

	if (!normal_chosen(c->choice, i->desc->name, key) ||
	    (!strcmp(key, "result") && same_result(i, i->mate)) ||
	    (!strcmp(key, "cpu") && (i->masked || i->mate->masked)))
		return;
	if (x)
		normal_value(c->a, t->a, x, &a);
	if (y)
		normal_value(c->b, t->b, y, &b);
	if (strcmp(x ? buf_str(&a) : "0", y ? buf_str(&b) : "0")) {
		d.a = x ? buf_str(&a) : NULL;
		d.b = y ? buf_str(&b) : NULL;
		tell(c, &d, c->a, t->a, i);
	}
	buf_free(&a);
	buf_free(&b);
}

static void tell_pair(struct comparison *c, const struct both *t,
		      const struct normal_item *i)
{
	struct difference d = { .kind = DIFF_ORDER };

	for (size_t k = 0; k < i->nfields; k++)
		tell_field(c, t, i, i->fields[k].key);
	for (size_t k = 0; k < i->mate->nfields; k++)
		if (!normal_get(i, i->mate->fields[k].key))
			tell_field(c, t, i, i->mate->fields[k].key);
	if (i->moved && normal_chosen(c->choice, i->desc->name, "order"))
		tell(c, &d, c->a, t->a, i);
}

/* In a's order; what b alone has comes where its neighbours stand. */
static void tell_task(struct comparison *c, const struct both *t)
{
	size_t na = t->a ? t->a->nitems : 0, nb = t->b ? t->b->nitems : 0, j = 0;

	for (size_t i = 0; i < na; i++) {
		const struct normal_item *x = t->a->items[i];

		if (!x->mate) {
			tell_alone(c, c->a, t->a, x, DIFF_REMOVED);
			continue;
		}
		for (; !x->moved && j < nb && t->b->items[j] != x->mate; j++)
			if (!t->b->items[j]->mate)
				tell_alone(c, c->b, t->b, t->b->items[j], DIFF_ADDED);
		tell_pair(c, t, x);
	}
	for (; j < nb; j++)
		if (!t->b->items[j]->mate)
			tell_alone(c, c->b, t->b, t->b->items[j], DIFF_ADDED);
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

bool compare(struct normal *a, struct normal *b, const struct normal_choice *choice,
	     void (*tell)(void *ctx, const struct difference *d), void *ctx)
{
	struct comparison c = {
		.a = a, .b = b, .choice = choice, .tokens = intern_new(),
		.tell = tell, .ctx = ctx, .same = true,
	};

	each_task(&c, false, pair_opens);
	rename_rest(&c);
	each_task(&c, false, pair_items);
	each_task(&c, true, tell_task);
	intern_free(c.tokens);
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
