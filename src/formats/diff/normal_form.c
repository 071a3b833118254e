// SPDX-License-Identifier: LGPL-2.1-or-later
/* Forms and events, which calls refer to. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/map.h"
#include "core/lib/scan_text.h"
#include "core/model/event_name.h"
#include "formats/diff/normal.h"
#include "formats/diff/normal_sink.h"

struct normal_forms {
	struct map by_hash;	/* hash -> first form of a chain */
	struct normal_form **list;
	size_t n;
	/* the draft that is looked up: */
	struct buf text;	/* "key\0value\0", with places for indices */
	uint32_t *refs;
	size_t nrefs;
};

/* Drafts ------------------------------------------------------------------------ */

void draft_begin(struct normal_draft *d, const struct call_desc *desc)
{
	d->desc = desc;
	d->subject = NULL;
	d->nfields = 0;
	d->late = d->refers = d->probe = false;
}

void draft_free(struct normal_draft *d)
{
	for (size_t i = 0; i < d->room; i++) {
		buf_free(&d->fields[i].key);
		buf_free(&d->fields[i].value);
	}
	free(d->fields);
	buf_free(&d->scratch);
	free(d);
}

void draft_add(struct normal_draft *d, const char *key, const char *value)
{
	struct draft_field *f;

	for (size_t i = 0; i < d->nfields; i++) {
		f = &d->fields[i];
		if (strcmp(buf_str(&f->key), key))
			continue;
		buf_addc(&f->value, ',');
		buf_adds(&f->value, value);
		return;
	}
	if (d->nfields == d->room) {
		d->room = d->room ? 2 * d->room : 8;
		d->fields = xrealloc(d->fields, d->room * sizeof(*f));
		memset(d->fields + d->nfields, 0, (d->room - d->nfields) * sizeof(*f));
	}
	f = &d->fields[d->nfields++];
	buf_reset(&f->key);
	buf_adds(&f->key, key);
	buf_reset(&f->value);
	buf_adds(&f->value, value);
}

/* References ---------------------------------------------------------------------- */

bool normal_next_ref(const char **text, size_t *before, uint32_t *number)
{
	const char *start = *text, *at = strchr(start, REF_START);
	char *end;

	*before = at ? (size_t)(at - start) : strlen(start);
	*text = start + *before;
	if (!at)
		return false;
	*number = (uint32_t)strtoul(at + 1, &end, 10);
	*text = *end == REF_END ? end + 1 : end;
	return true;
}

/* Return the index of an event among those of the draft. */
static uint32_t place(struct normal_forms *s, uint32_t index)
{
	for (size_t i = 0; i < s->nrefs; i++)
		if (s->refs[i] == index)
			return (uint32_t)i;
	GROW(s->refs, s->nrefs);
	s->refs[s->nrefs] = index;
	return (uint32_t)s->nrefs++;
}

/* Forms ----------------------------------------------------------------------------- */

struct normal_forms *normal_forms_new(void)
{
	return xcalloc(1, sizeof(struct normal_forms));
}

void normal_forms_free(struct normal_forms *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i]);
	map_free(&s->by_hash);
	buf_free(&s->text);
	free(s->list);
	free(s->refs);
	free(s);
}

const struct normal_form *normal_form(const struct normal *n, const struct normal_item *i)
{
	return n->forms->list[i->form];
}

const char *normal_get(const struct normal_form *f, const char *key)
{
	for (size_t k = 0; k < f->nfields; k++)
		if (!strcmp(f->fields[k].key, key))
			return f->fields[k].value;
	return NULL;
}

/* Return the form with that head and the text in the store's buffer, created if new. */
static const struct normal_form *normal_form_find(struct normal_forms *s, struct normal_form *like)
{
	uint64_t h = hash_bytes(HASH_START, buf_str(&s->text), s->text.len);
	size_t fields = like->nfields * sizeof(struct normal_field);
	struct normal_form *first, *f;
	struct normal_field *field;
	char *text;

	h = hash_word(h, (uint64_t)like->desc->id << 8 | (uint64_t)like->subject << 2 |
			 (uint64_t)like->probe << 1 | like->late);
	first = map_get(&s->by_hash, h);
	for (f = first; f; f = f->next)
		if (f->desc == like->desc && f->len == s->text.len &&
		    f->subject == like->subject && f->probe == like->probe &&
		    f->late == like->late && f->nrefs == like->nrefs &&
		    (!f->nfields || !memcmp(f->fields[0].key, s->text.data, f->len)))
			return f;
	/* the form, its fields and their text are one object */
	f = xmalloc(sizeof(*f) + fields + s->text.len);
	field = (struct normal_field *)(f + 1);
	text = (char *)(f + 1) + fields;
	*f = *like;
	f->next = first;
	f->len = s->text.len;
	f->fields = field;
	f->number = (uint32_t)s->n;
	memcpy(text, buf_str(&s->text), s->text.len);
	for (size_t i = 0; i < f->nfields; i++, field++) {
		field->key = text;
		field->value = text + strlen(text) + 1;
		text += strlen(text) + 1;
		text += strlen(text) + 1;
	}
	f->masked = f->desc->class == CLASS_OPEN && normal_get(f, "cpu") &&
		    !strcmp(normal_get(f, "cpu"), "some");
	APPEND(s->list, s->n) = f;
	map_set(&s->by_hash, h, f);
	return f;
}

