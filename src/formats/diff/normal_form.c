// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/diff/normal_form.h"

#include <stdlib.h>
#include <string.h>

#include "core/abi/args.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/map.h"

struct normal_forms {
	struct map by_hash;	/* hash -> first form of a chain */
	struct normal_form **list;
	size_t n;
	/* the draft that is looked up: */
	struct buf text;	/* "key\0value\0", with places for indices */
	uint32_t *refs;
	size_t nrefs, room;
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
	if (s->nrefs == s->room) {
		s->room = s->room ? 2 * s->room : 8;
		s->refs = xrealloc(s->refs, s->room * sizeof(*s->refs));
	}
	s->refs[s->nrefs] = index;
	return (uint32_t)s->nrefs++;
}

static void add_value(struct normal_forms *s, const char *value)
{
	const char *start = value;
	uint32_t index;
	size_t before;

	while (normal_next_ref(&value, &before, &index)) {
		buf_add(&s->text, start, before);
		buf_addc(&s->text, REF_START);
		buf_addu(&s->text, place(s, index));
		buf_addc(&s->text, REF_END);
		start = value;
	}
	buf_add(&s->text, start, before);
	buf_addc(&s->text, '\0');
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

const struct normal_form *normal_form_number(const struct normal_forms *s, uint32_t number)
{
	return s->list[number];
}

const char *normal_get(const struct normal_form *f, const char *key)
{
	for (size_t k = 0; k < f->nfields; k++)
		if (!strcmp(f->fields[k].key, key))
			return f->fields[k].value;
	return NULL;
}

/* A form, its fields and their text, allocated as one object. */
static struct normal_form *form_new(struct normal_forms *s, const struct normal_form *like)
{
	size_t fields = like->nfields * sizeof(struct normal_field);
	struct normal_form *f = xmalloc(sizeof(*f) + fields + s->text.len);
	struct normal_field *field = (struct normal_field *)(f + 1);
	char *text = (char *)(f + 1) + fields;

	*f = *like;
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
	if (!(s->n & (s->n - 1))) /* grows in powers of two */
		s->list = xrealloc(s->list, (s->n ? 2 * s->n : 1) * sizeof(*s->list));
	s->list[s->n++] = f;
	return f;
}

/* Return the form with that head and the text in the store's buffer, created if new. */
static const struct normal_form *normal_form_find(struct normal_forms *s, struct normal_form *like)
{
	uint64_t h = hash_bytes(HASH_START, buf_str(&s->text), s->text.len);
	struct normal_form *first, *f;

	h = hash_word(h, (uint64_t)like->desc->id << 8 | (uint64_t)like->subject << 2 |
			 (uint64_t)like->probe << 1 | like->late);
	first = map_get(&s->by_hash, h);
	for (f = first; f; f = f->next)
		if (f->desc == like->desc && f->len == s->text.len &&
		    f->subject == like->subject && f->probe == like->probe &&
		    f->late == like->late && f->nrefs == like->nrefs &&
		    (!f->nfields || !memcmp(f->fields[0].key, s->text.data, f->len)))
			return f;
	like->next = first;
	like->len = s->text.len;
	f = form_new(s, like);
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
	for (size_t i = 0; i < d->nfields; i++) {
		buf_add(&s->text, buf_str(&d->fields[i].key), d->fields[i].key.len);
		buf_addc(&s->text, '\0');
		add_value(s, buf_str(&d->fields[i].value));
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
