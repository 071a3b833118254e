// SPDX-License-Identifier: LGPL-2.1-or-later
/* One copy for equal attrs: programs open thousands of events with the same one. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/model/state.h"

struct attr_kept {
	size_t refs;
	uint64_t hash;
	size_t len;
	uint8_t bytes[];
};

static struct attr_kept *kept_of(const uint8_t *bytes)
{
	return (struct attr_kept *)(bytes - offsetof(struct attr_kept, bytes));
}

const uint8_t *attr_keep(struct model *m, const uint8_t *attr, size_t len)
{
	uint64_t hash = hash_bytes(HASH_START, attr, len);
	struct attr_kept *k = map_get(&m->attrs, hash);

	if (k && k->len == len && (!len || !memcmp(k->bytes, attr, len))) {
		k->refs++;
		return k->bytes;
	}
	k = xcalloc(1, sizeof(*k) + len);
	k->refs = 1;
	k->hash = hash;
	k->len = len;
	if (len)
		memcpy(k->bytes, attr, len);
	map_set(&m->attrs, hash, k); /* on a collision, only the newer one is shared */
	return k->bytes;
}

size_t attr_holders(const uint8_t *kept)
{
	return kept_of(kept)->refs;
}

void attr_forget(struct model *m, const uint8_t *kept)
{
	struct attr_kept *k = kept_of(kept);

	if (--k->refs)
		return;
	if (map_get(&m->attrs, k->hash) == k)
		map_del(&m->attrs, k->hash);
	free(k);
}
