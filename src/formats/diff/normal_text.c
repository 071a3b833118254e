// SPDX-License-Identifier: LGPL-2.1-or-later
/* Completing the normal form: names, order, lines. */
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "formats/diff/normal.h"
#include "formats/dump/reader.h"

/* Choice of fields ------------------------------------------------------------- */

/* Return whether a list has the call, the field, or the field of that call. */
static bool among(const char **list, size_t n, const char *call, const char *key)
{
	const char *last = strrchr(key, '.');
	size_t len = strlen(call);

	for (size_t i = 0; i < n; i++) {
		const char *name = list[i];

		if (!strncmp(name, call, len) && name[len] == '.')
			name += len + 1;
		if (!strcmp(name, call) || !strcmp(name, key) ||
		    (last && !strcmp(name, last + 1)) ||
		    (!strcmp(name, "errno") && !strcmp(key, "result")))
			return true;
	}
	return false;
}

bool normal_chosen(const struct normal_choice *c, const char *call, const char *key)
{
	if (!c || !(c->nignore + c->nonly))
		return true;
	return !among(c->ignore, c->nignore, call, key) &&
	       (!c->nonly || among(c->only, c->nonly, call, key));
}

bool normal_known(const char *name)
{
	static const char *const fields[] = { "opens", "result", "errno", "injected", "loss" };
	const char *dot = strchr(name, '.');

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!strcmp(name, fields[i]))
			return true;
	for (size_t i = 0; i < FLAW_COUNT; i++)
		if (!strcmp(flaw_descs[i].name, name))
			return true;
	for (const struct call_desc *d = call_descs; d < call_descs + CALL_COUNT; d++) {
		if (!strcmp(d->name, name))
			return true;
		for (size_t i = 0; i < d->nargs; i++)
			if (!strcmp(d->args[i].name, name))
				return true;
		if (dot && !strncmp(d->name, name, (size_t)(dot - name)) &&
		    !d->name[dot - name])
			return normal_known(dot + 1);
	}
	for (const struct layout *const *l = layouts; *l; l++)
		if (layout_field(*l, name))
			return true;
	return false;
}

/* Calls ---------------------------------------------------------------------------- */

struct normal_event *normal_ref(const struct normal *n, const struct normal_item *i,
				uint32_t place)
{
	return normal_event_at(n, normal_form(n, i)->nrefs < 2 ? i->refs :
				  n->refs[i->refs + place]);
}

struct normal_event *normal_subject(const struct normal *n, const struct normal_item *i)
{
	return normal_form(n, i)->subject ? normal_ref(n, i, 0) : NULL;
}

bool normal_is_open(const struct normal *n, const struct normal_item *i)
{
	return normal_form(n, i)->desc->class == CLASS_OPEN;
}

/* Probes ------------------------------------------------------------------------- */

/* Return whether two calls have the same text and events. */
static bool same_value(const struct normal *n, const struct normal_item *a, const char *x,
		       const struct normal_item *b, const char *y)
{
	for (;;) {
		const char *x0 = x, *y0 = y;
		size_t nx, ny;
		uint32_t rx, ry;
		bool more = normal_next_ref(&x, &nx, &rx);

		if (normal_next_ref(&y, &ny, &ry) != more || nx != ny || memcmp(x0, y0, nx) ||
		    (more && normal_ref(n, a, rx) != normal_ref(n, b, ry)))
			return false;
		if (!more)
			return true;
	}
}

/* Return whether two opens differ in their CPU only. */
static bool same_series(const struct normal *n, const struct normal_item *a,
			const struct normal_item *b)
{
	const struct normal_form *f = normal_form(n, a), *g = normal_form(n, b);

	if (f->nfields != g->nfields)
		return false;
	for (size_t k = 0; k < f->nfields; k++) {
		const struct normal_field *x = &f->fields[k], *y = &g->fields[k];

		if (strcmp(x->key, y->key))
			return false;
		if (!strcmp(x->key, "cpu")) {
			if (!strcmp(x->value, y->value))
				return false;
		} else if (strcmp(x->key, "result") &&
			   !same_value(n, a, x->value, b, y->value)) {
			return false;
		}
	}
	return true;
}

