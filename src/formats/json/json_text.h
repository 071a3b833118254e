/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sink that writes values as the text of a JSON object.
 *
 * Addresses, masks and configs become strings in hexadecimal, other numbers numbers.  A
 * value called KEY may have beside it KEY_name (enumerations), KEY_names and KEY_unknown
 * (flags, and bits without a name), KEY_label (descriptors), KEY_cut (truncated), KEY_hex
 * (text that is not UTF-8) and KEY_NOTE (notes).
 */
#pragma once

#include "core/abi/sink.h"
#include "core/lib/buf.h"

enum { JSON_TEXT_DEPTH = 16 };

struct json_text {
	struct sink sink;
	struct buf text;
	/*
	 * Members that follow a value (KEY_name, notes), as NAME NUL TEXT NUL: kept until
	 * the next value of their object, as a later one of the same name replaces them.
	 */
	struct buf beside;
	const char *unnamed;		/* key of values that have none, if not NULL */
	unsigned int depth, beyond;	/* levels written, and those too deep to write */
	struct json_text_level {
		enum sink_shape shape;
		const char *key;	/* of this level in the one above */
		bool any;
		size_t beside;		/* where its part of beside begins */
	} level[JSON_TEXT_DEPTH];
	const char *last;		/* key of the last value */
};

/* Begin an object, which values are put into until json_text_end() or json_text_drop(). */
void json_text_begin(struct json_text *j);

/* End the object, and return its text, one line without a newline, which the caller frees. */
struct buf json_text_end(struct json_text *j);

/* Return whether nothing was put into the object. */
bool json_text_empty(const struct json_text *j);

/* Free the object.  One that is zero or has ended is no object, and remains so. */
void json_text_drop(struct json_text *j);

/*
 * Add a member to the innermost object, or an element to the innermost array, where key is
 * NULL.  A string that is not UTF-8 has its bytes in KEY_hex, too; that of NULL is null.
 */
void json_add_int(struct json_text *j, const char *key, int64_t v);
void json_add_uint(struct json_text *j, const char *key, uint64_t v);
void json_add_hex(struct json_text *j, const char *key, uint64_t v);
void json_add_bool(struct json_text *j, const char *key, bool v);
void json_add_string(struct json_text *j, const char *key, const char *text);
void json_add_bytes(struct json_text *j, const char *key, const void *bytes, size_t len);

/*
 * Add the words of a command line; NULL is behind them, or words itself is.  Those that are not UTF-8
 * are approximated.
 */
void json_add_words(struct json_text *j, const char *key, char *const *words);

/* Add a value whose text is JSON. */
void json_add_raw(struct json_text *j, const char *key, const char *text);

/* End the object, and add it as a value, or its members. */
void json_add_object(struct json_text *j, const char *key, struct json_text *object);
void json_add_members(struct json_text *j, struct json_text *object);
