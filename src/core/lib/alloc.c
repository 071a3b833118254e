// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

/* In libpevtrace, which must not end the process, return NULL. */
static void *or_die(void *p, size_t size)
{
#ifdef LIBPEVTRACE
	(void)size;
#else
	if (!p && size)
		die("out of memory (%zu bytes)", size);
#endif
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
