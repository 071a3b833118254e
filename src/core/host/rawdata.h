/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The raw data of a tracepoint's samples (PERF_SAMPLE_RAW), field by field, as
 * tracefs' events/SYSTEM/NAME/format lays it out.  The kernel writes that in f_show() of
 * kernel/trace/trace_events.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/sink.h"

enum raw_kind {
	RAW_NUMBER,	/* of 1, 2, 4 or 8 bytes, or an array of them */
	RAW_STRING,	/* ends at its first NUL */
	RAW_BYTES,	/* a structure, or octets */
};

enum raw_base {
	RAW_DECIMAL,
	RAW_HEX,
	RAW_ADDR,
};

struct raw_field {
	char *name;
	enum raw_kind kind;
	enum raw_base base;
	uint32_t offset, size;	/* bytes */
	uint32_t elem;		/* bytes of one number */
	uint32_t narrow;	/* bytes of size that have a meaning; 0: all */
	bool is_signed;
	bool common;		/* all events have it */
	bool array;		/* size 0: up to the end of the data */
	bool dynamic;		/* it holds the offset and length of the value */
	bool relative;		/* that offset is relative to the field's end */
};

struct raw_format {
	struct raw_field *fields;
	size_t nfields;
};

/*
 * Parse the len bytes of text, which may be hostile, as dumps contain formats.  Return false,
 * with f empty, if they describe no event.  raw_format_free() releases f.
 */
bool raw_format_parse(struct raw_format *f, const char *text, size_t len);
void raw_format_free(struct raw_format *f);

/*
 * Add a field; for parsers (a test has its own).  type is the text before the name, count
 * the number of array elements, or 0.  The members of field other than name, offset, size,
 * is_signed and array are derived from them.  f owns the name then.
 */
void raw_format_add(struct raw_format *f, struct raw_field field,
		    const char *type, unsigned long count);

/*
 * Set the base of numbers to RAW_HEX or RAW_ADDR as the event's own "print fmt" does.
 * text is the whole format, NUL-terminated.
 */
void raw_format_hints(struct raw_format *f, const char *text);

struct rawdata;

/*
 * Create a decoder; never NULL.  format returns the text of a tracepoint's format file, or
 * NULL; it is called until it succeeds once for the id.
 */
struct rawdata *rawdata_new(const char *(*format)(void *ctx, uint64_t id), void *ctx);
void rawdata_free(struct rawdata *r);

/*
 * Emit a value for each field of the len bytes of raw data, into an object that has begun.
 * Fields that all events share (common_*) go only to a sink with full set.  Keys live as
 * long as r.
 *
 * tracepoint_id is attr.config of the event, or 0 if the event is not known: then the id at
 * the start of the data is used.  Do not call this for events of other types (BPF output,
 * other PMUs): their bytes could match any tracepoint's.
 *
 * Return false, with nothing emitted, if the tracepoint or its format is not known, the data
 * has another id, or it contains none of the fields.  Fields beyond the end of the data are
 * omitted, with a note "size"; a field that points beyond it has a note "unreadable".
 */
bool rawdata_emit(struct rawdata *r, uint64_t tracepoint_id,
		  const uint8_t *data, size_t len, struct sink *s);

/*
 * Convert raw data of the other byte order to that of this machine by the same format; leave it
 * if rawdata_emit() would return false.
 */
void rawdata_swap(struct rawdata *r, uint64_t tracepoint_id, uint8_t *data, size_t len);
