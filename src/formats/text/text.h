/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sink that writes values in strace's format. */
#pragma once

#include "core/abi/sink.h"
#include "core/lib/buf.h"

enum { TEXT_DEPTH = 16 };

/* Colours, by the kind of text. */
enum text_color {
	COLOR_NONE,
	COLOR_CALL,	/* calls, headings */
	COLOR_ERROR,	/* causes, failures, what is lost or dead */
	COLOR_WARNING,	/* what may be wrong */
	COLOR_NOTE,
	COLOR_STRING,
	COLOR_GOOD = COLOR_STRING, /* fixes, what works */
};

/* Which strings have all bytes in hex; the last: only these bytes of any string. */
enum text_hex { HEX_NEVER, HEX_NON_ASCII, HEX_ALL, HEX_NON_ASCII_CHARS };

struct text_sink {
	struct sink sink;
	struct buf *out;
	bool labels;		/* label descriptors: 5<cpu-clock cpu0> */
	bool color;
	enum text_hex hex;
	/*
	 * Values at the top level are arguments of a call, without keys, or, with
	 * results, what the call returned, with keys except for arguments of plain.
	 */
	bool results;
	const struct call_desc *plain;
	unsigned int depth;
	struct {
		enum sink_shape shape;
		bool any;
	} level[TEXT_DEPTH];
};

/* Initialise a sink that appends to out. */
void text_sink_init(struct text_sink *t, struct buf *out);

/* Begin a new list of arguments or results at the top level. */
void text_sink_top(struct text_sink *t, bool results, const struct call_desc *d);

/* Append text, in a colour if color is set. */
void text_colored(struct buf *out, bool color, enum text_color c, const char *text);

/* Append a C string literal of at most max bytes; "..." marks one that is cut. */
void text_quoted(struct buf *out, const char *bytes, size_t len, size_t max, bool cut,
		 enum text_hex hex);

/* Append a meaning: "Id of the event" as "id of the event"; "TLB" and "BPF program" are kept. */
void text_meaning(struct buf *out, const char *meaning);

/* Append text with control bytes and comment ends escaped. */
void text_escaped(struct buf *out, const char *text);
