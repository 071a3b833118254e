// SPDX-License-Identifier: LGPL-2.1-or-later
/* Both sides of the boundaries of the rules of PMUs, tracepoints, breakpoints and probes. */
#include "rules_rows.h"

#define SAMPLES(what) A(SAMPLE_TYPE, PERF_SAMPLE_##what)
#define NO_EXCLUDE A(EXCLUDE_KERNEL, 0), A(EXCLUDE_HV, 0), CAPS(SYS_ADMIN)
#define IBS(what) A(TYPE, PMU_IBS_##what), A(CONFIG, 0), NO_EXCLUDE, A(SAMPLE_PERIOD, 0x1000)
#define ON_CPU C(pid, -1), C(cpu, 0)

/* The choice of a PMU ---------------------------------------------------------------------- */

static void test_choice(void **state)
{
	static const struct rule_pmu odd = { .type = PMU_ODD, .name = "odd" };
	const struct row rows[] = {
		{ "no_pmu", { A(TYPE, 99) } },
		/* no PMU of a CPU; one that is not described may take the event */
		{ "no_pmu", { A(TYPE, PERF_TYPE_HARDWARE), M(npmus, 6) } },
		{ "no_pmu", { A(TYPE, PERF_TYPE_RAW), M(npmus, 6) } },
		{ "no_pmu?", { A(TYPE, PERF_TYPE_HARDWARE), P(facts.machine.pmus, &odd),
			M(npmus, 1) } },
		{ "no_pmu?", { A(TYPE, PERF_TYPE_RAW), P(facts.machine.pmus, &odd), M(npmus, 1) } },
		{ "no_pmu", { A(TYPE, 99), P(facts.machine.pmus, &odd), M(npmus, 1) } },
		{ "pmu_own?", { A(TYPE, PERF_TYPE_RAW) } },
		{ "", { A(CONFIG, 0), M(npmus, 1), T(group.siblings, 0) } },
		{ "no_pmu", { A(TYPE, 99), C(cpu, 0) } },
		{ "no_pmu? pmu_own?", { A(TYPE, 99), M(pmus_known, FACT_UNKNOWN) } },
		{ "pmu_own?", { A(TYPE, PERF_TYPE_HARDWARE) } },
		{ "pmu_own?", { A(TYPE, PERF_TYPE_HARDWARE), A(CONFIG, 4ULL << 32) } },
		{ "no_pmu", { A(TYPE, PERF_TYPE_HARDWARE), A(CONFIG, 1ULL << 32) } },
		{ "no_pmu", { A(TYPE, PERF_TYPE_HARDWARE), A(CONFIG, 1ULL << 32 | 5) } },
		{ "no_pmu", { A(TYPE, PERF_TYPE_HW_CACHE), A(CONFIG, 5ULL << 32) } },
		{ "no_pmu", { A(TYPE, PERF_TYPE_HARDWARE), A(CONFIG, (uint64_t)PMU_MSR << 32) } },
		{ "pmu_own? no_exclude? cpu_pmu_task?",
			{ A(TYPE, PERF_TYPE_HARDWARE), A(CONFIG, (uint64_t)PMU_ODD << 32) } },
		{ "", { A(TYPE, PERF_TYPE_SOFTWARE), A(CONFIG, 0) } },
		{ "software_config", { A(CONFIG, 12) } },
		{ "software_config~", { A(CONFIG, 12), REL(9, 0, 0) } },
		{ "", { A(CONFIG, 11) } },
		{ "software_config", { A(CONFIG, 11), REL(5, 12, 0) } },
		{ "", { A(CONFIG, 11), REL(5, 13, 0) } },
		{ "", { A(CONFIG, 11), M(release, 0) } },
		{ "software_none", { A(CONFIG, 9), REL(2, 6, 36) } },
		{ "software_config", { A(CONFIG, 9), REL(2, 6, 37) } },
		{ "clock_config", { A(TYPE, PMU_CLOCK), A(CONFIG, 1) } },
		{ "", { A(TYPE, PMU_CLOCK), A(CONFIG, 0) } },
		{ "clock_config", { A(TYPE, PMU_TASK_CLOCK), A(CONFIG, 0) } },
		{ "", { A(TYPE, PMU_TASK_CLOCK), A(CONFIG, 1) } },
		{ "", { A(TYPE, PMU_CLOCK), A(CONFIG, 1), REL(6, 4, 0) } },
		/* what somebody has tried */
		{ "pmu_event", { T(pmu_event, FACT_NO), T(pmu_error, ENOENT) } },
		{ "", { T(pmu_event, FACT_YES), T(pmu_error, ENOENT) } },
		{ "no_pmu", { A(TYPE, 99), T(pmu_event, FACT_NO), T(pmu_error, ENOENT) } },
	};

	(void)state;
	try_rows(rows, COUNT(rows));
}

