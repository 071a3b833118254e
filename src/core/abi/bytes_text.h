/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes written as text: hexadecimal digits, C strings, C lists. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/lib/scan_text.h"

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

/* Return whether the text goes on with what. */
static inline bool text_ahead(const struct text_cursor *c, const char *what)
{
	size_t n = strlen(what);

	return (size_t)(c->end - c->at) >= n && !memcmp(c->at, what, n);
}

static inline const char *text_find(const char *at, const char *end, const char *what)
{
	return memmem(at, (size_t)(end - at), what, strlen(what));
}

static inline void text_skip_blanks(struct text_cursor *c)
{
	c->at = scan_blanks(c->at, c->end);
}

/* Skip blanks, and what if it follows them; return whether it did. */
static inline bool text_take(struct text_cursor *c, const char *what)
{
	bool follows;

	text_skip_blanks(c);
	follows = text_ahead(c, what);
	c->at += follows ? strlen(what) : 0;
	return follows;
}

/* Return the length of the word that follows. */
static inline size_t text_word_at(const struct text_cursor *c)
{
	return scan_word(c->at, c->end);
}

/* Return whether the text consists of bytes in one of the forms of bytes_read(). */
bool bytes_like(const char *text, size_t len);

/*
 * Read all of the text into out, at most max bytes: hexadecimal digits with or
 * without 0x and blanks; a list of numbers with commas, in braces or not; or C
 * escapes, in quotes or not.  Return false with c->why on an error.
 */
bool bytes_read(struct text_cursor *c, uint8_t *out, size_t max, size_t *len);

/* Return whether the text has a dump of bytes by xxd, hexdump, od, gdb's x or the kernel. */
bool bytes_dump_like(const char *text, size_t len);

/* Read the next dump, at most max bytes of it, and move behind it; false: an error, or c->at is c->end. */
bool bytes_dump_read(struct text_cursor *c, uint8_t *out, size_t max, size_t *len);

/*
 * Read the C string literal at c, whose quote is next, and move behind it.  More than
 * max bytes are an error.
 */
bool bytes_read_literal(struct text_cursor *c, uint8_t *out, size_t max, size_t *len);
