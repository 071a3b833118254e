/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Validation of UTF-8. */
#ifndef PEVTRACE_LIB_UTF8_H
#define PEVTRACE_LIB_UTF8_H

#include <stddef.h>

/*
 * Return the size of the character at p, of len (at least 1) bytes; 0: it is truncated,
 * overlong, a surrogate or beyond U+10FFFF.
 */
size_t utf8_at(const char *p, size_t len);

#endif
