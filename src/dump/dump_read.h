/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a dump back, line by line, with memory for one line at a time. */
#ifndef PEVTRACE_DUMP_DUMP_READ_H
#define PEVTRACE_DUMP_DUMP_READ_H

#include <stdbool.h>
#include <stdio.h>

#include "dump/scan.h"

struct dump_reader;

enum dump_line {
	DUMP_LINE,	/* there is one */
	DUMP_BAD,	/* it is no object of ours: dump_error() says why */
	DUMP_EOF,
};

/* A reader of f, which stays the caller's. */
struct dump_reader *dump_reader_new(FILE *f);
void dump_reader_free(struct dump_reader *r);

/*
 * The next line as an object, owned by the reader until the next call.  A line
 * that is too long or that scan_text() refuses is DUMP_BAD, and reading can go
 * on behind it.
 */
enum dump_line dump_next(struct dump_reader *r, struct scan_value **o);

/* The number of the line that came last, from 1 on. */
unsigned long dump_line_number(const struct dump_reader *r);

/* What is wrong with it, in words. */
const char *dump_error(const struct dump_reader *r);

/*
 * Members of an object.  False when there is none, or not of that kind: a
 * number that does not fit, a string for a number.  Out is not touched then.
 */
bool dump_get_int(struct scan_value *o, const char *key, int64_t *v);
bool dump_get_uint(struct scan_value *o, const char *key, uint64_t *v);
bool dump_get_bool(struct scan_value *o, const char *key, bool *v);

/* A number written "0x...". */
bool dump_get_hex(struct scan_value *o, const char *key, uint64_t *v);

/* A string, which lives as long as o; NULL when there is none. */
const char *dump_get_string(struct scan_value *o, const char *key);

/* The same, by its bytes in KEY_hex where it was not UTF-8. */
const char *dump_get_text(struct scan_value *o, const char *key);

/* A string or number itself, such as the element of an array. */
bool dump_hex(const struct scan_value *v, uint64_t *n);
bool dump_int(const struct scan_value *v, int64_t *n);

/* An array or an object, or NULL. */
struct scan_value *dump_get_array(struct scan_value *o, const char *key);
struct scan_value *dump_get_object(struct scan_value *o, const char *key);

/*
 * Bytes written as hexadecimal digits, NUL-terminated and alive as long as o.
 * They take the place of the digits: it is no string any more.  False where the
 * member is missing or is not such digits.
 */
bool dump_get_bytes(struct scan_value *o, const char *key, const uint8_t **bytes,
		    size_t *len);

#endif
