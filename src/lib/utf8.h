/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether bytes are UTF-8. */
#ifndef PEVTRACE_LIB_UTF8_H
#define PEVTRACE_LIB_UTF8_H

#include <stddef.h>

/*
 * How many bytes the character at p has, of len (at least 1) that there are;
 * 0: it is none, for it is cut off, overlong, a surrogate or beyond U+10FFFF.
 */
size_t utf8_at(const char *p, size_t len);

#endif
