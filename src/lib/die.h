/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one way to report trouble: a line on stderr that starts "pevtrace: ". */
#ifndef PEVTRACE_LIB_DIE_H
#define PEVTRACE_LIB_DIE_H

#include <stddef.h>

/* Exit statuses of pevtrace itself, when there is no target's to pass on. */
enum {
	EXIT_YES = 0,
	EXIT_NO = 1,		/* differs, fails the check */
	EXIT_TROUBLE = 2,	/* misuse, or the machine said no */
};

/*
 * One line: what is wrong, where, and what to do.  The text takes no newline
 * and no program name.  Control characters in it, and what is no UTF-8, are
 * printed as \ooo, so that a hostile file name cannot drive the user's terminal.
 */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* warn(), then exit with EXIT_TROUBLE. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "; " and what to do about an errno of a limit that is reached, or "". */
const char *error_advice(int error);

/* Allocation that dies instead of returning NULL.  free() releases. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);

#endif
