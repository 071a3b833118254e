// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/sink.h"

#include <stdarg.h>
#include <stdio.h>

void sink_notef(struct sink *s, const char *key, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->ops->note(s, key, text);
}

/* A sink that takes values and does nothing with them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static void null_begin(struct sink *s, const char *key, enum sink_shape shape) { }
static void null_end(struct sink *s) { }
static void null_u64(struct sink *s, const char *key, uint64_t v) { }
static void null_sint(struct sink *s, const char *key, int64_t v) { }
static void null_table(struct sink *s, const char *key, const struct xlat *x, uint64_t v) { }
static void null_packed(struct sink *s, const char *key, uint64_t raw,
			const struct sink_part *parts, size_t n) { }
static void null_text(struct sink *s, const char *key, const char *text) { }
static void null_string(struct sink *s, const char *key, const char *bytes, size_t len, bool cut) { }
static void null_bytes(struct sink *s, const char *key, const void *bytes, size_t len, bool cut) { }
static void null_fd(struct sink *s, const char *key, int64_t fd, const char *label) { }

const struct sink_ops sink_null_ops = {
	.begin = null_begin, .end = null_end, .uint = null_u64, .sint = null_sint,
	.hex = null_u64, .addr = null_u64, .enumeration = null_table,
	.flags = null_table, .packed = null_packed, .symbol = null_text,
	.string = null_string, .bytes = null_bytes, .fd = null_fd, .note = null_text,
};