/* Which of them it is, by its name. */
static void test_names(void **state)
{
	static const struct {
		uint64_t type, config;
		size_t npmus;
		const char *name;
	} rows[] = {
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 20, "cpu_clock" },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 20, "task_clock" },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 20, "software" },
		/* not in PMUs of their own before Linux 6.5 */
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 2, "software" },
		{ PERF_TYPE_HARDWARE, 0, 20, "cpu" }, { PERF_TYPE_HW_CACHE, 0, 20, "cpu" },
		{ PERF_TYPE_RAW, 0, 20, "cpu" },
		{ PERF_TYPE_RAW, (uint64_t)PMU_MSR << 32, 20, "cpu" },
		{ PERF_TYPE_HARDWARE, (uint64_t)PMU_V3 << 32, 20, "armv8_pmuv3_0" },
		{ PERF_TYPE_HARDWARE, (uint64_t)PMU_ODD << 32, 20, "odd" },
		{ PERF_TYPE_HARDWARE, 99ULL << 32, 20, "cpu" },
		{ PERF_TYPE_HARDWARE, (uint64_t)PMU_MSR << 32, 20, NULL },
		{ PERF_TYPE_HARDWARE, 0, 6, NULL }, { 99, 0, 20, NULL }, { 10, 0, 20, "kprobe" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rule_machine *m;
		const struct rule_pmu *p;
		struct sides s;

		begin(&s);
		m = &s.w.facts.machine;
		m->npmus = m->npmus < rows[i].npmus ? m->npmus : rows[i].npmus;
		put(&s.w, ATTR_TYPE, rows[i].type);
		put(&s.w, ATTR_CONFIG, rows[i].config);
		p = rules_pmu(m, s.w.attr, 136);
		assert_string_equal(p ? p->name : "none", rows[i].name ? rows[i].name : "none");
	}
	{
		const struct rule_pmu raw = { .type = PERF_TYPE_RAW, .name = "cpu" };
		const struct rule_machine old = { .pmus = &raw, .npmus = 1 };
		const uint32_t attr[16] = { PERF_TYPE_RAW };

		assert_ptr_equal(rules_pmu(&old, (const uint8_t *)attr, sizeof(attr)), &raw);
	}
}

/* Traits of PMUs -------------------------------------------------------------------------- */

