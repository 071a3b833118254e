/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sink that writes decoded values as text in JSON, without json-c.  The objects are those
 * of dump/json_sink.h.
 */
#ifndef PEVTRACE_PUBLIC_JSON_TEXT_H
#define PEVTRACE_PUBLIC_JSON_TEXT_H

#include "abi/sink.h"
#include "lib/buf.h"

enum { JSON_TEXT_DEPTH = 16 };

struct json_text {
	struct sink sink;
	struct buf *out;
	/*
	 * Members that follow a value (KEY_name, notes), as NAME NUL TEXT NUL: kept until
	 * the next value of their object, as a later one of the same name replaces them.
	 */
	struct buf beside;
	unsigned int depth, beyond;	/* levels written, and those too deep to write */
	struct {
		enum sink_shape shape;
		const char *key;	/* of this level in the one above */
		bool any;
		size_t beside;		/* where its part of beside begins */
	} level[JSON_TEXT_DEPTH];
	const char *last;		/* key of the last value */
};

/* Begin an object in out, which values are put into. */
void json_text_begin(struct json_text *j, struct buf *out);

/* End the object, and free what j owns. */
void json_text_end(struct json_text *j);

#endif
