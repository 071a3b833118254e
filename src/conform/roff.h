/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines of a page in man(7) markup, without markup. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum roff_kind {
	ROFF_TITLE,	/* .TH: its arguments, separated by blanks */
	ROFF_SECTION,	/* .SH */
	ROFF_SUBSECTION, /* .SS */
	ROFF_TAG,	/* the tag of .TP, .TQ or .IP */
	ROFF_TEXT,	/* prose */
	ROFF_CODE,	/* a line between .EX and .EE, or .nf and .fi */
	ROFF_BREAK,	/* the end of a paragraph: .PP, .RE, ...; text is "" */
};

struct roff_line {
	enum roff_kind kind;
	unsigned int line;	/* number of its first line, from 1 */
	const char *text;	/* without markup, NUL-terminated */
	const char *fonts;	/* 'R', 'B' or 'I' for each byte of text */
	size_t len;
	int depth;		/* .RS without .RE before it */
	bool macro;		/* from one font macro, as .BR */
	bool also;		/* a tag of .TQ: a further one of its paragraph */
	bool open;		/* the next line continues the last word (\c) */
};

/*
 * Call line for each line of a page; it is valid during the call only.  Any bytes are
 * accepted: unknown macros and definitions are skipped.
 */
void roff_read(const char *bytes, size_t len,
	       void (*line)(void *ctx, const struct roff_line *l), void *ctx);