static void test_traits(void **state)
{
	const struct row rows[] = {
		/* msr has one register at 0, one at 2 */
		{ "", { A(TYPE, PMU_MSR), A(CONFIG, 0), NO_EXCLUDE } },
		{ "", { A(TYPE, PMU_MSR), A(CONFIG, 2), NO_EXCLUDE } },
		{ "msr_config", { A(TYPE, PMU_MSR), A(CONFIG, 1), NO_EXCLUDE } },
		{ "msr_config", { A(TYPE, PMU_MSR), A(CONFIG, 3), NO_EXCLUDE } },
		{ "msr_config?", { A(TYPE, PMU_MSR), A(CONFIG, 1), NO_EXCLUDE,
			W(pmus[IN_MSR].nconfigs, 0) } },
		{ "msr_sampling no_interrupt", { A(TYPE, PMU_MSR), A(CONFIG, 0), NO_EXCLUDE,
			A(SAMPLE_PERIOD, 1) } },
		{ "", { A(SAMPLE_PERIOD, 1) } },
		{ "no_exclude", { A(TYPE, PMU_MSR), A(CONFIG, 0), NO_EXCLUDE, A(EXCLUDE_USER, 1) } },
		{ "no_exclude", { A(TYPE, PMU_MSR), A(CONFIG, 0), NO_EXCLUDE, A(EXCLUDE_KERNEL, 1) } },
		{ "no_exclude", { A(TYPE, PMU_MSR), A(CONFIG, 0), NO_EXCLUDE, A(EXCLUDE_HV, 1) } },
		{ "no_exclude", { A(TYPE, PMU_MSR), A(CONFIG, 0), NO_EXCLUDE, A(EXCLUDE_IDLE, 1) } },
		{ "no_exclude", { A(TYPE, PMU_MSR), A(CONFIG, 0), NO_EXCLUDE, A(EXCLUDE_HOST, 1) } },
		{ "no_exclude", { A(TYPE, PMU_MSR), A(CONFIG, 0), NO_EXCLUDE, A(EXCLUDE_GUEST, 1) } },
		{ "", { A(TYPE, PMU_MSR), A(CONFIG, 0), NO_EXCLUDE, A(MMAP, 1), A(MMAP_DATA, 1),
			A(SAMPLE_ID_ALL, 1) } },
		{ "", { A(TYPE, PMU_MSR), A(CONFIG, 0), REL(5, 0, 0) } },
		/* counts of a package: for CPUs alone; in traits of one kind they differ */
		{ "pmu_own? cpu_pmu_task", { A(TYPE, PMU_UNCORE), NO_EXCLUDE } },
		{ "pmu_own?", { A(TYPE, PMU_UNCORE), NO_EXCLUDE, ON_CPU } },
		{ "package_sampling pmu_own? no_interrupt?", { A(TYPE, PMU_UNCORE), NO_EXCLUDE, ON_CPU,
			A(SAMPLE_PERIOD, 1) } },
		{ "package_sampling pmu_own? no_interrupt", { A(TYPE, PMU_CSTATE), NO_EXCLUDE, ON_CPU,
			A(SAMPLE_PERIOD, 1) } },
		{ "package_exclude pmu_own? cpu_pmu_task", { A(TYPE, PMU_UNCORE), REL(5, 0, 255) } },
		{ "pmu_own? cpu_pmu_task", { A(TYPE, PMU_UNCORE), NO_EXCLUDE, A(EXCLUDE_HOST, 1),
			REL(5, 0, 255) } },
		{ "package_exclude pmu_own? cpu_pmu_task", { A(TYPE, PMU_CSTATE), NO_EXCLUDE,
			A(EXCLUDE_HOST, 1), REL(5, 0, 255) } },
		{ "pmu_own? no_exclude cpu_pmu_task", { A(TYPE, PMU_UNCORE) } },
		{ "pmu_own? cpu_pmu_task", { A(TYPE, PMU_UNCORE), NO_EXCLUDE, C(cpu, 0),
			C(flags, PERF_FLAG_PID_CGROUP) } },
		{ "pmu_own? no_exclude? cpu_pmu_task?", { A(TYPE, PMU_ODD) } },
		{ "pmu_own? cpu_pmu_task?", { A(TYPE, PMU_ODD), NO_EXCLUDE } },
		{ "pmu_own?", { A(TYPE, PMU_ODD), NO_EXCLUDE, ON_CPU } },
		{ "pmu_own? no_interrupt?", { A(TYPE, PMU_ODD), NO_EXCLUDE, ON_CPU,
			A(SAMPLE_PERIOD, 1) } },
		{ "no_pmu", { A(TYPE, 99), A(EXCLUDE_IDLE, 1), A(SAMPLE_PERIOD, 1) } },
		/* IBS excludes some modes with swfilt, and never hosts, guests and the idle task */
		{ "pmu_own?", { IBS(OP) } },
		{ "pmu_own?", { IBS(FETCH) } },
		{ "ibs_exclude pmu_own?", { IBS(OP),
			A(EXCLUDE_IDLE, 1), A(CONFIG2, 1) } },
		{ "ibs_exclude pmu_own?", { IBS(OP),
			A(EXCLUDE_HOST, 1), A(CONFIG2, 1) } },
		{ "ibs_exclude pmu_own?", { IBS(OP),
			A(EXCLUDE_GUEST, 1), A(CONFIG2, 1) } },
		{ "pmu_own?", { IBS(OP),
			A(EXCLUDE_USER, 1), A(CONFIG2, 1) } },
		{ "ibs_exclude pmu_own?", { IBS(OP),
			A(EXCLUDE_HV, 1) } },
		/* registers beyond the ordinary */
		{ "extended_regs", { A(SAMPLE_REGS_USER, 1ULL << 32) } },
		{ "extended_regs", { A(SAMPLE_REGS_INTR, 1ULL << 32) } },
		{ "", { A(SAMPLE_REGS_INTR, 1ULL << 31) } },
		{ "pmu_own? extended_regs?", { A(TYPE, 4), A(SAMPLE_REGS_INTR, 1ULL << 32) } },
		{ "no_pmu", { A(TYPE, 99), A(SAMPLE_REGS_INTR, 1ULL << 32) } },
		{ "extended_regs", { A(SAMPLE_REGS_INTR, 1ULL << 46), ARCH(aarch64) } },
		{ "", { A(SAMPLE_REGS_INTR, 1ULL << 47), ARCH(aarch64) } },
		{ "extended_regs", { A(SAMPLE_REGS_INTR, 1ULL << 46), ARCH(aarch64), REL(6, 1, 0) } },
		{ "", { A(SAMPLE_REGS_INTR, 1ULL << 46), ARCH(aarch64), REL(6, 0, 255) } },
		{ "", { A(SAMPLE_REGS_INTR, 1ULL << 46 | 1), ARCH(aarch64), REL(6, 0, 255) } },
		/* hidden by no_exclude in some releases */
		{ "no_exclude", { A(TYPE, PMU_MSR), A(CONFIG, 0), REL(6, 13, 0) } },
		{ "no_exclude", { A(TYPE, PMU_MSR), A(CONFIG, 0), A(SAMPLE_REGS_INTR, 1ULL << 40),
			REL(6, 11, 5) } },
		{ "", { A(SAMPLE_REGS_INTR, 1ULL << 46), ARCH(riscv64) } },
	};

	(void)state;
	try_rows(rows, COUNT(rows));
}

/* ARM ---------------------------------------------------------------------------------------- */

/* config1 of format/threshold */
#define THRESHOLD(n) A(CONFIG1, (uint64_t)(n) << 5)
#define V3(type, config) A(TYPE, type), A(CONFIG, config), P(facts.machine.pmus, &v3_only), \
	M(npmus, 1)
#define CACHE(which, op, result) V3(PERF_TYPE_HW_CACHE, (which) | (op) << 8 | (result) << 16)

