/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes written as text: hexadecimal digits, C strings, C lists. */
#ifndef PEVTRACE_ABI_BYTES_TEXT_H
#define PEVTRACE_ABI_BYTES_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where something is read from text, and what was wrong with it. */
struct text_cursor {
	const char *at, *end;
	char why[200];		/* one line without a full stop, "" while all is well */
};

/* Notes the first trouble. */
void text_cursor_note(struct text_cursor *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same; always false, which compilers and analysers are to see, too. */
#define text_cursor_fail(...) ({ text_cursor_note(__VA_ARGS__); false; })

/* How much of what follows a message is to quote: for "%.*s" with c->at. */
static inline int text_cursor_some(const struct text_cursor *c)
{
	return c->end - c->at < 20 ? (int)(c->end - c->at) : 20;
}

/* Whether the text is nothing but bytes in one of the forms of bytes_read(). */
bool bytes_like(const char *text, size_t len);

/*
 * Reads all of the text into out, at most max bytes: hexadecimal digits with or
 * without 0x and blanks; a list of numbers with commas, in braces or not; or C
 * escapes, in quotes or not.  False with c->why.
 */
bool bytes_read(struct text_cursor *c, uint8_t *out, size_t max, size_t *len);

/*
 * Reads the C string literal at c, whose quote is next, and moves behind it.
 * What does not fit into max is an error.
 */
bool bytes_read_literal(struct text_cursor *c, uint8_t *out, size_t max, size_t *len);

#endif
