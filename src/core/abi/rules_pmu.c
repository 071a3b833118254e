// SPDX-License-Identifier: LGPL-2.1-or-later
/* The selection of a PMU, its own checks, and the kernel's checks on its behalf. */
#include "core/abi/rules_internal.h"

enum {
	EVENT_MASK = 0xffff,	/* of config: format/event */
	EVENT_CHAIN = 0x1e,	/* counts the overflows of its neighbour */
	USER_ACCESS = 1 << 1,	/* of config1: format/rdpmc */
	THRESHOLD_SHIFT = 5,	/* of config1: format/threshold */
	THRESHOLD_MASK = 0xfff,
};

static bool is_arm(const struct rule_pmu *pmu)
{
	return pmu && pmu->desc && !strncmp(pmu->desc->name, "armv8_", 6);
}

static bool branches(const struct rule_input *in)
{
	return rule_samples(in, PERF_SAMPLE_BRANCH_STACK);
}

/*
 * Return the CPU's PMU if all PMUs are asked, as none has the type: perf_init_event() of
 * kernel/events/core.c takes the first answer that is not ENOENT.
 */
static const struct rule_pmu *offered(const struct rule_input *in)
{
	return in->pmu || rule_is_type(in, PERF_TYPE_HARDWARE) || rule_is_type(in, PERF_TYPE_HW_CACHE) ?
	       NULL : rule_core_pmu(in->machine);
}

/* Judge what the CPU's PMU refuses of all types, if the event is offered to it. */
static int offered_refuses(const struct rule_input *in, int says)
{
	bool known = in->machine->pmus_known == FACT_YES &&
		     (in->ask->cpu == -1 || in->target->cpu_online == FACT_YES);

	return says == RULE_REFUSES && !known ? RULE_UNKNOWN : says;
}

/* Judge a branch stack; drivers/perf/riscv_pmu.c refuses it since 6.9, and updates of older ones. */
static int refuses_branches(const struct rule_input *in, const struct rule_pmu *pmu)
{
	bool riscv = in->machine->arch->core_traits & PMU_TRAIT_NO_BRANCHES;
	uint32_t release = in->machine->release;

	if (!branches(in) || !pmu || rule_trait(in, pmu, PMU_TRAIT_NO_BRANCHES) != FACT_YES)
		return RULE_PASSES;
	return rule_in_release(riscv ? KVER(6, 9, 0) : KVER(6, 17, 0), release) == riscv ?
	       RULE_REFUSES : RULE_UNKNOWN;
}

/* Judge bit 1 of config1; drivers/perf/arm_pmuv3.c. */
static int refuses_access(const struct rule_input *in, const struct rule_pmu *pmu)
{
	return refuses_if(is_arm(pmu) && !in->task && rule_get(in, ATTR_CONFIG1) & USER_ACCESS);
}

PREDICATE(offered_branches, offered_refuses(in, refuses_branches(in, offered(in))))
PREDICATE(offered_access, offered_refuses(in, refuses_access(in, offered(in))))

/* A PMU without description may accept events that no other one does. */
int rule_no_pmu(const struct rule_input *in)
{
	/* the config of a generic event may name a known PMU that is no core PMU */
	bool other = !rule_is_type(in, PERF_TYPE_HARDWARE) && !rule_is_type(in, PERF_TYPE_HW_CACHE);
	uint32_t named;

	rule_generic(in->machine, rule_get(in, ATTR_CONFIG), &named);
	if (in->pmu)
		return RULE_PASSES;
	if (in->machine->pmus_known != FACT_YES)
		return RULE_UNKNOWN;
	for (size_t i = 0; i < in->machine->npmus; i++)
		other |= in->machine->pmus[i].type == named;
	if (other && !rule_is_type(in, PERF_TYPE_RAW))
		return RULE_REFUSES;
	for (size_t i = 0; i < in->machine->npmus; i++)
		if (!in->machine->pmus[i].desc)
			return RULE_UNKNOWN;
	return RULE_REFUSES;
}

/* software and the two clocks ----------------------------------------------------- */

