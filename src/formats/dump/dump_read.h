/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a dump line by line, with memory for one line at a time. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "formats/json/json_scan.h"

struct dump_reader;

enum dump_line {
	DUMP_LINE,	/* a line was read */
	DUMP_BAD,	/* not a JSON object: dump_error() says why */
	DUMP_EOF,
};

/*
 * Return a reader of f, which the caller closes.  If f is unbuffered, lines are returned as they
 * come; what was pushed back to it is read first.
 */
struct dump_reader *dump_reader_new(FILE *f);
void dump_reader_free(struct dump_reader *r);

/*
 * Read the next line as an object that the reader owns until the next call.  DUMP_BAD:
 * the line is too long or json_scan_text() refuses it; the next call reads on after it.
 */
enum dump_line dump_next(struct dump_reader *r, struct json_value **o);

/* Return whether the next line may take its time: f is unbuffered, and has no more now. */
bool dump_waits(const struct dump_reader *r);

/* Set how many bytes of f were read, and how many it has; return false if that is unknown. */
bool dump_progress(const struct dump_reader *r, uint64_t *done, uint64_t *total);

/* Return the number of the line read last, counted from 1. */
unsigned long dump_line_number(const struct dump_reader *r);

/* Return the error of the line read last. */
const char *dump_error(const struct dump_reader *r);

/*
 * Read a member of an object.  Return false and leave *out alone if it is missing, of
 * another type or out of range.
 */
bool dump_get_int(struct json_value *o, const char *key, int64_t *v);
bool dump_get_uint(struct json_value *o, const char *key, uint64_t *v);
bool dump_get_bool(struct json_value *o, const char *key, bool *v);

/* Read a number written as "0x...". */
bool dump_get_hex(struct json_value *o, const char *key, uint64_t *v);

/* Return a string, which lives as long as o, or NULL. */
const char *dump_get_string(struct json_value *o, const char *key);

/* As dump_get_string(), from the bytes in KEY_hex if it was not UTF-8. */
const char *dump_get_text(struct json_value *o, const char *key);

/* Read the value itself, such as an element of an array. */
bool dump_hex(const struct json_value *v, uint64_t *n);
bool dump_int(const struct json_value *v, int64_t *n);

/* Return an array or an object, or NULL. */
struct json_value *dump_get_array(struct json_value *o, const char *key);
struct json_value *dump_get_object(struct json_value *o, const char *key);

/*
 * Read bytes written as hexadecimal digits, NUL-terminated; they live as long as o and
 * overwrite the string.  Return false if the member is missing or no such digits.
 */
bool dump_get_bytes(struct json_value *o, const char *key, uint8_t **bytes, size_t *len);
