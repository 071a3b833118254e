// SPDX-License-Identifier: LGPL-2.1-or-later
/* Report the differences between paired calls, and the calls without a mate. */
#include "formats/diff/compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

static void compare_report(struct comparison *c, struct difference *d, const struct normal *n,
			 const struct normal_task *t, const struct normal_item *i)
{
	const struct normal_event *subject = normal_subject(n, i);
	struct buf line = { 0 }, what = { 0 };

	normal_line(n, t, i, c->choice, &line);
	if (subject)
		normal_event_name(t, subject, &what);
	d->task = t->name;
	d->item = i;
	d->call = normal_form(n, i)->desc->name;
	d->request = normal_get(normal_form(n, i), "request");
	d->what = what.data;
	d->line = buf_str(&line) + strlen(t->name) + 1;
	c->same = false;
	c->report(c->ctx, d);
	buf_free(&line);
	buf_free(&what);
}

/* The unpaired items of a task, and for each of them the next one about the same event. */
struct lone {
	struct comparison *c;
	const struct normal *n;
	const struct normal_task *t;
	const struct pairing *p;
	bool first;
	uint32_t *next;		/* NULL until needed; NOBODY: no more */
};

static void link_lone(struct lone *l)
{
	struct map next = { 0 };

	l->next = xcalloc(l->t->nitems + 1, sizeof(*l->next));
	for (size_t i = l->t->nitems; i-- > 0;) {
		const struct normal_event *e = normal_subject(l->n, &l->t->items[i]);
		uint64_t key = e ? e->index + 1ULL : 0;

		l->next[i] = (uint32_t)((uintptr_t)map_get(&next, key) - 1);
		if (e && pairing_mate(l->p, l->first, i) == NOBODY)
			map_set(&next, key, (void *)(uintptr_t)(i + 1));
	}
	map_free(&next);
}

/* List the names of the other calls about the event of that open, each once. */
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

static void compare_report_alone(struct lone *l, size_t at)
{
	const struct normal_item *i = &l->t->items[at];
	const struct normal_form *f = normal_form(l->n, i);
	const struct normal_event *e = normal_subject(l->n, i);
	struct difference d = { .kind = l->first ? DIFF_REMOVED : DIFF_ADDED };
	bool made = e && f->desc->class == CLASS_OPEN;
	struct buf rest = { 0 };

	if (!normal_chosen(l->c->choice, f->desc->name, l->first ? "removed" : "added"))
		return;
	/* reported together with its event's open */
	if (e && !made && e->opened && !e->paired && e->opener == l->t)
		return;
	if (made)
		followers(l, at, &rest);
	d.followers = rest.data;
	compare_report(l->c, &d, l->n, l->t, i);
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
	if (!strcmp(key, "opens")) /* unknown for some files */
		return normal_get(p->fa, key) && normal_get(p->fb, key);
	return true;
}

/* Compare a field of both sides; NULL equals zero. */
static void report_field(struct comparison *c, const struct pair *p, const char *key)
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
		compare_report(c, &d, c->a, p->t->a, p->a);
	}
	buf_free(&a);
	buf_free(&b);
}

static void report_pair(struct comparison *c, const struct both *t, const struct normal_item *a,
		      const struct normal_item *b)
{
	const struct pair p = { t, a, b, normal_form(c->a, a), normal_form(c->b, b) };

	if (compare_same_item(c, a, b))
		return;
	for (size_t k = 0; k < p.fa->nfields; k++)
		report_field(c, &p, p.fa->fields[k].key);
	for (size_t k = 0; k < p.fb->nfields; k++)
		if (!normal_get(p.fa, p.fb->fields[k].key))
			report_field(c, &p, p.fb->fields[k].key);
}

static void report_order(struct comparison *c, const struct both *t, const struct normal_item *i)
{
	struct difference d = { .kind = DIFF_ORDER };

	if (normal_chosen(c->choice, normal_form(c->a, i)->desc->name, "order"))
		compare_report(c, &d, c->a, t->a, i);
}

/* Report in a's order; report an item that only b has next to its neighbours. */
static void report_items(struct comparison *c, const struct pairing *p)
{
	struct lone a = { c, c->a, p->t.a, p, true, NULL };
	struct lone b = { c, c->b, p->t.b, p, false, NULL };
	size_t na = a.t ? a.t->nitems : 0, nb = b.t ? b.t->nitems : 0, j = 0;

	for (size_t i = 0; i < na; i++) {
		size_t mate = pairing_mate(p, true, i);

		if (mate == NOBODY) {
			compare_report_alone(&a, i);
			continue;
		}
		for (; !pairing_moved(c, p, i) && j < nb && j != mate; j++)
			if (pairing_mate(p, false, j) == NOBODY)
				compare_report_alone(&b, j);
		report_pair(c, &p->t, &a.t->items[i], &b.t->items[mate]);
		if (pairing_moved(c, p, i))
			report_order(c, &p->t, &a.t->items[i]);
	}
	for (; j < nb; j++)
		if (pairing_mate(p, false, j) == NOBODY)
			compare_report_alone(&b, j);
	free(a.next);
	free(b.next);
}

static void report_task(struct comparison *c, const struct both *t)
{
	struct pairing p = { .t = *t };

	pairing_make(c, &p);
	report_items(c, &p);
	pairing_free(&p);
}

/* Pair the tasks by name; both sides are sorted by it. */
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

/* Forget what pairs it with the other side, so that it can be compared again. */
static void unpair(const struct normal *n)
{
	for (size_t i = 0; i < n->nevents; i++) {
		struct normal_event *e = normal_event_at(n, i);

		e->mate = NULL;
		e->paired = e->renamed = false;
	}
	for (size_t i = 0; i < n->ntasks; i++) {
		free(n->tasks[i]->open_mates);
		n->tasks[i]->open_mates = NULL;
	}
}

bool normal_compare(struct normal *a, struct normal *b, const struct normal_choice *choice,
		    void (*report)(void *ctx, const struct difference *d), void *ctx)
{
	struct comparison c = {
		.a = a, .b = b, .choice = choice, .report = report, .ctx = ctx, .same = true,
	};

	compare_learn_roles(&c);
	compare_identify(a);
	compare_identify(b);
	each_task(&c, false, compare_pair_opens);
	compare_rename_rest(&c);
	each_task(&c, true, report_task);
	unpair(a);
	unpair(b);
	map_free(&c.roles);
	return c.same;
}