static bool rule_is_clock(const struct rule_input *in)
{
	return rule_is_pmu(in, "cpu_clock") || rule_is_pmu(in, "task_clock");
}

PREDICATE(clock_config,
	  refuses_if(rule_is_clock(in) && rule_get(in, ATTR_CONFIG) != (rule_is_pmu(in,
	  "cpu_clock") ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_TASK_CLOCK)))
PREDICATE(software_branch,
	  refuses_if(branches(in) && (rule_is_clock(in) || rule_is_type(in, PERF_TYPE_SOFTWARE))))

/* Software events had no separate PMU in these releases. */
PREDICATE(software_none, rule_software_config(in))

int rule_software_config(const struct rule_input *in)
{
	uint64_t config = rule_get(in, ATTR_CONFIG);
	const struct xlat_entry *e = xlat_find(&xlat_perf_sw_ids, config);

	if (!rule_is_type(in, PERF_TYPE_SOFTWARE))
		return RULE_PASSES;
	if (!e)
		return refuses_unnamed(in);
	return refuses_if(in->machine->release && e->since > in->machine->release);
}

/* tracepoint ----------------------------------------------------------------------- */

/* Return whether the event is that tracepoint, "system:name". */
static enum fact is_tracepoint(const struct rule_input *in, const char *name)
{
	const char *is = in->target->tracepoint_name;

	if (!rule_is_type(in, PERF_TYPE_TRACEPOINT) || in->target->tracepoint == FACT_NO)
		return FACT_NO;
	return is ? fact_of(!strcmp(is, name)) : FACT_UNKNOWN;
}

PREDICATE(tracepoint_branch, refuses_if(branches(in) && rule_is_type(in, PERF_TYPE_TRACEPOINT)))
PREDICATE(tracepoint_id,
	  rule_is_type(in, PERF_TYPE_TRACEPOINT) ? refuses_unless(in->target->tracepoint) :
	  RULE_PASSES)
PREDICATE(tracepoint_sampling,
	  refuses_where(rule_get(in, ATTR_SAMPLE_PERIOD), is_tracepoint(in,
	  "irq_vectors:irq_work_exit")))

static enum fact is_function(const struct rule_input *in)
{
	return is_tracepoint(in, "ftrace:function");
}

PREDICATE(function_privilege, refuses_where(true, fact_and(is_function(in), rule_paranoid(in, -1))))
PREDICATE(function_callchain,
	  refuses_where(rule_get(in, ATTR_SAMPLE_PERIOD) && !rule_get(in,
	  ATTR_EXCLUDE_CALLCHAIN_USER), is_function(in)))
PREDICATE(function_stack,
	  refuses_where(rule_get(in, ATTR_SAMPLE_PERIOD) && rule_samples(in,
	  PERF_SAMPLE_STACK_USER), is_function(in)))

int rule_raw_privilege(const struct rule_input *in)
{
	const char *name = in->target->tracepoint_name;
	/* every user may open those of system calls on a task */
	enum fact others = !in->task ? FACT_YES : !name ? FACT_UNKNOWN :
			   fact_of(strncmp(name, "syscalls:sys_", 13) &&
				   strncmp(name, "raw_syscalls:sys_", 17));

	return refuses_where(rule_is_type(in, PERF_TYPE_TRACEPOINT) &&
			     rule_samples(in, PERF_SAMPLE_RAW),
			     fact_and(others, rule_paranoid(in, -1)));
}

PREDICATE(function_start, is_function(in) == FACT_NO ? RULE_PASSES : RULE_UNKNOWN)

/* msr and those that are not described ---------------------------------------------- */

PREDICATE(msr_sampling, refuses_if(rule_is_pmu(in, "msr") && rule_get(in, ATTR_SAMPLE_PERIOD)))

/* Return whether events/ of the PMU lists the config, where it lists all (struct rule_pmu). */
static bool rule_pmu_lists(const struct rule_input *in, uint64_t config)
{
	for (size_t i = 0; i < in->pmu->nconfigs; i++)
		if (in->pmu->configs[i] == config)
			return true;
	return false;
}

