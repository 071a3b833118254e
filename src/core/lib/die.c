// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/die.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/lib/utf8.h"

/* Return the size of a character that is safe for a terminal; 0: it is not. */
static size_t harmless(const char *p, size_t len)
{
	size_t n = utf8_at(p, len);
	unsigned char first = (unsigned char)p[0];
	bool control = n == 1 ? first < ' ' || first == 0x7f :
		       n == 2 && first == 0xc2 && (unsigned char)p[1] < 0xa0;

	return control ? 0 : n;
}

/* Use one write, so that the line is not interleaved with the tracee's output. */
static void vwarn(const char *fmt, va_list ap)
{
	char text[2048], line[4 * sizeof(text) + 16];
	size_t n = 0, len, step;

	vsnprintf(text, sizeof(text), fmt, ap);
	len = strlen(text);
	n += (size_t)sprintf(line, "pevtrace: ");
	for (size_t i = 0; i < len; i += step ? step : 1) {
		step = harmless(text + i, len - i);
		if (!step)
			n += (size_t)sprintf(line + n, "\\%03o", (unsigned char)text[i]);
		memcpy(line + n, text + i, step);
		n += step;
	}
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
	switch (error) {
	case EMFILE:
		return "; raise the limit of open files (ulimit -n)";
	case ENFILE:
		return "; the system limit fs.file-max of open files is reached";
	case EAGAIN:
		return "; raise the limit of processes (ulimit -u, pids.max of the cgroup)";
	default:
		return "";
	}
}
