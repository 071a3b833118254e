/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON text (RFC 8259) parsed in place: one pass, no object for each value.
 *
 * json-c could read dumps, too.  But it accepts some text that is no JSON, keeps the last of
 * two members with one name silently, and most of the time of decode went into objects that
 * nobody used.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum json_value_type {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_INT,		/* a number without fraction and exponent */
	JSON_REAL,
	JSON_STRING,
	JSON_BYTES,		/* never scanned: dump_get_bytes() converts a string */
	JSON_ARRAY,
	JSON_OBJECT,
};

/* The values in an array or object follow it in memory. */
struct json_value {
	char *key;		/* NUL-terminated; NULL if not a member */
	char *text;		/* a string, decoded and NUL-terminated; a number's digits */
	uint32_t key_len;
	uint32_t len;		/* bytes of text; values in an array or object */
	uint32_t size;		/* the value and all within it */
	enum json_value_type type;
};

/* Iterate over the direct values of an array or object. */
#define json_for_each(value, in)	\
	for ((value) = (in) + 1; (value) < (in) + (in)->size; (value) += (value)->size)

struct json_scan;

/* Return a scanner of values nested up to that depth, including the outermost. */
struct json_scan *json_scan_new(unsigned int nesting);
void json_scan_free(struct json_scan *s);

/*
 * Parse the text, which is modified (text[len] included) and must stay while the values
 * are used.  s owns the value until the next call.  Return NULL, see json_scan_error(), if the
 * text is not one JSON value in UTF-8, is nested too deeply or longer than 2 GiB, or has
 * an object with two members of one name.
 */
struct json_value *json_scan_text(struct json_scan *s, char *text, size_t len);

/* Return the error, with the column: the number of the byte, counted from 1. */
const char *json_scan_error(const struct json_scan *s);

/* Return the member of an object, or NULL. */
struct json_value *json_scan_member(struct json_value *object, const char *key);