int rule_msr_config(const struct rule_input *in)
{
	/* events/ lists exactly the registers of the CPU */
	if (!rule_is_pmu(in, "msr") || rule_pmu_lists(in, rule_get(in, ATTR_CONFIG)))
		return RULE_PASSES;
	return in->pmu->nconfigs ? RULE_REFUSES : RULE_UNKNOWN;
}

PREDICATE(cpu_branches, refuses_branches(in, in->pmu))
PREDICATE(arm_idle,
	  refuses_if(rule_get(in, ATTR_EXCLUDE_IDLE) && in->pmu && rule_trait(in, in->pmu,
	  PMU_TRAIT_NO_IDLE) == FACT_YES))
/* Kinds of CPUs: each has a PMU of its own, which refuses the CPUs of others. */
int rule_core_cpu(const struct rule_input *in)
{
	size_t cores = 0;

	for (size_t i = 0; i < in->machine->npmus; i++)
		cores += in->machine->pmus[i].desc &&
			 in->machine->pmus[i].desc->traits & PMU_TRAIT_CORE;
	return cores > 1 && in->ask->cpu != -1 && in->pmu &&
	       rule_trait(in, in->pmu, PMU_TRAIT_CORE) == FACT_YES ? RULE_UNKNOWN : RULE_PASSES;
}

static bool is_described(const struct rule_input *in, const char *name)
{
	return in->pmu && in->pmu->desc && !strcmp(in->pmu->desc->name, name);
}

/* Return whether the event excludes modes, and perhaps hosts and guests. */
static bool excludes(const struct rule_input *in, bool guests)
{
	return rule_get(in, ATTR_EXCLUDE_USER) || rule_get(in, ATTR_EXCLUDE_KERNEL) ||
	       rule_get(in, ATTR_EXCLUDE_HV) || rule_get(in, ATTR_EXCLUDE_IDLE) ||
	       (guests && (rule_get(in, ATTR_EXCLUDE_HOST) || rule_get(in, ATTR_EXCLUDE_GUEST)));
}

/* Some 32-bit CPUs can exclude modes, none the idle task: arch/arm/kernel/perf_event*.c. */
PREDICATE(arm_exclude,
	  is_described(in, "armv7_*") && excludes(in, false) ? RULE_UNKNOWN : RULE_PASSES)
PREDICATE(arm_exclude_old, rule_arm_exclude(in))

enum {
	BRANCH_BRS = 0xc4,	/* config of the event */
	BRS_DEPTH = 16,
	IBS_COUNT = 0xffff,	/* of config: format/maxcnt */
	IBS_COUNT_HIGH = 0x7f << 20,
	SWFILT = 1,		/* of config2 */
};

/* amd_brs_hw_config() of arch/x86/events/amd/brs.c */
PREDICATE(brs,
	  refuses_if(branches(in) && in->pmu && in->pmu->brs &&
		     (rule_get(in, ATTR_FREQ) || rule_get(in, ATTR_SAMPLE_PERIOD) <= BRS_DEPTH ||
		      (rule_get(in, ATTR_CONFIG) & EVENT_MASK) != BRANCH_BRS)))

static bool is_ibs(const struct rule_input *in)
{
	return is_described(in, "ibs_op") || is_described(in, "ibs_fetch");
}

/* perf_ibs_init() of arch/x86/events/amd/ibs.c */
int rule_ibs_period(const struct rule_input *in)
{
	uint64_t config = rule_get(in, ATTR_CONFIG);
	bool period = rule_get(in, ATTR_SAMPLE_PERIOD);

	return refuses_if(is_ibs(in) && (period ? config & IBS_COUNT :
					 !(config & (IBS_COUNT | IBS_COUNT_HIGH))));
}

int rule_ibs_exclude(const struct rule_input *in)
{
	if (!is_ibs(in) || !excludes(in, true))
		return RULE_PASSES;
	if (rule_get(in, ATTR_EXCLUDE_HOST) || rule_get(in, ATTR_EXCLUDE_GUEST) ||
	    rule_get(in, ATTR_EXCLUDE_IDLE))
		return RULE_REFUSES;
	if (rule_get(in, ATTR_CONFIG2) & SWFILT)
		return RULE_PASSES;
	return rule_in_release(KVER(7, 1, 0), in->machine->release) ? RULE_UNKNOWN : RULE_REFUSES;
}

