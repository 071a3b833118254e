/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of tracefs' events/SYSTEM/NAME/format, as a list of fields.  The
 * kernel writes it in f_show() of kernel/trace/trace_events.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
