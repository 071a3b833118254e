// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/report/pool.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/hash.h"

static uint32_t append(struct pool *p, const char *text)
{
	if (!(p->n & (p->n - 1))) /* the capacity is a power of two */
		p->at = xrealloc(p->at, (p->n ? 2 * p->n : 1) * sizeof(*p->at));
	p->at[p->n] = p->bytes.len;
	buf_add(&p->bytes, text, strlen(text) + 1);
	return (uint32_t)p->n++;
}

uint32_t pool_add(struct pool *p, const char *text)
{
	uint64_t hash = hash_text(HASH_START, text);
	uintptr_t found;
	uint32_t number;

	/* on a collision, use the next free key */
	while ((found = (uintptr_t)map_get(&p->by_hash, hash))) {
		if (!strcmp(pool_get(p, (uint32_t)(found - 1)), text))
			return (uint32_t)(found - 1);
		hash++;
	}
	number = append(p, text);
	map_set(&p->by_hash, hash, (void *)(uintptr_t)(number + 1));
	return number;
}

void pool_free(struct pool *p)
{
	buf_free(&p->bytes);
	free(p->at);
	map_free(&p->by_hash);
}