static bool is_package(const struct rule_input *in)
{
	return is_described(in, "uncore_*") || is_described(in, "power") ||
	       is_described(in, "cstate_*");
}

PREDICATE(package_sampling, refuses_if(is_package(in) && rule_get(in, ATTR_SAMPLE_PERIOD)))
PREDICATE(package_exclude,
	  refuses_if(is_package(in) && excludes(in, !is_described(in, "uncore_*"))))

/*
 * mediated_pmu_account_event() of kernel/events/core.c; which machines run is not known.  The PMU
 * refuses branches and precise_ip with the same error.
 */
PREDICATE(guest_pmu,
	  in->machine->arch == &arch_x86_64 && in->pmu && !rule_get(in, ATTR_EXCLUDE_GUEST) &&
	  rule_trait(in, in->pmu, PMU_TRAIT_CORE) == FACT_YES && !branches(in) &&
	  !rule_get(in, ATTR_PRECISE_IP) ? RULE_UNKNOWN : RULE_PASSES)

PREDICATE(pmu_event,
	  in->pmu && in->target->pmu_event == FACT_NO ? in->target->pmu_error : RULE_PASSES)

int rule_pmu_own(const struct rule_input *in)
{
	if (!in->pmu)
		return in->machine->pmus_known == FACT_YES ? RULE_PASSES : RULE_UNKNOWN;
	return !in->pmu->desc || in->pmu->desc->traits & PMU_TRAIT_OWN_CHECKS ?
	       RULE_UNKNOWN : RULE_PASSES;
}

/* What the kernel's core checks for all -------------------------------------------- */

/* Refuse the feature unless the PMU has checks of its own. */
static int unless_pmu_can(const struct rule_input *in, bool asked)
{
	if (!asked || !in->pmu)
		return RULE_PASSES;
	return rule_pmu_own(in) == RULE_UNKNOWN ? RULE_UNKNOWN : RULE_REFUSES;
}

/* Refuse the event if the PMU has the trait. */
static int unless_not(const struct rule_input *in, uint64_t trait)
{
	return in->pmu ? refuses_where(true, rule_trait(in, in->pmu, trait)) : RULE_PASSES;
}