/*
 * Return whether the open only probes whether the kernel accepts an event: it fails, or the
 * event is closed unused.  perf opens its first one on the CPU that it runs on, so that the
 * CPU of a probe is ignored, unless it is one of a series over several CPUs.
 */
static bool is_probe(const struct normal *n, const struct normal_item *i,
		     const struct normal_item *before, const struct normal_item *after)
{
	const struct normal_event *e = normal_subject(n, i);
	const char *cpu = normal_get(normal_form(n, i), "cpu");

	return (e ? !e->used && e->closed : normal_form(n, i)->probe) && cpu && *cpu != '-' &&
	       !(before && same_series(n, i, before)) && !(after && same_series(n, i, after));
}

/* Mask probes after all have been examined: masking changes what neighbours look like. */
static void mask_probes(const struct normal *n, struct normal_task *t)
{
	struct normal_item *open = NULL, before, now;
	bool first = true;

	for (size_t i = 0; i <= t->nitems; i++) {
		struct normal_item *after = i < t->nitems ? &t->items[i] : NULL;

		if (after && !normal_is_open(n, after))
			continue;
		if (open) {
			now = *open;
			if (is_probe(n, open, first ? NULL : &before, after))
				open->form = normal_form_with(n->forms, normal_form(n, open),
							      "cpu", "some")->number;
			before = now;
			first = false;
		}
		open = after;
	}
}

/* Names -------------------------------------------------------------------------- */

static void own_name(const struct normal_event *e, struct buf *out)
{
	buf_adds(out, e->base);
	if (!e->count)
		return;
	if (e->probe)
		buf_adds(out, "/probe");
	else if (e->cpu >= 0)
		buf_addf(out, "/cpu%d", e->cpu);
	if (e->count > 1)
		buf_addf(out, "#%u", e->count);
}

/* Number the events by name; an event whose open was not seen has none. */
static void count_events(struct normal *n)
{
	struct buf name = { 0 };

	for (size_t t = 0; t < n->ntasks; t++) {
		const struct normal_task *task = n->tasks[t];
		struct map counts = { 0 }; /* the events of each name */

		for (size_t i = 0; i < task->nitems; i++) {
			struct normal_event *e = normal_is_open(n, &task->items[i]) ?
				normal_subject(n, &task->items[i]) : NULL;
			uint64_t h;

			if (!e || e->count)
				continue;
			e->probe = normal_form(n, &task->items[i])->masked;
			e->count = 1;
			buf_reset(&name);
			own_name(e, &name);
			h = hash_text(HASH_START, buf_str(&name));
			e->count = (uint32_t)(uintptr_t)map_get(&counts, h) + 1;
			map_set(&counts, h, (void *)(uintptr_t)e->count);
		}
		map_free(&counts);
	}
	buf_free(&name);
}

void normal_event_name(const struct normal_task *t, const struct normal_event *e,
		       struct buf *out)
{
	const struct normal_event *as = e->mate ? e->mate : e;

	/* mates have openers of the same name */
	if (strcmp(as->opener->name, t->name))
		buf_addf(out, "%s:", as->opener->name);
	own_name(as, out);
	if (as->renamed)
		buf_addc(out, '+');
}

void normal_value(const struct normal *n, const struct normal_task *t,
		  const struct normal_item *i, const char *value, struct buf *out)
{
	const char *start = value;
	uint32_t place;
	size_t before;

	while (normal_next_ref(&value, &before, &place)) {
		buf_add(out, start, before);
		normal_event_name(t, normal_ref(n, i, place), out);
		start = value;
	}
	buf_add(out, start, before);
}

