/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Characters of UTF-8, numbers, words and ranges at the front of a text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Return the size of the character at p, of len (at least 1) bytes; 0: it is truncated,
 * overlong, a surrogate or beyond U+10FFFF.
 */
size_t utf8_at(const char *p, size_t len);

/* Return the code point of the character at p, whose size utf8_at() returned. */
uint32_t utf8_code(const char *p, size_t size);

/*
 * Return whether a terminal may obey the character, or not show it: control characters and
 * those of Unicode's categories Cf (of direction, of no width, tags), Zl and Zp.
 */
bool utf8_obeyed(uint32_t code);

/*
 * Return the size of the character at p, of len (at least 1) bytes, if text may show it as it is; 0:
 * it is no UTF-8, or utf8_obeyed(): show its first byte as \ooo.
 */
static inline size_t utf8_shown(const char *p, size_t len)
{
	size_t n = utf8_at(p, len);

	return n && !utf8_obeyed(utf8_code(p, n)) ? n : 0;
}

/* Bases of numbers.  SCAN_C: as in C, decimal, 0x1f or 017. */
enum { SCAN_C = 0, SCAN_DECIMAL = 10, SCAN_HEX = 16 };

/*
 * Read digits at *at, up to end or, where that is NULL, up to the NUL, and move
 * *at behind them.  Return false without a digit (*at does not move) or if
 * the value exceeds 64 bits.  Neither blanks nor signs are skipped.
 */
bool scan_number(const char **at, const char *end, unsigned int base, uint64_t *v);

/* Read a text that is one number from least to most, and nothing else. */
bool scan_whole(const char *text, unsigned int base, uint64_t least, uint64_t most,
		uint64_t *v);

/* Do the same for a number that may have a minus sign. */
bool scan_signed(const char *text, unsigned int base, int64_t least, int64_t most,
		 int64_t *v);

/*
 * Read the first range of a list such as "0-3,8" in the format of sysfs, and the
 * comma behind it.  *at is at the NUL after the last one.
 */
bool scan_range(const char **at, uint64_t *first, uint64_t *last);

static inline bool scan_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool scan_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Return whether c may be in an identifier of C. */
static inline bool scan_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || scan_is_digit(c) || c == '_';
}

/* Return the length of the word at the front of a text that ends at end, or (NULL) at a NUL. */
size_t scan_word(const char *at, const char *end);

/* Skip blanks; return the first other character, or end. */
const char *scan_blanks(const char *at, const char *end);

/* Return what follows the last slash of a path, or all of it. */
const char *scan_base_name(const char *path);
