/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts that are kept once, however often they come, and known by number. */
#ifndef PEVTRACE_REPORT_POOL_H
#define PEVTRACE_REPORT_POOL_H

#include <stdint.h>

#include "lib/buf.h"
#include "lib/map.h"

/* Zero-initialised is empty. */
struct pool {
	struct buf bytes;
	size_t *at;		/* where each begins; it ends with a NUL */
	size_t n;
	struct map by_hash;	/* to its number + 1 */
};

/* The number of the text, which is copied unless it is there. */
uint32_t pool_add(struct pool *p, const char *text);

/* The text; valid until the next pool_add(). */
static inline const char *pool_get(const struct pool *p, uint32_t number)
{
	return p->bytes.data + p->at[number];
}

void pool_free(struct pool *p);

#endif
