/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes written as text: hexadecimal digits, C strings, C lists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A position in a text, and the first error. */
struct text_cursor {
	const char *at, *end;
	char why[200];		/* one line without a full stop, "" without an error */
};

/* Store the first error. */
void text_cursor_note(struct text_cursor *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The same as an expression that is false, which compilers and analyzers can see. */
#define text_cursor_fail(...) ({ text_cursor_note(__VA_ARGS__); false; })

/* Return how many bytes at c->at a message quotes, for "%.*s". */
static inline int text_cursor_some(const struct text_cursor *c)
{
	return c->end - c->at < 20 ? (int)(c->end - c->at) : 20;
}

/* Return whether the text consists of bytes in one of the forms of bytes_read(). */
bool bytes_like(const char *text, size_t len);

/*
 * Read all of the text into out, at most max bytes: hexadecimal digits with or
 * without 0x and blanks; a list of numbers with commas, in braces or not; or C
 * escapes, in quotes or not.  Return false with c->why on an error.
 */
bool bytes_read(struct text_cursor *c, uint8_t *out, size_t max, size_t *len);

/*
 * Read the C string literal at c, whose quote is next, and move behind it.  More than
 * max bytes are an error.
 */
bool bytes_read_literal(struct text_cursor *c, uint8_t *out, size_t max, size_t *len);
