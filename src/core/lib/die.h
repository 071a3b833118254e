/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Error messages: lines on stderr that start with "pevtrace: ". */
#pragma once

#include <stddef.h>

#include "core/lib/list.h"

/* Exit statuses of pevtrace itself, used when no tracee's is passed on. */
enum {
	EXIT_YES = 0,
	EXIT_NO = 1,		/* differs, fails the check */
	EXIT_TROUBLE = 2,	/* wrong usage, or an error of the system */
};

/*
 * Print one line: what is wrong, where, and what to do, without newline and program
 * name.  Control characters and invalid UTF-8 are printed as \ooo, so that a hostile
 * file name cannot control the terminal.
 */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* warn(), then exit with EXIT_TROUBLE. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Return "; " and a remedy for an errno of an exceeded limit, or "". */
const char *error_advice(int error);

/*
 * Allocation that dies instead of returning NULL; free() releases.  In libpevtrace, it returns
 * NULL: files that the library contains must be prepared for that.
 */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
/* Return an array with room for element n; its capacity doubles at powers of two. */
void *xgrow(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len); /* copies len bytes, all readable, and adds a NUL */

/* Make room for element n of a list; the capacity is a power of two.  Not in libpevtrace. */
#define GROW(list, n)								\
	do {									\
		if (!((n) & ((n) - 1)))						\
			(list) = xrealloc(list, ((n) ? 2 * (n) : 1) * sizeof(*(list))); \
	} while (0)

/* Add an element to a list, to be assigned to; do not use list or n in its value.  Likewise. */
#define APPEND(list, n) (*((list) = xgrow(list, n, sizeof(*(list))), &(list)[(n)++]))
