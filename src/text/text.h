/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sink that writes values as strace would. */
#ifndef PEVTRACE_TEXT_TEXT_H
#define PEVTRACE_TEXT_TEXT_H

#include "abi/sink.h"
#include "lib/buf.h"

enum { TEXT_DEPTH = 16 };

/* Colours by what a piece of text is. */
enum text_color {
	COLOR_NONE, COLOR_CALL, COLOR_ERROR, COLOR_NOTE, COLOR_STRING,
};

struct text_sink {
	struct sink sink;
	struct buf *out;
	bool labels;		/* write what descriptors are: 5<cpu-clock cpu0> */
	bool color;
	/*
	 * Values at the top are the arguments of a call (keys unwritten), or,
	 * with results, what came back (keys before the value).  plain names
	 * the call whose arguments need no key there either.
	 */
	bool results;
	const struct call_desc *plain;
	unsigned int depth;
	struct {
		enum sink_shape shape;
		bool any;
	} level[TEXT_DEPTH];
};

/* A sink that appends to out. */
void text_sink_init(struct text_sink *t, struct buf *out);

/* Begins a new list of arguments or results at the top. */
void text_sink_top(struct text_sink *t, bool results, const struct call_desc *d);

/* Appends text in a colour, if the sink has colours. */
void text_colored(struct buf *out, bool color, enum text_color c, const char *text);

/* Appends a C string literal; bytes beyond max are cut off with "...". */
void text_quoted(struct buf *out, const char *bytes, size_t len, size_t max,
		 bool cut);

/* Appends text with control bytes and comment ends made harmless. */
void text_escaped(struct buf *out, const char *text);

#endif
