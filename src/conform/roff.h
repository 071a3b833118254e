/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines of a page in man(7) markup, without their escapes. */
#ifndef PEVTRACE_CONFORM_ROFF_H
#define PEVTRACE_CONFORM_ROFF_H

#include <stdbool.h>
#include <stddef.h>

enum roff_kind {
	ROFF_TITLE,	/* .TH: its arguments, blanks between them */
	ROFF_SECTION,	/* .SH */
	ROFF_SUBSECTION, /* .SS */
	ROFF_TAG,	/* the tag of .TP, .TQ or .IP */
	ROFF_TEXT,	/* running text */
	ROFF_CODE,	/* a line between .EX and .EE, or .nf and .fi */
	ROFF_BREAK,	/* the end of a paragraph: .PP, .RE, ...; text is "" */
};

struct roff_line {
	enum roff_kind kind;
	unsigned int line;	/* where it begins, from 1 */
	const char *text;	/* without markup, NUL-terminated */
	const char *fonts;	/* 'R', 'B' or 'I' for each byte of text */
	size_t len;
	bool macro;		/* all of it came from one font macro, as .BR */
	bool open;		/* what follows belongs to the same word (\c) */
};

/*
 * Hands over the lines of a page one after the other; they live until the
 * function returns.  Whatever the bytes are, there is some reading of them:
 * macros that man(7) has not are skipped, and so is what they define.
 */
void roff_read(const char *bytes, size_t len,
	       void (*line)(void *ctx, const struct roff_line *l), void *ctx);

#endif