static void test_arm(void **state)
{
	/* PMUs of a machine with that one */
	static const struct rule_pmu v3 = {
		.type = PMU_V3, .name = "armv8_pmuv3_0", .configs = v3_configs,
		.nconfigs = COUNT(v3_configs),
	};
	struct rule_pmu v3_only = v3, none_listed = v3, one_listed = v3, a57 = v3, a53 = v3;
	const struct row rows[] = {
		{ "pmu_own?", { A(TYPE, PMU_V3) } },
		{ "arm_idle pmu_own?", { A(TYPE, PMU_V3), A(EXCLUDE_IDLE, 1) } },
		{ "pmu_own?", { A(TYPE, 4), A(EXCLUDE_IDLE, 1) } },
		{ "no_pmu", { A(TYPE, 99), A(EXCLUDE_IDLE, 1) } },
		{ "cpu_branches? pmu_own?", { A(TYPE, PMU_V3), SAMPLES(BRANCH_STACK),
			A(BRANCH_SAMPLE_TYPE, 9) } },
		{ "cpu_branches? pmu_own?", { A(TYPE, PMU_V3), SAMPLES(BRANCH_STACK),
			A(BRANCH_SAMPLE_TYPE, 9), REL(6, 17, 0) } },
		{ "cpu_branches? pmu_own?", { A(TYPE, PMU_V3), SAMPLES(BRANCH_STACK),
			A(BRANCH_SAMPLE_TYPE, 9), M(release, 0) } },
		{ "cpu_branches pmu_own?", { A(TYPE, PMU_V3), SAMPLES(BRANCH_STACK),
			A(BRANCH_SAMPLE_TYPE, 9), REL(6, 16, 255) } },
		{ "no_pmu", { A(TYPE, 99), SAMPLES(BRANCH_STACK), A(BRANCH_SAMPLE_TYPE, 9) } },
		/* user access, the chain, the threshold */
		{ "pmu_own?", { A(TYPE, PMU_V3), A(CONFIG1, 2) } },
		{ "core_cpu? arm_user_access pmu_own?", { A(TYPE, PMU_V3), A(CONFIG1, 2), ON_CPU,
			CAPS(SYS_ADMIN) } },
		{ "core_cpu? pmu_own?", { A(TYPE, PMU_V3), A(CONFIG1, 1), ON_CPU, CAPS(SYS_ADMIN) } },
		{ "core_cpu? pmu_own?", { A(TYPE, 4), A(CONFIG1, 2), ON_CPU, CAPS(SYS_ADMIN) } },
		{ "arm_config pmu_own?", { A(TYPE, PMU_V3), A(CONFIG, 0x1e) } },
		{ "arm_config pmu_own?", { A(TYPE, PMU_V3), A(CONFIG, 0x1001e0000ULL | 0x1e) } },
		{ "pmu_own?", { A(TYPE, PMU_V3), A(CONFIG, 0x1f) } },
		{ "pmu_own?", { A(TYPE, PMU_V3), A(CONFIG, 0x801e) } },
		{ "pmu_own?", { A(TYPE, PMU_V3), A(CONFIG, 0x11e) } },
		{ "pmu_own?", { A(TYPE, 4), A(CONFIG, 0x1e) } },
		{ "arm_threshold pmu_own?", { A(TYPE, PMU_V3), THRESHOLD(1) } },
		{ "pmu_own?", { A(TYPE, PMU_V3), THRESHOLD(1), W(pmus[IN_V3].threshold_max, 1) } },
		{ "arm_threshold pmu_own?", { A(TYPE, PMU_V3), THRESHOLD(2),
			W(pmus[IN_V3].threshold_max, 1) } },
		{ "arm_threshold? pmu_own?", { A(TYPE, PMU_V3), THRESHOLD(1),
			W(pmus[IN_V3].threshold_unread, true) } },
		{ "pmu_own?", { A(TYPE, PMU_V3), W(pmus[IN_V3].threshold_unread, true) } },
		{ "arm_threshold pmu_own?", { A(TYPE, PMU_V3), THRESHOLD(0x800) } },
		{ "pmu_own?", { A(TYPE, PMU_V3), THRESHOLD(0x1000) } },
		{ "pmu_own?", { A(TYPE, PMU_V3), A(CONFIG1, 16) } },
		{ "pmu_own?", { A(TYPE, 4), THRESHOLD(1) } },
		/* generic events: cycles, instructions, references and misses of caches, branches... */
		{ "pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) } },
		{ "pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES | 12ULL << 32) } },
		{ "pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) } },
		{ "pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES) } },
		{ "pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES) } },
		{ "arm_event? pmu_own?",
			{ V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS) } },
		{ "arm_event pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES) } },
		{ "arm_event pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES) } },
		{ "arm_event pmu_own?",
			{ V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND) } },
		{ "arm_event pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES) } },
		{ "arm_config arm_event pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX) } },
		{ "arm_event? pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
			P(facts.machine.pmus, &none_listed) } },
		{ "arm_event pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
			P(facts.machine.pmus, &one_listed) } },
		{ "arm_event pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES),
			P(facts.machine.pmus, &one_listed) } },
		{ "arm_event pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_NODE, 0, 0),
			P(facts.machine.pmus, &one_listed) } },
		{ "pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1I, 0, 1),
			P(facts.machine.pmus, &one_listed) } },
		{ "arm_event? pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES),
			P(facts.machine.pmus, &a57) } },
		{ "arm_event? pmu_own?", { V3(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES),
			P(facts.machine.pmus, &a53) } },
		{ "pmu_own?", { V3(PMU_V3, 0x77) } },
		/* caches: accesses, misses */
		{ "pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1D, 0, 0) } },
		{ "pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1D, 0, 1) } },
		{ "arm_event? pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1D, 1, 0) } },
		{ "arm_event? pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1D, 2, 0) } },
		{ "pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1I, 0, 0) } },
		{ "arm_event pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1I, 0, 1) } },
		{ "arm_event pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_LL, 0, 0) } },
		{ "arm_event pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_LL, 1, 0) } },
		{ "pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_DTLB, 0, 0) } },
		{ "arm_event pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_DTLB, 0, 1) } },
		{ "pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_ITLB, 0, 0) } },
		{ "pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_BPU, 0, 0) } },
		{ "arm_event pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_BPU, 0, 1) } },
		{ "arm_event pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_NODE, 0, 0) } },
		{ "arm_event pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_NODE, 1, 0) } },
		{ "arm_config arm_event pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_MAX, 0, 0) } },
		{ "arm_config arm_event? pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1D, 3, 0) } },
		{ "arm_config arm_event? pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1D, 0x80, 0) } },
		{ "arm_config pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1D, 0, 2) } },
		{ "arm_config pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1D, 0, 0x80) } },
		{ "pmu_own?", { CACHE(PERF_COUNT_HW_CACHE_L1D, 0, 0x100) } },
	};

	(void)state;
	v3_only.desc = none_listed.desc = one_listed.desc = a57.desc = a53.desc = pmu_desc_by_name(v3.name);
	none_listed.nconfigs = 0;
	one_listed.configs = &(uint64_t){ 0x01 };
	one_listed.nconfigs = 1;
	a57.name = "armv8_cortex_a57";
	a53.name = "armv8_pmuv2";
	try_rows(rows, COUNT(rows));
}

/* Tracepoints -------------------------------------------------------------------------------- */

#define TRACEPOINT(name) A(TYPE, PERF_TYPE_TRACEPOINT), NAME(name)
#define FUNCTION TRACEPOINT("ftrace:function"), M(paranoid, -1)

static void test_tracepoints(void **state)
{
	const struct row rows[] = {
		{ "", { TRACEPOINT("sched:sched_switch") } },
		{ "tracepoint_id", { TRACEPOINT("sched:sched_switch"), T(tracepoint, FACT_NO) } },
		{ "tracepoint_id?", { TRACEPOINT("sched:sched_switch"), T(tracepoint, FACT_UNKNOWN) } },
		{ "", { T(tracepoint, FACT_NO) } },
		{ "", { NAME("ftrace:function") } },
		{ "tracepoint_id", { FUNCTION, T(tracepoint, FACT_NO) } },
		{ "tracepoint_sampling", { TRACEPOINT("irq_vectors:irq_work_exit"),
			A(SAMPLE_PERIOD, 1) } },
		{ "", { TRACEPOINT("irq_vectors:irq_work_exit") } },
		{ "", { TRACEPOINT("irq_vectors:irq_work_entry"), A(SAMPLE_PERIOD, 1) } },
		{ "tracepoint_sampling? function_privilege? function_callchain? function_start?",
			{ TRACEPOINT(NULL), A(SAMPLE_PERIOD, 1) } },
		{ "function_start?", { FUNCTION } },
		{ "function_privilege function_start?", { FUNCTION, M(paranoid, 0) } },
		{ "function_start?", { FUNCTION, M(paranoid, 0), CAPS(PERFMON) } },
		{ "function_callchain function_start?", { FUNCTION, A(SAMPLE_PERIOD, 1) } },
		{ "function_start?", { FUNCTION, A(SAMPLE_PERIOD, 1),
			A(EXCLUDE_CALLCHAIN_USER, 1) } },
		{ "function_callchain function_start?", { FUNCTION, A(SAMPLE_PERIOD, 1),
			A(EXCLUDE_CALLCHAIN_KERNEL, 1), A(MMAP2, 1) } },
		{ "function_stack function_start?", { FUNCTION, A(SAMPLE_PERIOD, 1),
			A(EXCLUDE_CALLCHAIN_USER, 1), SAMPLES(STACK_USER) } },
		{ "function_start?", { FUNCTION, SAMPLES(STACK_USER) } },
		{ "", { SAMPLES(STACK_USER), A(SAMPLE_PERIOD, 1) } },
		{ "raw_privilege", { TRACEPOINT("sched:sched_switch"), SAMPLES(RAW) } },
		{ "raw_privilege", { TRACEPOINT("sched:sched_switch"), SAMPLES(RAW), M(paranoid, 0) } },
		{ "", { TRACEPOINT("sched:sched_switch"), SAMPLES(RAW), M(paranoid, -1) } },
		{ "", { TRACEPOINT("sched:sched_switch"), SAMPLES(RAW), CAPS(PERFMON) } },
		{ "", { TRACEPOINT("syscalls:sys_enter_read"), SAMPLES(RAW) } },
		{ "", { TRACEPOINT("raw_syscalls:sys_exit"), SAMPLES(RAW) } },
		{ "raw_privilege", { TRACEPOINT("raw_syscalls:sys"), SAMPLES(RAW) } },
		{ "raw_privilege", { TRACEPOINT("syscalls:sys"), SAMPLES(RAW) } },
		{ "raw_privilege", { TRACEPOINT("syscalls:system"), SAMPLES(RAW) } },
		{ "raw_privilege cpu_privilege", { TRACEPOINT("raw_syscalls:sys_exit"), SAMPLES(RAW),
			ON_CPU } },
		{ "function_privilege? raw_privilege? function_start?",
			{ TRACEPOINT(NULL), SAMPLES(RAW) } },
		{ "", { SAMPLES(RAW), NAME("sched:sched_switch") } },
	};

	(void)state;
	try_rows(rows, COUNT(rows));
}

/* Breakpoints ----------------------------------------------------------------------------------- */

#define BREAK(type, addr, len) A(TYPE, PERF_TYPE_BREAKPOINT), A(CONFIG, 0), \
	A(BP_TYPE, HW_BREAKPOINT_##type), A(BP_ADDR, addr), A(BP_LEN, len)
#define USER_END ((1ULL << 47) - 4096)
#define KERNEL 0xffff888000000000
#define ENTRY 0xfffffe0000000000
#define ENTRY_END (ENTRY + (1ULL << 39))
#define ARM ARCH(aarch64), M(user_end, 1ULL << 48)
#define ROOT CAPS(SYS_ADMIN)

static void test_breakpoints(void **state)
{
	const struct row rows[] = {
		{ "", { BREAK(W, 4096, 1) } }, { "", { BREAK(W, 4096, 2) } },
		{ "", { BREAK(W, 4096, 4) } }, { "", { BREAK(W, 4096, 8) } },
		{ "", { BREAK(RW, 4096, 8) } }, { "", { BREAK(X, 4096, 8) } },
		{ "breakpoint_slots", { BREAK(W, 4096, 8), T(breakpoint, FACT_NO) } },
		{ "breakpoint_slots?", { BREAK(W, 4096, 8), T(breakpoint, FACT_UNKNOWN) } },
		{ "", { T(breakpoint, FACT_NO) } },
		{ "breakpoint_type", { BREAK(R, 4096, 8) } },
		{ "breakpoint_none breakpoint_type", { BREAK(EMPTY, 4096, 8) } },
		{ "breakpoint_none breakpoint_type", { BREAK(INVALID, 4096, 8) } },
		{ "breakpoint_type", { BREAK(W, 4096, 8), A(BP_TYPE, 5) } },
		{ "breakpoint_type", { BREAK(W, 4096, 8), A(BP_TYPE, 8) } },
		{ "breakpoint_type", { BREAK(W, 4096, 8), A(BP_TYPE, 10) } },
		{ "breakpoint_arch?", { BREAK(W, 4096, 8), ARCH(unknown) } },
		{ "breakpoint_none breakpoint_arch?", { BREAK(EMPTY, 4096, 8), ARCH(unknown) } },
		{ "", { ARCH(unknown) } },
		/* the length, and where it may begin */
		{ "breakpoint_len", { BREAK(W, 4096, 3) } },
		{ "breakpoint_len", { BREAK(W, 4096, 6) } },
		{ "breakpoint_wrap breakpoint_len breakpoint_align", { BREAK(W, 4096, 0) } },
		{ "breakpoint_align", { BREAK(W, 4097, 8) } },
		{ "breakpoint_align", { BREAK(W, 4100, 8) } },
		{ "", { BREAK(W, 4100, 4) } }, { "", { BREAK(W, 4097, 1) } },
		{ "", { BREAK(W, 4098, 2) } },
		{ "breakpoint_align", { BREAK(W, 4098, 4) } },
		{ "", { BREAK(X, 4097, 8) } },
		{ "breakpoint_exec_len", { BREAK(X, 4096, 4) } },
		{ "", { BREAK(X, 4096, 4), ARCH(x86), M(user_end, 0xc0000000) } },
		{ "breakpoint_exec_len", { BREAK(X, 4096, 8), ARCH(x86), M(user_end, 0xc0000000) } },
		{ "breakpoint_range_cpu", { BREAK(W, 4096, 16) } },
		{ "", { BREAK(W, 4096, 16), M(wide_breakpoints, FACT_YES) } },
		{ "breakpoint_range_cpu?", { BREAK(W, 4096, 16), M(wide_breakpoints, FACT_UNKNOWN) } },
		{ "breakpoint_range breakpoint_align", { BREAK(W, 4104, 16),
			M(wide_breakpoints, FACT_YES) } },
		{ "breakpoint_range_cpu", { BREAK(W, 4096, 8), ARCH(x86), M(user_end, 0xc0000000) } },
		{ "breakpoint_exec_len", { BREAK(X, 4096, 16) } },
		/* the ends of memory */
		{ "", { BREAK(W, USER_END - 8, 8) } },
		{ "breakpoint_wrap breakpoint_len breakpoint_align breakpoint_kernel "
		  "breakpoint_kernel_privilege", { BREAK(W, USER_END, 0) } },
		{ "", { BREAK(X, 0, 8) } },
		{ "breakpoint_kernel breakpoint_kernel_privilege", { BREAK(W, USER_END, 8) } },
		{ "breakpoint_align breakpoint_kernel breakpoint_kernel_privilege",
			{ BREAK(W, USER_END - 7, 8), M(release, 0) } },
		{ "kernel_privilege breakpoint_kernel_privilege",
			{ BREAK(W, KERNEL, 8), A(EXCLUDE_KERNEL, 0) } },
		{ "", { BREAK(W, KERNEL, 8), A(EXCLUDE_KERNEL, 0), ROOT } },
		{ "breakpoint_kernel_privilege", { BREAK(W, KERNEL, 8), A(EXCLUDE_KERNEL, 0),
			CAPS(PERFMON) } },
		{ "breakpoint_kernel", { BREAK(W, KERNEL, 8), ROOT } },
		{ "breakpoint_kernel? breakpoint_kernel_privilege?", { BREAK(W, 4096, 8),
			M(user_end, 0) } },
		{ "breakpoint_kernel?", { BREAK(W, 4096, 8), M(user_end, 0), ROOT } },
		{ "breakpoint_wrap breakpoint_align breakpoint_kernel",
			{ BREAK(W, UINT64_MAX - 6, 8), ROOT } },
		{ "breakpoint_kernel", { BREAK(W, UINT64_MAX - 7, 8), ROOT } },
		{ "breakpoint_kernel", { BREAK(W, UINT64_MAX, 1), ROOT } },
		{ "breakpoint_entry breakpoint_kernel", { BREAK(W, ENTRY, 8), ROOT } },
		{ "breakpoint_kernel", { BREAK(W, ENTRY - 8, 8), ROOT } },
		{ "breakpoint_entry breakpoint_kernel", { BREAK(W, ENTRY, 1), ROOT } },
		{ "breakpoint_entry breakpoint_kernel", { BREAK(W, ENTRY_END - 8, 8), ROOT } },
		{ "breakpoint_kernel", { BREAK(W, ENTRY_END, 8), ROOT } },
		{ "breakpoint_kernel", { BREAK(W, ENTRY, 8), ROOT, REL(5, 2, 0) } },
		{ "", { BREAK(W, USER_END - 16, 16), M(wide_breakpoints, FACT_YES) } },
		/* a wide range counts as its first byte, as does execution */
		{ "breakpoint_range breakpoint_align", { BREAK(W, USER_END - 8, 16),
			M(wide_breakpoints, FACT_YES) } },
		{ "", { BREAK(X, USER_END - 1, 8) } },
		{ "breakpoint_kernel_code breakpoint_kernel breakpoint_kernel_privilege",
			{ BREAK(X, USER_END, 8) } },
		{ "breakpoint_kernel_code? breakpoint_kernel breakpoint_kernel_privilege",
			{ BREAK(X, USER_END, 8), M(kprobes, FACT_YES) } },
		{ "breakpoint_kernel_code? breakpoint_kernel? breakpoint_kernel_privilege?",
			{ BREAK(X, 4096, 8), M(user_end, 0) } },
		{ "breakpoint_kernel breakpoint_kernel_privilege",
			{ BREAK(X, USER_END, 8), REL(4, 1, 0), A(CONFIG, 0) } },
		/* arm64 */
		{ "", { BREAK(R, 4096, 8), ARM } }, { "", { BREAK(W, 4097, 7), ARM } },
		{ "", { BREAK(X, 4097, 3), ARM } },
		{ "breakpoint_len breakpoint_unit", { BREAK(W, 4096, 9), ARM } },
		{ "breakpoint_len", { BREAK(X, 4096, 9), ARM } },
		{ "breakpoint_len", { BREAK(W, 4096, 0), ARM } },
		{ "", { BREAK(W, 4096, 1), ARM } },
		{ "breakpoint_unit", { BREAK(W, 4097, 8), ARM } },
		{ "breakpoint_unit", { BREAK(W, 4103, 2), ARM, REL(6, 12, 0) } },
		{ "breakpoint_unit", { BREAK(W, 4103, 2), ARM, M(release, 0) } },
		{ "breakpoint_unit?", { BREAK(W, 4103, 2), ARM, REL(6, 11, 255) } },
		{ "", { BREAK(W, 4103, 1), ARM } }, { "", { BREAK(X, 4103, 2), ARM } },
		{ "breakpoint_kernel_task breakpoint_kernel", { BREAK(W, 1ULL << 48, 8), ARM, ROOT } },
		{ "breakpoint_kernel", { BREAK(W, 1ULL << 48, 8), ARM, ROOT, ON_CPU } },
		{ "", { BREAK(W, (1ULL << 48) - 8, 8), ARM, ROOT } },
		{ "breakpoint_unit", { BREAK(W, (1ULL << 48) - 4, 8), ARM, ROOT } },
		{ "breakpoint_kernel_task breakpoint_kernel",
			{ BREAK(X, 1ULL << 48, 4), ARM, ROOT } },
	};

	(void)state;
	try_rows(rows, COUNT(rows));
}

/* Probes ------------------------------------------------------------------------------------------ */

#define UPROBE A(TYPE, PMU_UPROBE), A(CONFIG, 0), A(UPROBE_PATH, 1), ROOT
#define PATH(member, v) T(path.member, v)

static void test_probes(void **state)
{
	const struct row rows[] = {
		{ "uprobe_conflict?", { UPROBE } },
		{ "uprobe_privilege uprobe_conflict?", { UPROBE, CAPS(PERFMON) } },
		{ "uprobe_no_path uprobe_conflict?", { UPROBE, A(UPROBE_PATH, 0) } },
		{ "uprobe_path_fault uprobe_conflict?", { UPROBE, PATH(readable, FACT_NO) } },
		{ "uprobe_path_fault? uprobe_conflict?", { UPROBE, PATH(readable, FACT_UNKNOWN) } },
		{ "uprobe_path_long uprobe_conflict?", { UPROBE, PATH(too_long, true) } },
		{ "uprobe_path_empty uprobe_conflict?", { UPROBE, PATH(empty, true) } },
		{ "uprobe_open uprobe_conflict?", { UPROBE, PATH(error, ENOENT) } },
		{ "uprobe_file uprobe_conflict?", { UPROBE, PATH(regular, FACT_NO) } },
		{ "uprobe_pages uprobe_conflict?", { UPROBE, PATH(pages, FACT_NO) } },
		{ "", { PATH(readable, FACT_NO), PATH(too_long, true), PATH(empty, true),
			PATH(error, ENOENT), PATH(regular, FACT_NO), PATH(pages, FACT_NO),
			PATH(mapped, FACT_YES), PATH(size, 0) } },
		{ "uprobe_conflict?", { UPROBE, A(CONFIG2, 10) } },
		{ "uprobe_offset uprobe_conflict?", { UPROBE, A(CONFIG2, 11) } },
		{ "uprobe_conflict?", { UPROBE, A(CONFIG2, UINT64_MAX) } },
		{ "", { A(CONFIG2, 11) } },
		{ "uprobe_counter uprobe_conflict?", { UPROBE, A(CONFIG, 1ULL << 32) } },
		{ "uprobe_conflict?", { UPROBE, A(CONFIG, 2ULL << 32) } },
		{ "uprobe_conflict?", { UPROBE, A(CONFIG, 1ULL << 31) } },
		{ "uprobe_conflict?", { UPROBE, A(CONFIG, 1ULL << 33) } },
		{ "uprobe_align uprobe_conflict?", { UPROBE, A(CONFIG2, 2), ARCH(aarch64) } },
		{ "uprobe_conflict?", { UPROBE, A(CONFIG2, 8), ARCH(aarch64) } },
		{ "uprobe_conflict?", { UPROBE, A(CONFIG2, 2), ARCH(riscv64) } },
		{ "uprobe_align uprobe_conflict?", { UPROBE, A(CONFIG2, 1), ARCH(riscv64) } },
		{ "uprobe_conflict?", { UPROBE, A(CONFIG2, 1) } },
		{ "", { A(CONFIG2, 1), ARCH(riscv64) } },
		{ "uprobe_conflict? uprobe_instruction?", { UPROBE, PATH(mapped, FACT_YES) } },
		{ "uprobe_conflict? uprobe_instruction?", { UPROBE, PATH(mapped, FACT_UNKNOWN) } },
		{ "uprobe_conflict?", { UPROBE, PATH(mapped, FACT_YES), A(ENABLE_ON_EXEC, 1) } },
		{ "uprobe_conflict?", { UPROBE, PATH(mapped, FACT_YES), A(ENABLE_ON_EXEC, 1), C(pid, 0) } },
		{ "uprobe_conflict? uprobe_instruction?", { UPROBE, PATH(mapped, FACT_YES), A(ENABLE_ON_EXEC, 1),
			ON_CPU } },
		{ "pmu_own?", { A(TYPE, PMU_KPROBE), A(CONFIG, 0), CAPS(PERFMON) } },
		{ "kprobe_privilege pmu_own?", { A(TYPE, PMU_KPROBE), A(CONFIG, 0) } },
		{ "pmu_own? kprobe_lockdown", { A(TYPE, PMU_KPROBE), A(CONFIG, 0), ROOT,
			M(lockdown, FACT_YES) } },
		{ "pmu_own? kprobe_lockdown?", { A(TYPE, PMU_KPROBE), A(CONFIG, 0), ROOT,
			M(lockdown, FACT_UNKNOWN) } },
	};

	(void)state;
	try_rows(rows, COUNT(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_traits),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_tracepoints),
		cmocka_unit_test(test_breakpoints),
		cmocka_unit_test(test_probes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
