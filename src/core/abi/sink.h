/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoders pass values with their meaning to a sink, which turns them into text,
 * JSON or another format.
 *
 * Every value has a key: the name of the field or argument.  Values are between a
 * begin and its end, except those at the top level.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/abi/xlat.h"

struct sink;

enum sink_shape {
	SINK_OBJECT,	/* keys matter */
	SINK_ARRAY,	/* keys are NULL */
};

/* One piece of a packed word: value of x, moved left by shift. */
struct sink_part {
	const struct xlat *xlat;	/* NULL: a plain number */
	uint64_t value;
	unsigned int shift;
};

enum value_kind {
	VALUE_UINT,
	VALUE_SINT,	/* number is an int64_t */
	VALUE_HEX,	/* a mask, id or other number that reads best in hexadecimal */
	VALUE_ADDR,	/* an address in the target; 0 is the null pointer */
	VALUE_ENUM,	/* one value of a table; may be one that the table does not know */
	VALUE_FLAGS,	/* a set of flags (or bit numbers) of a table; unknown bits are possible */
	VALUE_PACKED,	/* a word composed of parts; number is the whole */
	VALUE_SYMBOL,	/* a name without a table, such as a signal's: text, which ends with NUL */
	VALUE_STRING,	/* text of the tracee, not trusted */
	VALUE_BYTES,	/* bytes of no known structure */
	VALUE_FD,	/* a descriptor, an int64_t; text is the name of its file, or NULL */
};

struct value {
	enum value_kind kind;
	bool cut;			/* the string or bytes were truncated */
	uint64_t number;
	const struct xlat *xlat;	/* of VALUE_ENUM and VALUE_FLAGS */
	const struct sink_part *parts;	/* of VALUE_PACKED */
	const char *text;
	size_t len;			/* bytes of text, or number of parts */
};

struct sink_ops {
	void (*begin)(struct sink *s, const char *key, enum sink_shape shape);
	void (*end)(struct sink *s);
	void (*value)(struct sink *s, const char *key, const struct value *v);
	/*
	 * A comment on the last value (after begin: on the object).  key is the
	 * constant kind of the comment: "event", "name", "words", "ignored",
	 * "unreadable", ...
	 */
	void (*note)(struct sink *s, const char *key, const char *text);
};

struct sink {
	const struct sink_ops *ops;
	bool full;	/* include fields that are zero */
	bool raw;	/* include values that the kernel ignores */
	size_t max_string; /* maximum bytes of a string or byte run */
};

/* Return the struct of the sink's own whose first member it is. */
static inline void *sink_self(struct sink *s)
{
	return s;
}

/* A sink that discards all values, for finding the end of a walk. */
extern const struct sink_ops sink_null_ops;

/* Passing values to a sink: one function for each kind ----------------------------------- */

static inline void sink_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	s->ops->begin(s, key, shape);
}

static inline void sink_end(struct sink *s)
{
	s->ops->end(s);
}

static inline void sink_note(struct sink *s, const char *key, const char *text)
{
	s->ops->note(s, key, text);
}

static inline void sink_number(struct sink *s, const char *key, enum value_kind kind, uint64_t v)
{
	s->ops->value(s, key, &(struct value){ .kind = kind, .number = v });
}

static inline void sink_uint(struct sink *s, const char *key, uint64_t v)
{
	sink_number(s, key, VALUE_UINT, v);
}

static inline void sink_sint(struct sink *s, const char *key, int64_t v)
{
	sink_number(s, key, VALUE_SINT, (uint64_t)v);
}

static inline void sink_hex(struct sink *s, const char *key, uint64_t v)
{
	sink_number(s, key, VALUE_HEX, v);
}

static inline void sink_addr(struct sink *s, const char *key, uint64_t v)
{
	sink_number(s, key, VALUE_ADDR, v);
}

static inline void sink_enum(struct sink *s, const char *key, const struct xlat *x, uint64_t v)
{
	s->ops->value(s, key, &(struct value){ .kind = VALUE_ENUM, .number = v, .xlat = x });
}

static inline void sink_flags(struct sink *s, const char *key, const struct xlat *x, uint64_t v)
{
	s->ops->value(s, key, &(struct value){ .kind = VALUE_FLAGS, .number = v, .xlat = x });
}

static inline void sink_packed(struct sink *s, const char *key, uint64_t raw,
			       const struct sink_part *parts, size_t n)
{
	s->ops->value(s, key, &(struct value){
		.kind = VALUE_PACKED, .number = raw, .parts = parts, .len = n });
}

static inline void sink_symbol(struct sink *s, const char *key, const char *word)
{
	s->ops->value(s, key, &(struct value){
		.kind = VALUE_SYMBOL, .text = word, .len = strlen(word) });
}

static inline void sink_string(struct sink *s, const char *key, const char *text, size_t len,
			       bool cut)
{
	s->ops->value(s, key, &(struct value){
		.kind = VALUE_STRING, .text = text, .len = len, .cut = cut });
}

static inline void sink_bytes(struct sink *s, const char *key, const void *bytes, size_t len,
			      bool cut)
{
	s->ops->value(s, key, &(struct value){
		.kind = VALUE_BYTES, .text = bytes, .len = len, .cut = cut });
}

static inline void sink_fd(struct sink *s, const char *key, int64_t fd, const char *label)
{
	s->ops->value(s, key, &(struct value){
		.kind = VALUE_FD, .number = (uint64_t)fd, .text = label,
		.len = label ? strlen(label) : 0 });
}

/* sink_note() with a format. */
void sink_notef(struct sink *s, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
