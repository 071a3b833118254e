// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checks of PMUs of ARM CPUs: armpmu_event_init() of drivers/perf/arm_pmu.c, and
 * __armv8_pmuv3_map_event() of drivers/perf/arm_pmuv3.c.  Of the CPUs that the kernel knows by
 * name, some have events that sysfs does not list; of armv8_pmuv3 it lists all.
 */
#include "core/abi/rules_internal.h"

enum {
	EVENT_MASK = 0xffff,	/* of config: format/event */
	EVENT_CHAIN = 0x1e,	/* counts the overflows of its neighbour */
	USER_ACCESS = 1 << 1,	/* of config1: format/rdpmc */
	THRESHOLD_SHIFT = 5,	/* of config1: format/threshold */
	THRESHOLD_MASK = 0xfff,
};

static bool rule_is_arm_pmu(const struct rule_input *in)
{
	return in->pmu && in->pmu->desc && !strncmp(in->pmu->desc->name, "armv8_", 6);
}

static bool rule_is_generic_arm_pmu(const struct rule_input *in)
{
	return rule_is_arm_pmu(in) && !strncmp(in->pmu->name, "armv8_pmuv3", 11);
}

PREDICATE(arm_user_access,
	  refuses_if(rule_is_arm_pmu(in) && !in->task && rule_get(in, ATTR_CONFIG1) & USER_ACCESS))

int rule_arm_config(const struct rule_input *in)
{
	uint64_t type = rule_get(in, ATTR_TYPE);
	uint64_t config = rule_get(in, ATTR_CONFIG) & 0xffffffff;

	if (!rule_is_arm_pmu(in))
		return RULE_PASSES;
	if (type == PERF_TYPE_HARDWARE)
		return refuses_if(config >= PERF_COUNT_HW_MAX);
	if (type == PERF_TYPE_HW_CACHE)
		return refuses_if((config & 0xff) >= PERF_COUNT_HW_CACHE_MAX ||
				  (config >> 8 & 0xff) >= PERF_COUNT_HW_CACHE_OP_MAX ||
				  (config >> 16 & 0xff) >= PERF_COUNT_HW_CACHE_RESULT_MAX);
	return refuses_if((config & EVENT_MASK) == EVENT_CHAIN);
}

/* Return the CPU's event that counts the generic one, or 0. */
static uint64_t arm_hardware_event(uint64_t config)
{
	static const uint8_t events[] = {
		[PERF_COUNT_HW_CPU_CYCLES] = 0x11,
		[PERF_COUNT_HW_INSTRUCTIONS] = 0x08,
		[PERF_COUNT_HW_CACHE_REFERENCES] = 0x04,
		[PERF_COUNT_HW_CACHE_MISSES] = 0x03,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x0c,
		[PERF_COUNT_HW_BRANCH_MISSES] = 0x10,
		[PERF_COUNT_HW_BUS_CYCLES] = 0x1d,
		[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = 0x23,
		[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = 0x24,
	};

	return config < sizeof(events) ? events[config] : 0;
}

static uint64_t arm_cache_event(uint64_t config)
{
	/* accesses, misses */
	static const uint8_t events[][2] = {
		[PERF_COUNT_HW_CACHE_L1D] = { 0x04, 0x03 },
		[PERF_COUNT_HW_CACHE_L1I] = { 0x14, 0x01 },
		[PERF_COUNT_HW_CACHE_LL] = { 0x36, 0x37 },
		[PERF_COUNT_HW_CACHE_DTLB] = { 0x25, 0x05 },
		[PERF_COUNT_HW_CACHE_ITLB] = { 0x26, 0x02 },
		[PERF_COUNT_HW_CACHE_BPU] = { 0x12, 0x10 },
	};
	uint64_t cache = config & 0xff, result = config >> 16 & 1;

	return cache < sizeof(events) / sizeof(*events) ? events[cache][result] : 0;
}

/* Kernels differ in the event for branches, and for writes to caches. */
int rule_arm_event(const struct rule_input *in)
{
	uint64_t type = rule_get(in, ATTR_TYPE);
	uint64_t config = rule_get(in, ATTR_CONFIG) & 0xffffffff, event;
	bool varies;

	if (!rule_is_generic_arm_pmu(in) ||
	    (type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE))
		return RULE_PASSES;
	if (!in->pmu->nconfigs)
		return RULE_UNKNOWN;
	if (type == PERF_TYPE_HARDWARE) {
		event = arm_hardware_event(config);
		varies = config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS && rule_pmu_lists(in, 0x21);
	} else {
		event = arm_cache_event(config);
		varies = event && config >> 8 & 0xff;
	}
	if (event && rule_pmu_lists(in, event))
		return varies ? RULE_UNKNOWN : RULE_PASSES;
	return varies && type == PERF_TYPE_HARDWARE ? RULE_UNKNOWN : RULE_REFUSES;
}

/* CPUs without FEAT_PMUv3_TH have a maximum of 0. */
int rule_arm_threshold(const struct rule_input *in)
{
	int64_t v = (int64_t)(rule_get(in, ATTR_CONFIG1) >> THRESHOLD_SHIFT & THRESHOLD_MASK);

	if (!rule_is_arm_pmu(in) || v <= in->pmu->threshold_max)
		return RULE_PASSES;
	return in->pmu->threshold_unread ? RULE_UNKNOWN : RULE_REFUSES;
}
