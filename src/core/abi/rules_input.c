// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sizes, releases and PMUs, which several predicates use. */
#include "core/abi/rules_internal.h"
#include "core/lib/list.h"

/* Releases --------------------------------------------------------------------- */

uint32_t rules_attr_size(uint32_t release)
{
	const struct layout *l = &layout_perf_event_attr;
	uint32_t size = 0;

	for (size_t i = 0; i < l->n; i++)
		if (rule_in_release(l->fields[i].since, release) && l->fields[i].size > size)
			size = l->fields[i].size;
	return size;
}

uint32_t rule_attr_size(const struct rule_input *in)
{
	return in->machine->attr_size ? in->machine->attr_size :
					rules_attr_size(in->machine->release);
}

int refuses_unnamed(const struct rule_input *in)
{
	/* updates of the newest series are taken for known */
	return in->machine->release >> 8 > xlat_release >> 8 ? RULE_ASSUMED : RULE_REFUSES;
}

int rule_unknown_bits(const struct rule_input *in, uint64_t v, const struct xlat *x)
{
	uint64_t known = 0, named = 0;

	for_each(e, x->entries, x->n) {
		if (e->traits & XLAT_NONABI)
			continue;
		named |= e->mask;
		if (rule_in_release(xlat_since(e, in->machine->release), in->machine->release))
			known |= e->mask;
	}
	return v & ~named ? refuses_unnamed(in) : refuses_if(v & ~known);
}

/* PMUs ------------------------------------------------------------------------- */

enum fact rule_trait(const struct rule_input *in, const struct rule_pmu *pmu, uint64_t trait)
{
	/* traits in which PMUs of one kind differ */
	const uint64_t varies = PMU_TRAIT_NO_INTERRUPT | PMU_TRAIT_NO_EXCLUDE;
	uint64_t traits;

	if (!pmu->desc)
		return FACT_UNKNOWN;
	traits = pmu->desc->traits;
	if (traits & PMU_TRAIT_CORE)
		traits |= in->machine->arch->core_traits;
	if (traits & trait)
		return FACT_YES;
	return trait & varies && traits & PMU_TRAIT_CPU_ONLY ? FACT_UNKNOWN : FACT_NO;
}

static const struct rule_pmu *rule_pmu_by_type(const struct rule_machine *m, uint32_t type)
{
	for (size_t i = 0; i < m->npmus; i++)
		if (m->pmus[i].type == type)
			return &m->pmus[i];
	return NULL;
}

const struct rule_pmu *rule_core_pmu(const struct rule_machine *m)
{
	for (size_t i = 0; i < m->npmus; i++)
		if (m->pmus[i].desc && m->pmus[i].desc->traits & PMU_TRAIT_CORE)
			return &m->pmus[i];
	return NULL;
}

uint64_t rule_generic(const struct rule_machine *m, uint64_t config, uint32_t *type)
{
	bool named = rule_in_release(KVER(5, 13, 0), m->release);

	*type = named ? (uint32_t)(config >> PERF_PMU_TYPE_SHIFT) : 0;
	return named ? (uint32_t)config : config;
}

/*
 * Return the PMU of a generic hardware event: the core PMU that config names, or the
 * first core PMU if config names none or one that does not exist.
 */
static const struct rule_pmu *rule_pmu_of_hardware(const struct rule_machine *m, uint64_t config)
{
	const struct rule_pmu *p;
	uint32_t type;

	rule_generic(m, config, &type);
	p = type ? rule_pmu_by_type(m, type) : NULL;
	if (p)
		return !p->desc || p->desc->traits & PMU_TRAIT_CORE ? p : NULL;
	return rule_core_pmu(m);
}

const struct rule_pmu *rules_pmu(const struct rule_machine *m, const uint8_t *attr,
				 size_t len)
{
	const struct layout *l = &layout_perf_event_attr;
	uint64_t type = layout_get(l, ATTR_TYPE, attr, len);
	uint64_t config = layout_get(l, ATTR_CONFIG, attr, len);
	const struct rule_pmu *p;
	const char *clock;

	switch (type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		return rule_pmu_of_hardware(m, config);
	case PERF_TYPE_RAW:
		p = rule_pmu_by_type(m, PERF_TYPE_RAW);
		return p ? p : rule_pmu_of_hardware(m, 0);
	case PERF_TYPE_SOFTWARE:
		/* the clocks have PMUs of their own */
		clock = config == PERF_COUNT_SW_CPU_CLOCK ? "cpu_clock" :
			config == PERF_COUNT_SW_TASK_CLOCK ? "task_clock" : NULL;
		for (size_t i = 0; clock && i < m->npmus; i++)
			if (!strcmp(m->pmus[i].name, clock))
				return &m->pmus[i];
		return rule_pmu_by_type(m, PERF_TYPE_SOFTWARE);
	default:
		return rule_pmu_by_type(m, (uint32_t)type);
	}
}
