/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared declarations of the predicates in refusals_*.c. */
#pragma once

#include "core/abi/ioctl.h"
#include "core/abi/refusals.h"
#include "core/abi/rules_internal.h"

typedef int refusal_fn(const struct refusal_facts *in);

/* Every check has a predicate, except those decided by chance. */
#define REFUSAL(id, name) refusal_fn refusal_##name;
#define REFUSAL_CHANCE(id, name)
#include "xlat/refusal_ids.h"
#undef REFUSAL
#undef REFUSAL_CHANCE

/* Define the predicate of a check that is one expression of the facts, in. */
#define REFUSES(name, judgement) \
	int refusal_##name(const struct refusal_facts *in) { return judgement; }

static inline uint64_t used_get(const struct used_event *e, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, e->attr, e->len);
}

/* Numbers of the checks of mmap. */
void refusal_numbers_pages(const struct refusal_facts *in, struct buf *out);
void refusal_numbers_memlock(const struct refusal_facts *in, struct buf *out);
void refusal_numbers_aux(const struct refusal_facts *in, bool size, struct buf *out);

/* Return the length of an mmap in pages, rounded up as the kernel does. */
uint64_t refusal_map_pages(const struct refusal_facts *in);
