/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sink that makes JSON objects (json-c) out of decoded values. */
#ifndef PEVTRACE_DUMP_JSON_SINK_H
#define PEVTRACE_DUMP_JSON_SINK_H

#include <json-c/json_object.h>

#include "abi/sink.h"
#include "dump/json_new.h"

enum { JSON_DEPTH = 16 };

/*
 * Numbers become numbers; addresses, masks and configs strings in hexadecimal.
 * Beside a value called KEY stand KEY_name (one of a table), KEY_names (a set)
 * with KEY_unknown (bits without a name), KEY_label (a descriptor), KEY_cut
 * (there was more), KEY_hex (text that is not UTF-8) and KEY_NOTE for notes.
 */
struct json_sink {
	struct sink sink;
	unsigned int depth, beyond;	/* levels kept, and those too deep to keep */
	struct {
		struct json_object *object;
		const char *key;	/* of this level in the one above */
	} level[JSON_DEPTH];
	const char *last;		/* key of the value that came last */
};

/* Values go into top, an object that the caller keeps. */
void json_sink_init(struct json_sink *j, struct json_object *top);

/* "0x1f" as a new string object. */
struct json_object *json_hex(uint64_t v);

/* Bytes as a new string object of two hexadecimal digits each. */
struct json_object *json_bytes(const void *bytes, size_t len);

/*
 * A new string object: the text where it is UTF-8 without control bytes that
 * would be lost; what is not becomes U+FFFD, and *clean false.
 */
struct json_object *json_text(const char *text, size_t len, bool *clean);

#endif
