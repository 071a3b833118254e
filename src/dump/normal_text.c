// SPDX-License-Identifier: LGPL-2.1-or-later
/* The normal form complete: its names, its order, its lines. */
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "dump/normal.h"
#include "lib/die.h"
#include "xlat/layouts.h"

/* Which fields count ----------------------------------------------------------- */

static bool names_it(const char *choice, const char *call, const char *key)
{
	const char *last = strrchr(key, '.');
	size_t n = strlen(call);

	if (!strncmp(choice, call, n) && choice[n] == '.')
		choice += n + 1;
	return !strcmp(choice, call) || !strcmp(choice, key) ||
	       (last && !strcmp(choice, last + 1)) ||
	       (!strcmp(choice, "errno") && !strcmp(key, "result"));
}

static bool among(const char **list, size_t n, const char *call, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (names_it(list[i], call, key))
			return true;
	return false;
}

bool normal_chosen(const struct normal_choice *c, const char *call, const char *key)
{
	if (!c)
		return true;
	return !among(c->ignore, c->nignore, call, key) &&
	       (!c->nonly || among(c->only, c->nonly, call, key));
}

static bool known_to(const struct call_desc *d, const char *name)
{
	for (size_t i = 0; i < d->nargs; i++)
		if (!strcmp(d->args[i].name, name))
			return true;
	return !strcmp(name, "result") || !strcmp(name, "errno");
}

bool normal_known(const char *name)
{
	const char *dot = strchr(name, '.');

	for (size_t i = 0; i < CALL_COUNT; i++) {
		const struct call_desc *d = &call_descs[i];

		if (!strcmp(d->name, name) || known_to(d, name))
			return true;
		if (dot && !strncmp(d->name, name, (size_t)(dot - name)) &&
		    !d->name[dot - name])
			return normal_known(dot + 1);
	}
	for (const struct layout *const *l = layouts; *l; l++)
		for (size_t i = 0; i < (*l)->n; i++)
			if (!strcmp((*l)->fields[i].name, name))
				return true;
	return false;
}

/* Which CPUs mean something ------------------------------------------------------ */

const char *normal_get(const struct normal_item *i, const char *key)
{
	for (size_t k = 0; k < i->nfields; k++)
		if (!strcmp(i->fields[k].key, key))
			return i->fields[k].value;
	return NULL;
}

/* Events that a call mentions, such as SET_OUTPUT's, are used. */
static void note_references(struct normal *n, const struct normal_item *i)
{
	for (size_t k = 0; k < i->nfields && i->refers; k++) {
		const char *at = i->fields[k].value;

		if (!strcmp(i->fields[k].key, "result") || !strcmp(i->desc->name, "close"))
			continue;
		while ((at = strchr(at, REF_START))) {
			size_t v = strtoul(++at, NULL, 10);

			if (v < n->nevents)
				n->events[v]->used = true;
		}
	}
}

/* The same open for another CPU? */
static bool same_series(const struct normal_item *a, const struct normal_item *b)
{
	if (a->nfields != b->nfields)
		return false;
	for (size_t k = 0; k < a->nfields; k++) {
		const struct normal_field *x = &a->fields[k], *y = &b->fields[k];
		bool differs = strcmp(x->value, y->value);

		if (strcmp(x->key, y->key))
			return false;
		if (!strcmp(x->key, "cpu") && !differs)
			return false;
		if (differs && strcmp(x->key, "cpu") && strcmp(x->key, "result"))
			return false;
	}
	return true;
}

static bool is_open(const struct normal_item *i)
{
	return i->desc->class == CLASS_OPEN;
}

/*
 * A probe asks whether the kernel takes an event: it fails, or is closed with
 * nothing done to it.  perf opens its first on whatever CPU it runs on, so
 * that the CPU of a probe is none of its program's choosing, unless it is one
 * of a series over several CPUs.
 */
static void mask_probe(struct normal_item *i, const struct normal_item *before,
		       const struct normal_item *after)
{
	const struct normal_event *e = i->subject;
	const char *cpu = normal_get(i, "cpu");

	if (e)
		i->masked = !e->used && e->closed;
	if (!cpu || *cpu == '-' || (before && same_series(i, before)) ||
	    (after && same_series(i, after)))
		i->masked = false;
}

static void set_value(struct normal_item *i, const char *key, const char *value)
{
	for (size_t k = 0; k < i->nfields; k++) {
		if (strcmp(i->fields[k].key, key))
			continue;
		free(i->fields[k].value);
		i->fields[k].value = xstrdup(value);
	}
}

static void mask_probes(struct normal_task *t)
{
	struct normal_item **opens = xcalloc(t->nitems + 1, sizeof(*opens));
	size_t n = 0;

	for (size_t i = 0; i < t->nitems; i++)
		if (is_open(t->items[i]))
			opens[n++] = t->items[i];
	for (size_t i = 0; i < n; i++)
		mask_probe(opens[i], i ? opens[i - 1] : NULL, opens[i + 1]);
	for (size_t i = 0; i < n; i++)
		if (opens[i]->masked)
			set_value(opens[i], "cpu", "some");
	free(opens);
}

