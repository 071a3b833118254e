// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/rawdata.h"

#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/swap.h"
#include "core/host/rawformat.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/map.h"

struct rawdata {
	const char *(*format)(void *ctx, uint64_t id);
	void *ctx;
	struct map formats;	/* id -> struct raw_format, empty if its text is malformed */
};

struct rawdata *rawdata_new(const char *(*format)(void *ctx, uint64_t id), void *ctx)
{
	struct rawdata *r = xcalloc(1, sizeof(*r));

	r->format = format;
	r->ctx = ctx;
	return r;
}

void rawdata_free(struct rawdata *r)
{
	struct map_slot *slot;
	size_t at = 0;

	if (!r)
		return;
	while ((slot = map_next(&r->formats, &at))) {
		raw_format_free(slot->value);
		free(slot->value);
	}
	map_free(&r->formats);
	free(r);
}

static const struct raw_format *find_format(struct rawdata *r, uint64_t id)
{
	struct raw_format *f = map_get(&r->formats, id);
	const char *text;

	if (f)
		return f;
	/* do not cache a failure: the format may be available later */
	text = r->format(r->ctx, id);
	if (!text)
		return NULL;
	f = xcalloc(1, sizeof(*f));
	if (raw_format_parse(f, text, strlen(text)))
		raw_format_hints(f, text);
	map_set(&r->formats, id, f);
	return f;
}

static void emit_number(const struct raw_field *f, const char *key,
			const uint8_t *p, struct sink *s)
{
	uint64_t v = load_uint(p, f->elem);
	unsigned int unused = 64 - 8 * (unsigned int)(f->narrow ? f->narrow : f->elem);

	if (f->narrow)
		v = (uint32_t)v;
	if (f->base == RAW_ADDR)
		s->ops->addr(s, key, v);
	else if (f->base == RAW_HEX)
		s->ops->hex(s, key, v);
	else if (f->is_signed)
		s->ops->sint(s, key, (int64_t)(v << unused) >> unused); /* extends the sign */
	else
		s->ops->uint(s, key, v);
}

static void emit_text(const struct raw_field *f, const uint8_t *p, size_t n,
		      struct sink *s)
{
	bool is_string = f->kind == RAW_STRING, cut;

	if (is_string)
		n = strnlen((const char *)p, n);
	cut = n > s->max_string;
	if (cut)
		n = s->max_string;
	if (is_string)
		s->ops->string(s, f->name, (const char *)p, n, cut);
	else
		s->ops->bytes(s, f->name, p, n, cut);
}

static void emit_value(const struct raw_field *f, const uint8_t *p, size_t n,
		       struct sink *s)
{
	if (f->kind != RAW_NUMBER) {
		emit_text(f, p, n, s);
	} else if (f->array || f->dynamic) {
		s->ops->begin(s, f->name, SINK_ARRAY);
		/* bytes that are less than a number are padding */
		for (; n >= f->elem; p += f->elem, n -= f->elem)
			emit_number(f, NULL, p, s);
		s->ops->end(s);
	} else {
		emit_number(f, f->name, p, s);
	}
}

/*
 * Emit a value through its location: 16 bits of offset, then 16 of length
 * (include/trace/stages/stage5_get_offsets.h).
 */
static void emit_dynamic(const struct raw_field *f, const uint8_t *data,
			 size_t len, struct sink *s)
{
	uint64_t word = load_uint(data + f->offset, 4);
	size_t at = word & 0xffff, n = word >> 16;

	if (f->relative)
		at += (size_t)f->offset + f->size;
	if (at <= len && n <= len - at) {
		emit_value(f, data + at, n, s);
		return;
	}
	s->ops->hex(s, f->name, word);
	sink_notef(s, "unreadable", "%zu bytes at %zu of %zu", n, at, len);
}

static bool is_there(const struct raw_field *f, size_t len)
{
	if (f->dynamic && f->size != 4)
		return false;
	return f->offset <= len && f->size <= len - f->offset;
}

static bool wanted(const struct raw_field *f, const struct sink *s)
{
	return s->full || !f->common;
}

static void emit_field(const struct raw_field *f, const uint8_t *data,
		       size_t len, struct sink *s)
{
	/* "char buf[]" at the end extends to the end of the data */
	size_t n = f->array && !f->size ? len - f->offset : f->size;

	if (f->dynamic)
		emit_dynamic(f, data, len, s);
	else
		emit_value(f, data + f->offset, n, s);
}

bool rawdata_emit(struct rawdata *r, uint64_t tracepoint_id,
		  const uint8_t *data, size_t len, struct sink *s)
{
	const struct raw_format *f;
	size_t there = 0, missing = 0;

	if (len < 2 || (tracepoint_id && load_uint(data, 2) != tracepoint_id))
		return false;
	f = find_format(r, load_uint(data, 2));
	if (!f || !f->nfields)
		return false;
	for (size_t i = 0; i < f->nfields; i++)
		if (wanted(&f->fields[i], s))
			*(is_there(&f->fields[i], len) ? &there : &missing) += 1;
	if (!there && missing)
		return false;
	for (size_t i = 0; i < f->nfields; i++)
		if (wanted(&f->fields[i], s) && is_there(&f->fields[i], len))
			emit_field(&f->fields[i], data, len, s);
	if (missing)
		sink_notef(s, "bounds", "too short for %zu fields", missing);
	return true;
}

static void swap_field(const struct raw_field *f, uint8_t *data, size_t len)
{
	size_t at = f->offset, n = f->array && !f->size ? len - f->offset : f->size;
	uint64_t word;

	if (f->dynamic) {
		swap_words(data + at, 4, 4);
		word = load_uint(data + at, 4);
		at = (word & 0xffff) + (f->relative ? at + f->size : 0);
		n = word >> 16;
	}
	if (f->kind == RAW_NUMBER && at <= len && n <= len - at)
		swap_words(data + at, n, f->elem);
}

void rawdata_swap(struct rawdata *r, uint64_t tracepoint_id, uint8_t *data, size_t len)
{
	const struct raw_format *f;

	if (len < 2 || (tracepoint_id && swap_load(data, 2) != tracepoint_id))
		return;
	f = find_format(r, swap_load(data, 2));
	for (size_t i = 0; f && i < f->nfields; i++)
		if (is_there(&f->fields[i], len))
			swap_field(&f->fields[i], data, len);
}
