/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared declarations of the predicates in refusals_*.c. */
#pragma once

#include "core/abi/ioctl.h"
#include "core/abi/refusals.h"
#include "core/abi/rules_internal.h"

/* A call with values derived from it that several checks use. */
struct refusal_input {
	const struct refusal_facts *facts;
	const struct call *call;
	const struct rule_machine *machine;
	const struct used_event *event;	/* that of the descriptor */
	/* of calls on memory, in bytes: the range, rounded up to pages; mmap's offset */
	uint64_t page, addr, len, offset;
	/* of others: their third argument; the integer to which that points, if it was captured */
	uint64_t arg, pointed;
	bool captured;
};

typedef int refusal_fn(const struct refusal_input *in);

/* Every check has a predicate, except those decided by chance. */
#define REFUSAL(id, name) refusal_fn refusal_##name;
#define REFUSAL_CHANCE(id, name)
#include "xlat/refusal_ids.h"
#undef REFUSAL
#undef REFUSAL_CHANCE

/* Define the predicate of a check that is one expression of the input, in. */
#define REFUSES(name, judgement) \
	int refusal_##name(const struct refusal_input *in) { return judgement; }
#define REFUSES_IF(name, wrong) REFUSES(name, refuses_if(wrong))

static inline uint64_t used_get(const struct used_event *e, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, e->attr, e->len);
}

static inline uint64_t round_up(uint64_t v, uint64_t page)
{
	return v / page * page + (v % page ? page : 0);
}

static inline int unless_security(const struct refusal_input *in)
{
	return in->machine->security == FACT_NO ? RULE_PASSES : RULE_UNKNOWN;
}

static inline enum fact lacks_cap(const struct refusal_input *in, unsigned int cap)
{
	return rule_caps_lack(in->machine, cap, cap);
}

/* Refuse what a PMU may support if none does that is described in full. */
int unless_own_checks(const struct refusal_input *in, const struct used_event *e, int says);

/* Append the numbers of a check of calls on memory. */
void refusal_memory_numbers(const struct refusal_input *in, enum refusal_id id, struct buf *out);
