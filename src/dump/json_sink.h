/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sink that turns decoded values into JSON objects of json-c. */
#ifndef PEVTRACE_DUMP_JSON_SINK_H
#define PEVTRACE_DUMP_JSON_SINK_H

#include <json-c/json_object.h>

#include "abi/sink.h"
#include "dump/json_new.h"

enum { JSON_DEPTH = 16 };

/*
 * Addresses, masks and configs become strings in hexadecimal, other numbers numbers.  A
 * value called KEY may have beside it KEY_name (enumerations), KEY_names and KEY_unknown
 * (flags, and bits without a name), KEY_label (descriptors), KEY_cut (truncated), KEY_hex
 * (text that is not UTF-8) and KEY_NOTE (notes).
 */
struct json_sink {
	struct sink sink;
	unsigned int depth, beyond;	/* levels kept, and those too deep to keep */
	struct {
		struct json_object *object;
		const char *key;	/* of this level in the one above */
	} level[JSON_DEPTH];
	const char *last;		/* key of the last value */
};

/* Put values into top, which the caller owns. */
void json_sink_init(struct json_sink *j, struct json_object *top);

/* Return "0x1f" as a new string object. */
struct json_object *json_hex(uint64_t v);

/* Return the bytes as a new string object of two hexadecimal digits each. */
struct json_object *json_bytes(const void *bytes, size_t len);

/*
 * Return the text as a new string object.  Bytes that are not UTF-8, and control bytes
 * that JSON would lose, become U+FFFD and set *clean to false.
 */
struct json_object *json_text(const char *text, size_t len, bool *clean);

#endif
