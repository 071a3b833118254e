/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Validation of UTF-8, and its characters. */
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
