// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/map.h"

#include <stdlib.h>

#include "core/lib/die.h"

/* Open addressing with linear probing; deletion moves followers back. */

static size_t home(const struct map *m, uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15ULL) >> 32) & (m->cap - 1);
}

/* Return the key's slot, or the free one for it.  cap must not be 0. */
static struct map_slot *map_find(const struct map *m, uint64_t key)
{
	size_t i = home(m, key);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

void *map_get(const struct map *m, uint64_t key)
{
	return m->cap ? map_find(m, key)->value : NULL;
}

void *map_set(struct map *m, uint64_t key, void *value)
{
	struct map bigger = { .cap = m->cap ? m->cap * 2 : 16, .len = m->len };
	struct map_slot *slot;
	void *before;

	if (4 * (m->len + 1) > 3 * m->cap) {
		bigger.slots = xcalloc(bigger.cap, sizeof(*bigger.slots));
		if (!bigger.slots)
			return value;
		for (size_t i = 0; i < m->cap; i++)
			if (m->slots[i].value)
				*map_find(&bigger, m->slots[i].key) = m->slots[i];
		free(m->slots);
		*m = bigger;
	}
	slot = map_find(m, key);
	before = slot->value;
	if (!before)
		m->len++;
	*slot = (struct map_slot){ key, value };
	return before;
}

void *map_del(struct map *m, uint64_t key)
{
	struct map_slot *slot;
	size_t hole, i;
	void *value;

	if (!m->cap)
		return NULL;
	slot = map_find(m, key);
	value = slot->value;
	if (!value)
		return NULL;
	m->len--;
	hole = (size_t)(slot - m->slots);
	for (i = (hole + 1) & (m->cap - 1); m->slots[i].value;
	     i = (i + 1) & (m->cap - 1)) {
		size_t dist_home = (i - home(m, m->slots[i].key)) & (m->cap - 1);
		size_t dist_hole = (i - hole) & (m->cap - 1);

		if (dist_home >= dist_hole) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole].value = NULL;
	return value;
}

struct map_slot *map_next(const struct map *m, size_t *at)
{
	while (*at < m->cap) {
		struct map_slot *slot = &m->slots[(*at)++];

		if (slot->value)
			return slot;
	}
	return NULL;
}

void map_free_values(struct map *m)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(m, &at)))
		free(slot->value);
	map_free(m);
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}