void normal_line(const struct normal *n, const struct normal_task *t,
		 const struct normal_item *i, const struct normal_choice *choice,
		 struct buf *out)
{
	const struct normal_form *f = normal_form(n, i);

	buf_addf(out, "%s %s", t->name, f->desc->name);
	for (size_t k = 0; k < f->nfields; k++) {
		if (!normal_chosen(choice, f->desc->name, f->fields[k].key))
			continue;
		buf_addc(out, ' ');
		buf_adds(out, f->fields[k].key);
		buf_addc(out, '=');
		normal_value(n, t, i, f->fields[k].value, out);
	}
}

/* Order --------------------------------------------------------------------------- */

static int normal_by_name(const void *a, const void *b)
{
	const struct normal_task *const *x = a, *const *y = b;

	return strverscmp((*x)->name, (*y)->name);
}

struct late {
	struct normal_item item;
	struct buf line;
};

static int by_line(const void *a, const void *b)
{
	const struct late *x = a, *y = b;

	return strcmp(buf_str(&x->line), buf_str(&y->line));
}

/* Move late items to the end: the order in which rings are unmapped depends on timing. */
static void put_late_last(const struct normal *n, struct normal_task *t)
{
	struct late *late = xcalloc(t->nlate + 1, sizeof(*late));
	size_t kept = 0, nlate = 0;

	for (size_t i = 0; i < t->nitems; i++) {
		if (!normal_form(n, &t->items[i])->late) {
			t->items[kept++] = t->items[i];
			continue;
		}
		late[nlate].item = t->items[i];
		normal_line(n, t, &t->items[i], NULL, &late[nlate++].line);
	}
	qsort(late, nlate, sizeof(*late), by_line);
	for (size_t i = 0; i < nlate; i++) {
		t->items[kept + i] = late[i].item;
		buf_free(&late[i].line);
	}
	free(late);
}

/* Drop opens that only probe the kernel, and have returned. */
static void drop_probes(const struct normal *n, struct normal_task *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nitems; i++) {
		const struct normal_event *e = normal_subject(n, &t->items[i]);
		const struct normal_form *f = normal_form(n, &t->items[i]);
		const char *result = normal_get(f, "result");
		bool failed = normal_is_open(n, &t->items[i]) && result &&
			      strcmp(result, "unfinished") && !normal_get(f, "injected");

		if (e ? !(e->opened && !e->used && e->closed) : !failed)
			t->items[kept++] = t->items[i];
		else
			t->nlate -= f->late;
	}
	t->nitems = kept;
}

void normal_seal(struct normal *n)
{
	for (size_t t = 0; t < n->ntasks; t++) {
		if (n->no_probes)
			drop_probes(n, n->tasks[t]);
		mask_probes(n, n->tasks[t]);
	}
	if (n->ntasks)
		qsort(n->tasks, n->ntasks, sizeof(struct normal_task *), normal_by_name);
	count_events(n);
	for (size_t t = 0; t < n->ntasks; t++)
		put_late_last(n, n->tasks[t]);
}

struct normal *normal_read(FILE *f, const char *path, struct normal_forms *forms,
			   const struct normal_reading *how, bool *whole)
{
	struct reader *r = reader_open(f, path, how->keep_going);
	struct session s;
	struct normal *n;

	*whole = false;
	if (!r)
		return NULL;
	session_start(&s, &(struct session_setup){ .source = reader_names(r) }, reader_facts(r));
	n = normal_new(forms);
	n->no_probes = how->no_probes;
	n->merge_threads = how->merge_threads;
	normal_watch(n, &s);
	reader_progress(r);
	*whole = reader_run(r, &s);
	normal_seal(n);
	session_flaws(&s, &n->flaws);
	session_end(&s);
	reader_close(r);
	if (!*whole && !how->keep_going) {
		normal_free(n);
		return NULL;
	}
	return n;
}