/* Names -------------------------------------------------------------------------- */

static uint64_t hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	while (*text)
		h = (h ^ (unsigned char)*text++) * 0x100000001b3ULL;
	return h;
}

static void name_event(struct normal_event *e, struct map *counts)
{
	struct buf name = { 0 };
	uintptr_t count;

	buf_adds(&name, e->base);
	if (e->open && e->open->masked)
		buf_adds(&name, "/probe");
	else if (e->cpu >= 0)
		buf_addf(&name, "/cpu%d", e->cpu);
	count = (uintptr_t)map_get(counts, hash(buf_str(&name))) + 1;
	map_set(counts, hash(buf_str(&name)), (void *)count);
	if (count > 1)
		buf_addf(&name, "#%zu", (size_t)count);
	free(e->name);
	e->name = name.data;
}

static void name_events(struct normal *n)
{
	for (size_t t = 0; t < n->ntasks; t++) {
		const struct normal_task *task = n->tasks[t];
		struct map counts = { 0 };

		for (size_t i = 0; i < task->nitems; i++) {
			struct normal_event *e = task->items[i]->subject;

			if (e && e->open == task->items[i])
				name_event(e, &counts);
		}
		map_free(&counts);
	}
	/* those that nobody opened, and those whose open was cut off */
	for (size_t i = 0; i < n->nevents; i++)
		if (!n->events[i]->name)
			n->events[i]->name = xstrdup(n->events[i]->base);
}

void normal_event_name(const struct normal_task *t, const struct normal_event *e,
		       struct buf *out)
{
	const struct normal_event *as = e->mate ? e->mate : e;

	/* a mate's opener goes by the same name */
	if (strcmp(as->opener->name, t->name))
		buf_addf(out, "%s:", as->opener->name);
	buf_adds(out, as->name);
}

void normal_value(const struct normal *n, const struct normal_task *t,
		  const char *value, struct buf *out)
{
	for (; *value; value++) {
		char *end;
		size_t v;

		if (*value != REF_START) {
			buf_addc(out, *value);
			continue;
		}
		v = strtoul(value + 1, &end, 10);
		if (v < n->nevents)
			normal_event_name(t, n->events[v], out);
		value = *end ? end : end - 1;
	}
}

void normal_line(const struct normal *n, const struct normal_task *t,
		 const struct normal_item *i, const struct normal_choice *choice,
		 struct buf *out)
{
	buf_addf(out, "%s %s", t->name, i->desc->name);
	for (size_t k = 0; k < i->nfields; k++) {
		if (!normal_chosen(choice, i->desc->name, i->fields[k].key))
			continue;
		buf_addf(out, " %s=", i->fields[k].key);
		normal_value(n, t, i->fields[k].value, out);
	}
}

/* Order --------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct normal_task *const *x = a, *const *y = b;

	return strverscmp((*x)->name, (*y)->name);
}

struct sorted {
	struct normal_item *item;
	char *line;
};

static int by_line(const void *a, const void *b)
{
	return strcmp(((const struct sorted *)a)->line, ((const struct sorted *)b)->line);
}

/* Unmapping at the end of a measurement comes as hang-ups are seen. */
static void put_late_last(const struct normal *n, struct normal_task *t)
{
	struct sorted *late = xcalloc(t->nlate + 1, sizeof(*late));
	size_t kept = 0, nlate = 0;

	for (size_t i = 0; i < t->nitems; i++) {
		struct buf line = { 0 };

		if (!t->items[i]->late) {
			t->items[kept++] = t->items[i];
			continue;
		}
		normal_line(n, t, t->items[i], NULL, &line);
		late[nlate++] = (struct sorted){ t->items[i], line.data };
	}
	qsort(late, nlate, sizeof(*late), by_line);
	for (size_t i = 0; i < nlate; i++) {
		t->items[kept + i] = late[i].item;
		free(late[i].line);
	}
	free(late);
}

void normal_seal(struct normal *n)
{
	for (size_t t = 0; t < n->ntasks; t++)
		for (size_t i = 0; i < n->tasks[t]->nitems; i++)
			note_references(n, n->tasks[t]->items[i]);
	for (size_t t = 0; t < n->ntasks; t++)
		mask_probes(n->tasks[t]);
	qsort(n->tasks, n->ntasks, sizeof(struct normal_task *), by_name);
	name_events(n);
	for (size_t t = 0; t < n->ntasks; t++)
		put_late_last(n, n->tasks[t]);
}

struct normal *normal_read(FILE *f, const char *path, bool keep_going, bool *whole)
{
	struct replay *r = replay_open(f, path, keep_going);
	struct normal *n = NULL;

	*whole = false;
	if (!r)
		return NULL;
	n = normal_new(replay_names(r));
	*whole = replay_run(r, &normal_ops, n);
	normal_seal(n);
	n->names = NULL;
	replay_close(r);
	if (!*whole && !keep_going) {
		normal_free(n);
		return NULL;
	}
	return n;
}
