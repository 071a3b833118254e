/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash map from 64-bit numbers (pids, fds, ids, addresses) to pointers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value; /* NULL: removed */
};

/* Zero-initialised is empty.  The map owns its slots, never the values. */
struct map {
	struct map_slot *slots; /* in the order in which their keys came */
	uint32_t *index;	/* by hash: the number of a slot and 1, or 0 */
	size_t cap;		/* of index: a power of two, or 0 */
	size_t used;		/* slots, with those removed */
	size_t len;		/* without those */
	uint64_t secret[2];	/* prevents keys chosen to collide */
};

void *map_get(const struct map *m, uint64_t key);

/*
 * Store value (not NULL) under key; return the previous value or NULL.  In libpevtrace, if memory is
 * exhausted, store nothing and return value.
 */
void *map_set(struct map *m, uint64_t key, void *value);

/* Remove the key; return its value or NULL. */
void *map_del(struct map *m, uint64_t key);

/*
 * Iterate over all entries in the order in which their keys came: start with *at = 0; NULL at the
 * end.  Between the calls entries may be removed, but none may be added.
 */
struct map_slot *map_next(const struct map *m, size_t *at);

/* Return the entry after a slot, or the first one after NULL.  Likewise. */
struct map_slot *map_after(const struct map *m, const struct map_slot *slot);
#define map_each(slot, m) for (struct map_slot *slot = NULL; (slot = map_after(m, slot));)

void map_free(struct map *m);

/* The same, and free(3) each value. */
void map_free_values(struct map *m);
