// SPDX-License-Identifier: LGPL-2.1-or-later
/* Pairing the opens, and thereby the events, of both sides. */
#include "formats/diff/compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Members of an attr that identify an event, not how it is measured. */
static bool says_role(const struct field *f)
{
	return f->kind == FIELD_PMU || f->kind == FIELD_CONFIG || f->kind == FIELD_CONFIGX ||
	       f->kind == FIELD_ADDR || f->kind == FIELD_STRING || f->when.op == COND_PMU ||
	       (f->when.op != COND_NONE && f->when.field == ATTR_TYPE);
}

void compare_learn_roles(struct comparison *c)
{
	const struct layout *l = &layout_perf_event_attr;
	struct map seen = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];
		uint64_t h = hash_text(HASH_START, f->name);

		/* of members with one name, the first counts */
		if (!map_set(&seen, h, c) && says_role(f))
			map_set(&c->roles, h, c);
	}
	map_free(&seen);
}

static bool is_role(const struct comparison *c, const char *key)
{
	return map_get(&c->roles, hash_text(HASH_START, key));
}

uint64_t compare_value_token(uint64_t h, const struct normal *n, const struct normal_item *i,
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
			h = hash_text(h, "ok"); /* the descriptor's number may differ */
		else
			h = compare_value_token(h, n, i, f->value);
	}
	return hash_word(h, (uint64_t)level) | 1; /* 0 is never alike */
}

/* List the task's opens, which are few among its calls. */
static const struct normal_item **opens_of(const struct comparison *c, const struct normal *n,
					   struct normal_task *t, struct align_side *s)
{
	const struct normal_item **opens;
	size_t count = 0;

	for (size_t i = 0; i < t->nitems; i++)
		count += normal_is_open(n, &t->items[i]);
	opens = xcalloc(count + 1, sizeof(*opens));
	align_init(s, count, ALIGN_LEVELS);
	count = 0;
	for (size_t i = 0; i < t->nitems; i++)
		if (normal_is_open(n, &t->items[i]))
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

void compare_pair_opens(struct comparison *c, const struct both *t)
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

/* Identity of events ---------------------------------------------------------------- */

/* Return a token of the event's name. */
static uint64_t name_token(const struct normal_event *e, struct buf *scratch)
{
	static const struct normal_task nobody = { .name = "" };

	buf_reset(scratch);
	normal_event_name(&nobody, e, scratch);
	return hash_text(HASH_START, buf_str(scratch));
}

void compare_identify(const struct normal *n)
{
	struct buf scratch = { 0 };

	for (size_t i = 0; i < n->nevents; i++)
		normal_event_at(n, i)->ident = name_token(normal_event_at(n, i), &scratch);
	buf_free(&scratch);
}

void compare_rename_rest(struct comparison *c)
{
	struct map taken = { 0 };

	for (size_t i = 0; i < c->a->nevents; i++)
		map_set(&taken, normal_event_at(c->a, i)->ident, c);
	for (size_t i = 0; i < c->b->nevents; i++) {
		struct normal_event *e = normal_event_at(c->b, i);

		e->renamed = !e->mate && e->opened && map_get(&taken, e->ident);
	}
	map_free(&taken);
	compare_identify(c->b);
}
