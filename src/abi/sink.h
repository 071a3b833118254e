/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoders pass values with their meaning to a sink, which turns them into text,
 * JSON or another format.
 *
 * Every value has a key: the name of the field or argument.  Values are between a
 * begin and its end, except those at the top level.
 */
#ifndef PEVTRACE_ABI_SINK_H
#define PEVTRACE_ABI_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/xlat.h"

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
	/* A word put together from parts; raw is the whole. */
	void (*packed)(struct sink *s, const char *key, uint64_t raw,
		       const struct sink_part *parts, size_t n);
	/* A word that stands for itself, such as a signal's name. */
	void (*symbol)(struct sink *s, const char *key, const char *word);
	/* Text of the target: hostile bytes.  cut: there was more. */
	void (*string)(struct sink *s, const char *key, const char *bytes,
		       size_t len, bool cut);
	/* Bytes of no known structure. */
	void (*bytes)(struct sink *s, const char *key, const void *bytes,
		      size_t len, bool cut);
	/* A descriptor and what it is known to be; label may be NULL. */
	void (*fd)(struct sink *s, const char *key, int64_t fd,
		   const char *label);
	/*
	 * Says more about the value (or, after begin, the object) that came
	 * last.  key tells what it says and never changes: "event", "name",
	 * "words", "ignored", "unreadable", ...
	 */
	void (*note)(struct sink *s, const char *key, const char *text);
};

struct sink {
	const struct sink_ops *ops;
	bool full;	/* wants fields that are zero too */
	bool raw;	/* wants what the kernel ignores as if it counted */
	size_t max_string; /* bytes of a string or byte run worth handing over */
};

/* Takes everything and keeps nothing: for walks whose end is what matters. */
extern const struct sink_ops sink_null_ops;

/* note() with a format. */
void sink_notef(struct sink *s, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
