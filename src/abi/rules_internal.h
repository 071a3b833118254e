/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the predicates behind the rules share; they are in rules_*.c. */
#ifndef PEVTRACE_ABI_RULES_INTERNAL_H
#define PEVTRACE_ABI_RULES_INTERNAL_H

#include <string.h>

#include "abi/layout.h"
#include "abi/rules.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* A call with what several rules need of it. */
struct rule_input {
	const struct rule_ask *ask;
	const struct rule_machine *machine;
	const struct rule_target *target;
	uint32_t size;		/* attr.size, where 0 means 64 */
	size_t len;		/* bytes of the attr that count */
	bool task, cgroup;	/* pid names a task, a cgroup; neither: CPUs */
	bool grouped;		/* group_fd is the leader to be */
	bool output;		/* its ring is to be written to */
	const struct rule_pmu *pmu; /* that takes the event; NULL: none is known */
};

typedef int rule_fn(const struct rule_input *in);

/* Every rule has its predicate; those of chance have nothing to look at. */
#define RULE(id, name) rule_fn rule_##name;
#define RULE_CHANCE(id, name)
#include "xlat/rule_ids.h"
#undef RULE
#undef RULE_CHANCE

/* A member of the attr, by its index in xlat/layouts.h. */
static inline uint64_t rule_get(const struct rule_input *in, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, in->ask->attr, in->len);
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

/* What must be so. */
static inline int refuses_unless(enum fact f)
{
	return f == FACT_YES ? RULE_PASSES : f == FACT_NO ? RULE_REFUSES : RULE_UNKNOWN;
}

static inline bool rule_has_cap(const struct rule_input *in, unsigned int cap)
{
	return in->machine->caps >> cap & 1;
}

/* The kernel's perfmon_capable(); CAP_PERFMON came with 5.8. */
static inline bool rule_perfmon(const struct rule_input *in)
{
	return rule_has_cap(in, ABI_CAP_PERFMON) || rule_has_cap(in, ABI_CAP_SYS_ADMIN);
}

/* Whether paranoid is above the level to which everybody may do something. */
static inline bool rule_paranoid(const struct rule_input *in, int32_t level)
{
	return in->machine->paranoid > level && !rule_perfmon(in);
}

/* The PMU is the one of that name. */
static inline bool rule_is_pmu(const struct rule_input *in, const char *name)
{
	return in->pmu && !strcmp(in->pmu->name, name);
}

/* The PMU has the trait, as far as it is described. */
enum fact rule_trait(const struct rule_input *in, uint64_t trait);

/* v has bits that no entry of x names; by the kernel's release. */
int rule_unknown_bits(const struct rule_input *in, uint64_t v, const struct xlat *x);

/*
 * What updates bring to several series at once: updates are those known to have it
 * first in theirs, up to 0.  Of other series the number tells nothing.
 */
int rule_if_updated(const struct rule_input *in, bool wrong, const uint32_t *updates);

/* The kernel is newer than the tables, and may know more than they do. */
bool rule_newer(const struct rule_input *in);

/* sizeof the kernel's struct perf_event_attr. */
uint32_t rule_attr_size(const struct rule_input *in);

#endif
