// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/open_attr.h"

#include "core/abi/tables.h"

uint64_t open_attr_get(const struct open_attr *a, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, a->attr, a->len);
}

/* Look the PMU up in rules.in, whose traits tell whether its counters can interrupt. */
static enum event_source pmu_source(const char *pmu)
{
	static const struct {
		const char *name;
		enum event_source source;
	} own[] = {
		{ "cpu_clock", SOURCE_CLOCK }, { "task_clock", SOURCE_CLOCK },
		{ "uprobe", SOURCE_UPROBE }, { "kprobe", SOURCE_KPROBE },
	};
	const struct pmu_desc *d = pmu ? pmu_desc_by_name(pmu) : NULL;

	for (size_t i = 0; pmu && i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(own[i].name, pmu))
			return own[i].source;
	if (d && d->traits & PMU_TRAIT_CORE)
		return SOURCE_CPU;
	return d && d->traits & PMU_TRAIT_NO_INTERRUPT ? SOURCE_MSR : SOURCE_OTHER;
}

enum event_source open_attr_source(const struct open_attr *a)
{
	uint32_t type = (uint32_t)open_attr_get(a, ATTR_TYPE);

	switch (type) {
	case PERF_TYPE_SOFTWARE:
		switch (open_attr_get(a, ATTR_CONFIG)) {
		case PERF_COUNT_SW_CPU_CLOCK:
		case PERF_COUNT_SW_TASK_CLOCK:
			return SOURCE_CLOCK;
		case PERF_COUNT_SW_DUMMY:
			return SOURCE_DUMMY;
		case PERF_COUNT_SW_BPF_OUTPUT:
			return SOURCE_BPF;
		default:
			return SOURCE_SOFTWARE;
		}
	case PERF_TYPE_TRACEPOINT:
		return SOURCE_TRACEPOINT;
	case PERF_TYPE_BREAKPOINT:
		return SOURCE_BREAKPOINT;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return SOURCE_CPU;
	default:
		return pmu_source(a->names && a->names->pmu ? a->names->pmu(a->names, type) :
							      NULL);
	}
}

bool open_attr_samples(const struct open_attr *a)
{
	return open_attr_get(a, ATTR_SAMPLE_PERIOD) && open_attr_source(a) != SOURCE_DUMMY;
}

bool open_attr_every_hit(const struct open_attr *a)
{
	enum event_source s = open_attr_source(a);

	return open_attr_get(a, ATTR_SAMPLE_PERIOD) == 1 && !open_attr_get(a, ATTR_FREQ) &&
	       (s == SOURCE_TRACEPOINT || s == SOURCE_UPROBE || s == SOURCE_KPROBE ||
		s == SOURCE_BREAKPOINT || s == SOURCE_SOFTWARE);
}
