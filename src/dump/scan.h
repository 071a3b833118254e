/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON text (RFC 8259) taken apart in place: one pass, no object for each value.
 *
 * json-c, which writes dumps, would read them too.  But of two members with one
 * name it takes the last without a word, it takes some texts that are no JSON,
 * and most of the time of a decode went into objects that nobody looks at.
 */
#ifndef PEVTRACE_DUMP_SCAN_H
#define PEVTRACE_DUMP_SCAN_H

#include <stddef.h>
#include <stdint.h>

enum scan_type {
	SCAN_NULL,
	SCAN_FALSE,
	SCAN_TRUE,
	SCAN_INT,		/* a number without fraction and exponent */
	SCAN_REAL,
	SCAN_STRING,
	SCAN_BYTES,		/* never scanned: dump_get_bytes() makes it of a string */
	SCAN_ARRAY,
	SCAN_OBJECT,
};

/* What is in an array or object follows it in memory. */
struct scan_value {
	char *key;		/* NUL-terminated; NULL where it is no member */
	char *text;		/* a string, decoded and NUL-terminated; a number's digits */
	uint32_t key_len;
	uint32_t len;		/* bytes of text; how many an array or object holds */
	uint32_t size;		/* of it and all that is in it, in values */
	enum scan_type type;
};

/* Each value that is directly in the array or object. */
#define scan_for_each(value, in)	\
	for ((value) = (in) + 1; (value) < (in) + (in)->size; (value) += (value)->size)

struct scan;

/* For values nested up to that deep, the outermost counted. */
struct scan *scan_new(unsigned int nesting);
void scan_free(struct scan *s);

/*
 * Takes the text apart, which is changed and must stay while the values are
 * used; so must text[len], which is overwritten.  The value belongs to s until
 * the next call.  NULL with scan_error() when the text is not one JSON value in
 * UTF-8, nested too deeply, longer than 2 GiB, or has an object with two members
 * of the same name.
 */
struct scan_value *scan_text(struct scan *s, char *text, size_t len);

/* What was wrong, with the column: the number of the byte, from 1 on. */
const char *scan_error(const struct scan *s);

/* The member of an object; NULL when there is none. */
struct scan_value *scan_member(struct scan_value *object, const char *key);

#endif
