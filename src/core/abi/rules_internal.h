/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared declarations of the rule predicates in rules_*.c. */
#pragma once

#include <string.h>

#include "core/abi/rules.h"

/* A call with values derived from it that several rules use. */
struct rule_input {
	const struct rule_ask *ask;
	const struct rule_machine *machine;
	const struct rule_target *target;
	const struct rule_group *group; /* of the target */
	uint32_t size;		/* attr.size, where 0 means 64 */
	size_t len;		/* bytes of the attr that count */
	bool task, cgroup;	/* pid names a task, a cgroup; neither: CPUs */
	bool grouped;		/* group_fd is the leader to be */
	bool output;		/* with PERF_FLAG_FD_OUTPUT and a group_fd */
	const struct rule_pmu *pmu; /* of the event; NULL: none is known */
};

typedef int rule_fn(const struct rule_input *in);

/* Every rule has a predicate, except those decided by chance. */
#define RULE(id, name) rule_fn rule_##name;
#define RULE_CHANCE(id, name)
#include "core/abi/tables.h"
#include "xlat/rule_ids.h"
#undef RULE
#undef RULE_CHANCE

/* Define the predicate of a rule that is one expression of the input, in. */
#define PREDICATE(name, judgement) \
	int rule_##name(const struct rule_input *in) { return judgement; }

/* Return a member of the attr by its index in xlat/layouts.h. */
static inline uint64_t rule_get(const struct rule_input *in, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, in->ask->attr, in->len);
}

static inline bool rule_is_type(const struct rule_input *in, uint64_t type)
{
	return rule_get(in, ATTR_TYPE) == type;
}

static inline bool rule_samples(const struct rule_input *in, uint64_t sample_type)
{
	return rule_get(in, ATTR_SAMPLE_TYPE) & sample_type;
}

/* Return whether a kernel of that release has what came with since; 0: not known. */
static inline bool rule_in_release(uint32_t since, uint32_t release)
{
	return !release || since <= release;
}

static inline int refuses_if(bool wrong)
{
	return wrong ? RULE_REFUSES : RULE_PASSES;
}

/* Refuse if the required fact is false. */
static inline int refuses_unless(enum fact f)
{
	return f == FACT_YES ? RULE_PASSES : f == FACT_NO ? RULE_REFUSES : RULE_UNKNOWN;
}

/* Refuse if the condition holds and the fact is true. */
static inline int refuses_where(bool condition, enum fact f)
{
	return !condition || f == FACT_NO ? RULE_PASSES :
	       f == FACT_YES ? RULE_REFUSES : RULE_UNKNOWN;
}

/* Return whether the caller lacks both capabilities; one of them may be named twice. */
static inline enum fact rule_caps_lack(const struct rule_machine *m, unsigned int a,
				       unsigned int b)
{
	uint64_t either = 1ULL << a | 1ULL << b;

	return m->caps & either ? FACT_NO : m->caps_unread & either ? FACT_UNKNOWN : FACT_YES;
}

static inline enum fact rule_lacks(const struct rule_input *in, unsigned int a, unsigned int b)
{
	return rule_caps_lack(in->machine, a, b);
}

/* Negate the kernel's perfmon_capable(); CAP_PERFMON came with 5.8. */
static inline enum fact rule_no_perfmon(const struct rule_input *in)
{
	return rule_lacks(in, ABI_CAP_PERFMON, ABI_CAP_SYS_ADMIN);
}

static inline enum fact rule_no_admin(const struct rule_input *in)
{
	return rule_lacks(in, ABI_CAP_SYS_ADMIN, ABI_CAP_SYS_ADMIN);
}

/* Return whether both are true: false if one is. */
static inline enum fact fact_and(enum fact a, enum fact b)
{
	return a == FACT_NO || b == FACT_NO ? FACT_NO :
	       a == FACT_YES && b == FACT_YES ? FACT_YES : FACT_UNKNOWN;
}

/* Return whether v is above a limit of the machine; 0 is above none, even if that is unread. */
static inline enum fact rule_above(const struct rule_input *in, enum rule_unread number,
				   uint64_t limit, uint64_t v)
{
	return v && in->machine->unread & number ? FACT_UNKNOWN : fact_of(v > limit);
}

/* Return whether perf_event_paranoid is above the level and the caller is not privileged. */
static inline enum fact rule_paranoid(const struct rule_input *in, int32_t level)
{
	return fact_and(rule_no_perfmon(in), in->machine->unread & UNREAD_PARANOID ?
			FACT_UNKNOWN : fact_of(in->machine->paranoid > level));
}

/* Return whether the PMU has that name. */
static inline bool rule_is_pmu(const struct rule_input *in, const char *name)
{
	return in->pmu && !strcmp(in->pmu->name, name);
}

/* Return whether the PMU has the trait, as far as it is described; pmu is not NULL. */
enum fact rule_trait(const struct rule_input *in, const struct rule_pmu *pmu, uint64_t trait);

/* Return the first PMU of generic hardware events; NULL: none is known. */
const struct rule_pmu *rule_core_pmu(const struct rule_machine *m);

/*
 * Divide the config of a generic event: return the event, and in *type the type of the PMU that
 * its upper half names; 0: none, as before Linux 5.13.
 */
uint64_t rule_generic(const struct rule_machine *m, uint64_t config, uint32_t *type);

/* Refuse what the tables do not name: on a newer kernel, if nothing has changed. */
int refuses_unnamed(const struct rule_input *in);

/* Refuse bits of v that no entry of x names in the kernel's release. */
int rule_unknown_bits(const struct rule_input *in, uint64_t v, const struct xlat *x);

/*
 * Judge a check that updates added to several series, of a call that it would refuse: updates
 * lists the first one of each known series, up to 0.  In other series the result is not known.
 */
int rule_if_updated(uint32_t release, const uint32_t *updates);

/* Return the size of the kernel's struct perf_event_attr. */
uint32_t rule_attr_size(const struct rule_input *in);
