// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "core/lib/die.h"

/*
 * The slots stand in the order in which they came; an index of open addressing with linear probing
 * finds them.  The numbers may come from a dump that was written to collide, so a secret of this
 * process takes part in their hash.
 */

static size_t home(const struct map *m, uint64_t key)
{
	uint64_t hash = (key ^ m->secret[0]) * (m->secret[1] | 1);

	return (size_t)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15ULL >> 32) & (m->cap - 1);
}

/* Return the place of the key in the index, or the free one for it.  cap must not be 0. */
static size_t map_find(const struct map *m, uint64_t key)
{
	size_t i = home(m, key);

	while (m->index[i] && m->slots[m->index[i] - 1].key != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

void *map_get(const struct map *m, uint64_t key)
{
	uint32_t found = m->cap ? m->index[map_find(m, key)] : 0;

	return found ? m->slots[found - 1].value : NULL;
}

static void map_append(struct map *m, size_t at, const struct map_slot *slot)
{
	m->slots[m->used] = *slot;
	m->index[at] = (uint32_t)++m->used;
	m->len++;
}

/* Make room for one more, without the places of what was removed; false: no memory. */
static bool map_grow(struct map *m)
{
	struct map bigger = { .cap = m->cap ? m->cap : 16 };
	const void *random = (const void *)getauxval(AT_RANDOM);

	while (2 * (m->len + 1) > bigger.cap)
		bigger.cap *= 2;
	memcpy(bigger.secret, random ? random : bigger.secret, sizeof(bigger.secret));
	bigger.slots = xcalloc(bigger.cap / 4 * 3, sizeof(*bigger.slots));
	bigger.index = xcalloc(bigger.cap, sizeof(*bigger.index));
	if (!bigger.slots || !bigger.index) {
		map_free(&bigger);
		return false;
	}
	map_each(slot, m)
		map_append(&bigger, map_find(&bigger, slot->key), slot);
	map_free(m);
	*m = bigger;
	return true;
}

void *map_set(struct map *m, uint64_t key, void *value)
{
	void *before;
	size_t at;

	if (m->used >= m->cap / 4 * 3 && !map_grow(m))
		return value;
	at = map_find(m, key);
	if (!m->index[at]) {
		map_append(m, at, &(struct map_slot){ key, value });
		return NULL;
	}
	before = m->slots[m->index[at] - 1].value;
	m->slots[m->index[at] - 1].value = value;
	return before;
}

void *map_del(struct map *m, uint64_t key)
{
	size_t hole, i, mask = m->cap - 1;
	void *value;

	if (!m->cap)
		return NULL;
	hole = map_find(m, key);
	if (!m->index[hole])
		return NULL;
	value = m->slots[m->index[hole] - 1].value;
	m->slots[m->index[hole] - 1].value = NULL;
	m->len--;
	for (i = (hole + 1) & mask; m->index[i]; i = (i + 1) & mask) {
		size_t dist_home = (i - home(m, m->slots[m->index[i] - 1].key)) & mask;

		if (dist_home >= ((i - hole) & mask)) {
			m->index[hole] = m->index[i];
			hole = i;
		}
	}
	m->index[hole] = 0;
	return value;
}

struct map_slot *map_next(const struct map *m, size_t *at)
{
	while (*at < m->used) {
		struct map_slot *slot = &m->slots[(*at)++];

		if (slot->value)
			return slot;
	}
	return NULL;
}

struct map_slot *map_after(const struct map *m, const struct map_slot *slot)
{
	size_t at = slot ? (size_t)(slot - m->slots) + 1 : 0;

	return map_next(m, &at);
}

void map_free_values(struct map *m)
{
	map_each(slot, m)
		free(slot->value);
	map_free(m);
}

void map_free(struct map *m)
{
	free(m->slots);
	free(m->index);
	*m = (struct map){ 0 };
}