const struct normal_form *normal_form_of(struct normal_forms *s,
					 const struct normal_draft *d, size_t subject,
					 const uint32_t **refs)
{
	struct normal_form like = {
		.desc = d->desc, .nfields = (uint32_t)d->nfields, .subject = d->subject,
		.late = d->late, .probe = d->probe,
	};

	s->nrefs = 0;
	buf_reset(&s->text);
	if (d->subject)
		place(s, (uint32_t)subject);
	for_each(f, d->fields, d->nfields) {
		const char *value = buf_str(&f->value), *start = value;
		uint32_t index;
		size_t before;

		buf_add(&s->text, buf_str(&f->key), f->key.len);
		buf_addc(&s->text, '\0');
		for (; normal_next_ref(&value, &before, &index); start = value) {
			buf_add(&s->text, start, before);
			buf_addc(&s->text, REF_START);
			buf_addu(&s->text, place(s, index));
			buf_addc(&s->text, REF_END);
		}
		buf_add(&s->text, start, before + 1); /* and its NUL */
	}
	like.nrefs = (uint32_t)s->nrefs;
	*refs = s->refs;
	return normal_form_find(s, &like);
}

const struct normal_form *normal_form_with(struct normal_forms *s,
					   const struct normal_form *f, const char *key,
					   const char *value)
{
	struct normal_form like = *f;

	buf_reset(&s->text);
	for (size_t i = 0; i < f->nfields; i++) {
		const char *v = strcmp(f->fields[i].key, key) ? f->fields[i].value : value;

		buf_add(&s->text, f->fields[i].key, strlen(f->fields[i].key) + 1);
		buf_add(&s->text, v, strlen(v) + 1);
	}
	return normal_form_find(s, &like);
}

/* Events ----------------------------------------------------------------------------- */

/* Events are allocated in blocks, so that their addresses do not change. */
enum { EVENTS_BLOCK = 256 };

void normal_add_word(struct buf *out, const char *word)
{
	for (size_t n; *word; word += n ? n : 1) {
		n = strchr(" *|\"\\#", *word) ? 0 : utf8_shown(word, strlen(word));
		buf_add(out, n ? word : "_", n ? n : 1);
	}
}

/*
 * Return the event's name without modifiers and addresses: an event that differs in :u is
 * a changed event, not another one.
 */
static char *normal_base_name(const struct normal *n, const struct event *e)
{
	static const unsigned int modifiers[] = {
		ATTR_EXCLUDE_USER, ATTR_EXCLUDE_KERNEL, ATTR_PRECISE_IP,
	};
	const struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = e->attr, .len = e->attr_len,
		.names = n->names,
	};
	uint8_t attr[EVENT_ATTR_MAX] = { 0 };
	struct buf name = { 0 }, word = { 0 };
	const struct field *f;
	size_t at = 0;

	memcpy(attr, e->attr, e->attr_len);
	for (size_t i = 0; i < sizeof(modifiers) / sizeof(*modifiers); i++)
		field_clear(&w.layout->fields[modifiers[i]], attr, sizeof(attr));
	while ((f = layout_next(&w, &at)))
		if (f->kind == FIELD_ADDR || f->kind == FIELD_STRING)
			field_clear(f, attr, sizeof(attr));
	event_name(attr, e->attr_len, n->names, &name);
	normal_add_word(&word, name.len ? buf_str(&name) : "event");
	buf_free(&name);
	return word.data;
}

struct normal_event *normal_event_at(const struct normal *n, size_t index)
{
	return &n->events[index / EVENTS_BLOCK][index % EVENTS_BLOCK];
}

struct normal_event *normal_event_new(struct normal *n, const struct normal_task *t,
				      const char *base)
{
	size_t block = n->nevents / EVENTS_BLOCK;
	uint64_t h = hash_text(HASH_START, base);
	struct normal_event *e;
	char *known;

	if (n->nevents % EVENTS_BLOCK == 0) {
		n->events = xrealloc(n->events, (block + 1) * sizeof(struct normal_event *));
		n->events[block] = xcalloc(EVENTS_BLOCK, sizeof(*e));
	}
	e = normal_event_at(n, n->nevents);
	e->index = (uint32_t)n->nevents++;
	e->opener = t;
	/* the one copy of a name that many events share */
	while ((known = map_get(&n->bases, h)) && strcmp(known, base))
		h++;
	if (!known) {
		known = xstrdup(base);
		map_set(&n->bases, h, known);
	}
	e->base = known;
	e->cpu = -1;
	e->opens = 1;
	return e;
}

struct normal_event *normal_event_of(struct normal *n, struct normal_task *t,
				     const struct event *e)
{
	struct normal_event *new = map_get(&n->by_number, e->number);
	struct buf found = { 0 };
	char *name;

	if (new)
		return new;
	if (!event_known(e)) {
		buf_addf(&found, "found%u", ++t->founds);
		name = found.data;
	} else {
		name = normal_base_name(n, e);
	}
	new = normal_event_new(n, t, name);
	if (event_known(e))
		new->cpu = e->cpu;
	new->id_known = e->read_format & PERF_FORMAT_ID; /* each read returns one */
	map_set(&n->by_number, e->number, new);
	free(name);
	return new;
}

void normal_events_free(struct normal *n)
{
	for (size_t i = 0; i < n->nevents; i += EVENTS_BLOCK)
		free(n->events[i / EVENTS_BLOCK]);
	map_free_values(&n->bases);
	map_free(&n->by_number);
	free(n->events);
}
