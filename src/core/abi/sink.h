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

struct sink_ops {
	void (*begin)(struct sink *s, const char *key, enum sink_shape shape);
	void (*end)(struct sink *s);
	void (*uint)(struct sink *s, const char *key, uint64_t v);
	void (*sint)(struct sink *s, const char *key, int64_t v);
	/* A mask, id or other number that reads best in hexadecimal. */
	void (*hex)(struct sink *s, const char *key, uint64_t v);
	/* An address in the target; 0 is the null pointer. */
	void (*addr)(struct sink *s, const char *key, uint64_t v);
	/* One value of a table; may be one that the table does not know. */
	void (*enumeration)(struct sink *s, const char *key,
			    const struct xlat *x, uint64_t v);
	/* A set of flags (or bit numbers); unknown bits are possible. */
	void (*flags)(struct sink *s, const char *key, const struct xlat *x,
		      uint64_t v);
	/* A word composed of parts; raw is the whole. */
	void (*packed)(struct sink *s, const char *key, uint64_t raw,
		       const struct sink_part *parts, size_t n);
	/* A name without a table, such as a signal's. */
	void (*symbol)(struct sink *s, const char *key, const char *word);
	/* Text of the tracee, not trusted.  cut: it was truncated. */
	void (*string)(struct sink *s, const char *key, const char *bytes,
		       size_t len, bool cut);
	/* Bytes of no known structure. */
	void (*bytes)(struct sink *s, const char *key, const void *bytes,
		      size_t len, bool cut);
	/* A descriptor and the name of its file; label may be NULL. */
	void (*fd)(struct sink *s, const char *key, int64_t fd,
		   const char *label);
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

/* A sink that discards all values, for finding the end of a walk. */
extern const struct sink_ops sink_null_ops;

/* note() with a format. */
void sink_notef(struct sink *s, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
