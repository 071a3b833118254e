// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/die.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/lib/scan_text.h"

#ifndef LIBPEVTRACE
/* Break a message at blanks into lines of up to width columns; return its new length. */
static size_t wrap_message(char *line, size_t n, size_t width)
{
	static const char start[] = "\n    ";
	size_t more = strlen(start) - 1, begin = strlen("pevtrace: "), blank = 0;

	for (size_t i = begin, column = begin; i < n; i++, column++) {
		if (line[i] == ' ')
			blank = i;
		if (column < width || !blank)
			continue;
		memmove(line + blank + more, line + blank, n - blank);
		memcpy(line + blank, start, more + 1);
		n += more;
		i = blank + more;
		column = more;
		blank = 0;
	}
	return n;
}

/* Use one write, so that the line is not interleaved with the tracee's output. */
static void vwarn(const char *fmt, va_list ap)
{
	char text[2048], line[5 * sizeof(text) + 64]; /* with \ooo, and breaks of 20 columns or more */
	struct winsize size;
	size_t n = 0, len, step;

	vsnprintf(text, sizeof(text), fmt, ap);
	len = strlen(text);
	n += (size_t)sprintf(line, "pevtrace: ");
	for (size_t i = 0; i < len; i += step) {
		step = utf8_shown(text + i, len - i);
		if (!step) {
			n += (size_t)sprintf(line + n, "\\%03o", (unsigned char)text[i]);
			step = 1;
			continue;
		}
		memcpy(line + n, text + i, step);
		n += step;
	}
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col >= 20)
		n = wrap_message(line, n, size.ws_col);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* stderr itself failed */
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarn(fmt, ap);
	va_end(ap);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vwarn(fmt, ap);
	va_end(ap);
	exit(EXIT_TROUBLE);
}

const char *error_advice(int error)
{
	return error == EMFILE ? "; raise the limit of open files (ulimit -n)" :
	       error == ENFILE ? "; the system limit fs.file-max of open files is reached" :
	       error != EAGAIN ? "" :
	       "; raise the limit of processes (ulimit -u, pids.max of the cgroup)";
}
#endif

/* Allocation ------------------------------------------------------------------------ */

/* In libpevtrace, which must not end the process, return NULL. */
static void *or_die(void *p, size_t size)
{
#ifndef LIBPEVTRACE
	if (!p && size)
		die("out of memory (%zu bytes)", size);
#endif
	(void)size;
	return p;
}

void *xmalloc(size_t size)
{
	return or_die(malloc(size), size);
}

void *xcalloc(size_t n, size_t size)
{
	return or_die(calloc(n, size), n * size);
}

void *xrealloc(void *p, size_t size)
{
	return or_die(realloc(p, size), size);
}

void *xgrow(void *p, size_t n, size_t size)
{
	return n & (n - 1) || n == 1 ? p : xrealloc(p, (n ? 2 * n : 2) * size);
}

char *xstrdup(const char *s)
{
	return or_die(strdup(s), strlen(s) + 1);
}

char *xstrndup(const char *s, size_t len)
{
	char *copy = xmalloc(len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}
