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
	sink_note(s, key, text);
}

/* A sink that takes values and does nothing with them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static void null_begin(struct sink *s, const char *key, enum sink_shape shape) { }
static void null_end(struct sink *s) { }
static void null_value(struct sink *s, const char *key, const struct value *v) { }
static void null_note(struct sink *s, const char *key, const char *text) { }

const struct sink_ops sink_null_ops = {
	.begin = null_begin, .end = null_end, .value = null_value, .note = null_note,
};
