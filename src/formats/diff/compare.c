// SPDX-License-Identifier: LGPL-2.1-or-later
/* Report the differences between paired calls, and the calls without a mate. */
#include "formats/diff/compare.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "formats/diff/compare_internal.h"

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
	if (c->report)
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

/* List the names of the other calls about the event of that open, each once. */
static void followers(struct lone *l, size_t open, struct buf *out)
{
	const struct call_desc *last = NULL;
	struct map next = { 0 };

	if (!l->next) {
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

/* Compare a field of a call of both sides; NULL equals zero. */
static void report_field(struct comparison *c, const struct both *t, const struct normal_item *ia,
			 const struct normal_item *ib, const char *key)
{
	const struct normal_form *fa = normal_form(c->a, ia), *fb = normal_form(c->b, ib);
	struct difference d = { .kind = DIFF_CHANGED, .field = key };
	const char *x = normal_get(fa, key), *y = normal_get(fb, key);
	struct buf a = { 0 }, b = { 0 };

	if (!normal_chosen(c->choice, fa->desc->name, key))
		return;
	if (!strcmp(key, "result") && fa->desc->class == CLASS_OPEN &&
	    normal_subject(c->a, ia) && normal_subject(c->b, ib)) /* an event and its mate */
		return;
	if (!strcmp(key, "cpu") && (fa->masked || fb->masked))
		return;
	if (!strcmp(key, "opens") && !(x && y)) /* unknown for some files */
		return;
	if (x)
		normal_value(c->a, t->a, ia, x, &a);
	if (y)
		normal_value(c->b, t->b, ib, y, &b);
	d.a = x ? buf_str(&a) : NULL;
	d.b = y ? buf_str(&b) : NULL;
	if (strcmp(x ? d.a : "0", y ? d.b : "0"))
		compare_report(c, &d, c->a, t->a, ia);
	buf_free(&a);
	buf_free(&b);
}

static void report_pair(struct comparison *c, const struct both *t, const struct normal_item *a,
			const struct normal_item *b)
{
	const struct normal_form *fa = normal_form(c->a, a), *fb = normal_form(c->b, b);

	if (compare_same_item(c, a, b))
		return;
	for (size_t k = 0; k < fa->nfields; k++)
		report_field(c, t, a, b, fa->fields[k].key);
	for (size_t k = 0; k < fb->nfields; k++)
		if (!normal_get(fa, fb->fields[k].key))
			report_field(c, t, a, b, fb->fields[k].key);
}

/* Report in a's order; report an item that only b has next to its neighbours. */
static void report_task(struct comparison *c, const struct both *t)
{
	struct pairing p = { .t = *t };
	struct lone a = { c, c->a, t->a, &p, true, NULL };
	struct lone b = { c, c->b, t->b, &p, false, NULL };
	struct difference order = { .kind = DIFF_ORDER };
	size_t na = a.t ? a.t->nitems : 0, nb = b.t ? b.t->nitems : 0, j = 0;

	pairing_make(c, &p);
	for (size_t i = 0; i < na; i++) {
		const struct normal_item *x = &a.t->items[i];
		size_t mate = pairing_mate(&p, true, i);
		bool moved = pairing_moved(c, &p, i);

		if (mate == NOBODY) {
			compare_report_alone(&a, i);
			continue;
		}
		for (; !moved && j < nb && j != mate; j++)
			if (pairing_mate(&p, false, j) == NOBODY)
				compare_report_alone(&b, j);
		report_pair(c, t, x, &b.t->items[mate]);
		if (moved && normal_chosen(c->choice, normal_form(c->a, x)->desc->name, "order"))
			compare_report(c, &order, c->a, t->a, x);
	}
	for (; j < nb; j++)
		if (pairing_mate(&p, false, j) == NOBODY)
			compare_report_alone(&b, j);
	free(a.next);
	free(b.next);
	align_free(&p.a);
	align_free(&p.b);
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

	compare_pair_events(&c);
	compare_each_task(&c, report_task);
	unpair(a);
	unpair(b);
	return c.same;
}

static bool is_flags(const char *v)
{
	return v && (strchr(v, '+') || (*v >= 'A' && *v <= 'Z'));
}

/* Append the names in one set that are not in the other, each after a space. */
static void missing(const char *set, const char *from, struct buf *out)
{
	while (set && *set && strcmp(set, "0")) {
		size_t n = strcspn(set, "+");
		bool found = false;

		for (const char *at = from; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL)
			found |= !strncmp(at, set, n) && (!at[n] || at[n] == '+');
		if (!found) {
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
	/* a single name in place of another is a value, not a set */
	if (!(a && strchr(a, '+')) && !(b && strchr(b, '+')) && !zero_a && !zero_b)
		return false;
	missing(b, a, added);
	missing(a, b, removed);
	return true;
}