int rule_no_exclude(const struct rule_input *in)
{
	static const unsigned int flags[] = {
		ATTR_EXCLUDE_USER, ATTR_EXCLUDE_KERNEL, ATTR_EXCLUDE_HV,
		ATTR_EXCLUDE_IDLE, ATTR_EXCLUDE_HOST, ATTR_EXCLUDE_GUEST,
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (rule_get(in, flags[i]))
			return unless_not(in, PMU_TRAIT_NO_EXCLUDE);
	return RULE_PASSES;
}

/* Return the registers that a PMU may not have; arm64 before 6.1 knew none, and checked none. */
static uint64_t extended_regs(const struct rule_machine *m)
{
	const struct xlat *x = &xlat_perf_regs_masks;

	for (size_t i = 0; i < x->n; i++)
		if (x->entries[i].value == m->arch->regs_extended &&
		    !rule_in_release(x->entries[i].since, m->release))
			return 0;
	return m->arch->regs_extended;
}

int rule_extended_regs(const struct rule_input *in)
{
	static const uint32_t updates[] = { KVER(6, 12, 31), 0 };
	uint64_t regs = rule_get(in, ATTR_SAMPLE_REGS_USER) |
			rule_get(in, ATTR_SAMPLE_REGS_INTR);
	int says = unless_pmu_can(in, regs & extended_regs(in->machine));
	uint32_t release = in->machine->release;
	int updated;

	/* until 6.15 and some earlier updates, no_exclude was checked instead */
	if (says == RULE_PASSES || !release || release >= KVER(6, 15, 0) ||
	    rule_no_exclude(in) != RULE_REFUSES)
		return says;
	if (release < KVER(6, 12, 0))
		return RULE_PASSES;
	updated = rule_if_updated(release, updates);
	return updated == RULE_REFUSES ? says : updated;
}

PREDICATE(cpu_pmu_task, in->task || in->cgroup ? unless_not(in, PMU_TRAIT_CPU_ONLY) : RULE_PASSES)

/* Refuse a feature of AUX data unless the PMU has checks of its own and may have AUX data. */
static int unless_pmu_aux(const struct rule_input *in, bool asked)
{
	if (asked && in->pmu && rule_trait(in, in->pmu, PMU_TRAIT_NO_AUX) == FACT_YES)
		return RULE_REFUSES;
	return unless_pmu_can(in, asked);
}

PREDICATE(aux_output, unless_pmu_aux(in, rule_get(in, ATTR_AUX_OUTPUT)))
PREDICATE(aux_pause_resume,
	  refuses_if(rule_get(in, ATTR_AUX_PAUSE) && rule_get(in, ATTR_AUX_RESUME)))
PREDICATE(aux_start_paused, unless_pmu_aux(in, rule_get(in, ATTR_AUX_START_PAUSED)))
PREDICATE(no_interrupt,
	  rule_get(in, ATTR_SAMPLE_PERIOD) ? unless_not(in, PMU_TRAIT_NO_INTERRUPT) : RULE_PASSES)

PREDICATE(arm_user_access, refuses_access(in, in->pmu))

int rule_arm_config(const struct rule_input *in)
{
	uint64_t type = rule_get(in, ATTR_TYPE);
	uint32_t named;
	uint64_t config = rule_generic(in->machine, rule_get(in, ATTR_CONFIG), &named);

	if (!is_arm(in->pmu))
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
static uint64_t arm_event(bool cache, uint64_t config)
{
	static const uint8_t hardware[] = {
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
	/* accesses, misses */
	static const uint8_t caches[][2] = {
		[PERF_COUNT_HW_CACHE_L1D] = { 0x04, 0x03 },
		[PERF_COUNT_HW_CACHE_L1I] = { 0x14, 0x01 },
		[PERF_COUNT_HW_CACHE_LL] = { 0x36, 0x37 },
		[PERF_COUNT_HW_CACHE_DTLB] = { 0x25, 0x05 },
		[PERF_COUNT_HW_CACHE_ITLB] = { 0x26, 0x02 },
		[PERF_COUNT_HW_CACHE_BPU] = { 0x12, 0x10 },
	};
	uint64_t id = config & 0xff;

	if (!cache)
		return config < sizeof(hardware) ? hardware[config] : 0;
	return id < sizeof(caches) / sizeof(*caches) ? caches[id][config >> 16 & 1] : 0;
}

/* Kernels differ in the event for branches, and for writes to caches. */
int rule_arm_event(const struct rule_input *in)
{
	bool cache = rule_is_type(in, PERF_TYPE_HW_CACHE), varies;
	uint32_t named;
	uint64_t config = rule_generic(in->machine, rule_get(in, ATTR_CONFIG), &named);
	uint64_t event = arm_event(cache, config);

	if (!is_arm(in->pmu) || (!cache && !rule_is_type(in, PERF_TYPE_HARDWARE)))
		return RULE_PASSES;
	/* a CPU that the kernel knows by name may have events that are not listed */
	if (!in->pmu->nconfigs || strncmp(in->pmu->name, "armv8_pmuv3", 11))
		return RULE_UNKNOWN;
	varies = cache ? event && config >> 8 & 0xff :
			 config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS && rule_pmu_lists(in, 0x21);
	if (event && rule_pmu_lists(in, event))
		return varies ? RULE_UNKNOWN : RULE_PASSES;
	return varies && !cache ? RULE_UNKNOWN : RULE_REFUSES;
}

/* CPUs without FEAT_PMUv3_TH have a maximum of 0. */
int rule_arm_threshold(const struct rule_input *in)
{
	int64_t v = (int64_t)(rule_get(in, ATTR_CONFIG1) >> THRESHOLD_SHIFT & THRESHOLD_MASK);

	if (!is_arm(in->pmu) || v <= in->pmu->threshold_max)
		return RULE_PASSES;
	return in->pmu->threshold_unread ? RULE_UNKNOWN : RULE_REFUSES;
}
