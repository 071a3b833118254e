/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts that are stored once and referred to by number. */
#pragma once

#include <stdint.h>

#include "core/lib/buf.h"
#include "core/lib/map.h"

/* Zero-initialised is empty. */
struct pool {
	struct buf bytes;
	size_t *at;		/* start of each, NUL-terminated */
	size_t n;
	struct map by_hash;	/* number + 1 */
};

/* Return the number of text, and add a copy if it is new. */
uint32_t pool_add(struct pool *p, const char *text);

/* Return a text; valid until the next pool_add(). */
static inline const char *pool_get(const struct pool *p, uint32_t number)
{
	return p->bytes.data + p->at[number];
}

void pool_free(struct pool *p);
