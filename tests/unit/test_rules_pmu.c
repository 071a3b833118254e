// SPDX-License-Identifier: LGPL-2.1-or-later
/* The rules of PMUs, over machines that are made up. */
#include "rules_world.h"

static void test_pmus(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	put(&w, ATTR_TYPE, PERF_TYPE_HARDWARE);
	expect(&w, "no_pmu", ENOENT);
	/* one that nobody has described may take it, or not */
	add_pmu(&w, 10, "fancy_pmu");
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_NO_PMU], RULE_UNKNOWN);
	add_pmu(&w, 4, "cpu");
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_NO_PMU], RULE_PASSES);
	assert_int_equal(w.v.says[RULE_PMU_OWN], RULE_UNKNOWN);
	assert_ptr_equal(rules_explain(&w.v, EOPNOTSUPP), &rule_descs[RULE_PMU_OWN]);
	/* somebody has tried the event */
	w.facts.target.pmu_event = FACT_NO;
	w.facts.target.pmu_error = ENOENT;
	expect(&w, "pmu_event", ENOENT);
	w.facts.target.pmu_event = FACT_YES;
	expect(&w, NULL, 0);
	/* software cannot be had as a kind of hardware; before 5.13 the upper half named nothing */
	put(&w, ATTR_CONFIG, 1ULL << 32);
	expect(&w, "no_pmu", ENOENT);
	w.facts.machine.release = KVER(5, 10, 0);
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_PMU_OWN], RULE_UNKNOWN);
	assert_string_equal(pmu_desc_by_name("uncore_imc_0")->name, "uncore_*");
	assert_null(pmu_desc_by_name("cpu_clock2"));
	assert_null(pmu_desc_by_name("cp"));
}

/* What lockdown=confidentiality forbids root, and what it does not. */
static void test_lockdown(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	add_pmu(&w, 9, "kprobe");
	w.facts.machine.caps = UINT64_MAX;
	put(&w, ATTR_TYPE, 9);
	expect(&w, NULL, 0);
	w.facts.machine.lockdown = FACT_YES;
	expect(&w, "kprobe_lockdown", EPERM);
	w.facts.machine.release = KVER(5, 3, 0);
	expect(&w, NULL, 0);
	w.facts.machine.release = KVER(6, 18, 0);
	put(&w, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	expect(&w, NULL, 0);
	put(&w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_REGS_INTR);
	put(&w, ATTR_SAMPLE_REGS_INTR, 1);
	expect(&w, "lockdown", EPERM);
}

/* A type that no PMU has goes to all of them: some refuse it before they look at the type. */
static void test_offered(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	put(&w, ATTR_TYPE, 77);
	put(&w, ATTR_CONFIG1, 2);
	w.facts.machine.paranoid = -1;
	w.ask.pid = -1;
	w.ask.cpu = 0;
	expect(&w, "no_pmu", ENOENT);
	add_pmu(&w, 10, "armv8_pmuv3");
	expect(&w, "offered_access", EINVAL);
	w.facts.machine.release = KVER(5, 16, 0);
	expect(&w, "no_pmu", ENOENT);
	put(&w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_STACK);
	put(&w, ATTR_BRANCH_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);
	expect(&w, "offered_branches", EOPNOTSUPP);
	/* it may have these since 6.17 */
	w.facts.machine.release = KVER(6, 17, 0);
	put(&w, ATTR_CONFIG1, 0);
	expect(&w, "no_pmu", ENOENT);
	assert_int_equal(w.v.says[RULE_OFFERED_BRANCHES], RULE_UNKNOWN);
	/* one that is not known may have the type */
	w.facts.machine.release = KVER(6, 12, 0);
	w.facts.machine.pmus_known = FACT_UNKNOWN;
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_OFFERED_BRANCHES], RULE_UNKNOWN);
	w.facts.machine.pmus_known = FACT_YES;
	/* it is not asked where the type is another's, or config names another */
	put(&w, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	expect(&w, "software_branch", EOPNOTSUPP);
	put(&w, ATTR_TYPE, PERF_TYPE_HARDWARE);
	put(&w, ATTR_CONFIG, 1ULL << 32);
	expect(&w, "no_pmu", ENOENT);
	/* x86's looks at the type first, RISC-V's does not since 6.9 */
	w.pmus[w.facts.machine.npmus - 1].type = PERF_TYPE_RAW;
	w.pmus[w.facts.machine.npmus - 1].name = "cpu";
	w.pmus[w.facts.machine.npmus - 1].desc = pmu_desc_by_name("cpu");
	put(&w, ATTR_TYPE, 77);
	expect(&w, "no_pmu", ENOENT);
	w.facts.machine.arch = &arch_riscv64;
	expect(&w, "offered_branches", EOPNOTSUPP);
	w.facts.machine.release = KVER(6, 1, 0);
	expect(&w, "no_pmu", ENOENT);
	assert_int_equal(w.v.says[RULE_OFFERED_BRANCHES], RULE_UNKNOWN);
}

/* armpmu_event_init() refuses branch stacks, and then what cannot be excluded. */
static void test_arm_pmu(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	put(&w, ATTR_TYPE, PERF_TYPE_HARDWARE);
	add_pmu(&w, 8, "armv8_pmuv3_0");
	expect(&w, NULL, 0);
	put(&w, ATTR_EXCLUDE_IDLE, 1);
	expect(&w, "arm_idle", EOPNOTSUPP);
	/* an event that it does not have is refused before */
	assert_ptr_equal(rules_explain(&w.v, ENOENT), &rule_descs[RULE_ARM_EVENT]);
	put(&w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_STACK);
	put(&w, ATTR_BRANCH_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);
	w.facts.machine.release = KVER(6, 12, 0);
	expect(&w, "cpu_branches", EOPNOTSUPP);
	w.facts.machine.release = KVER(6, 18, 0);
	expect(&w, "arm_idle", EOPNOTSUPP);
	assert_int_equal(w.v.says[RULE_CPU_BRANCHES], RULE_UNKNOWN);
	/* x86's accepts both, or has checks of its own */
	make(&w);
	put(&w, ATTR_TYPE, PERF_TYPE_HARDWARE);
	add_pmu(&w, 4, "cpu");
	put(&w, ATTR_EXCLUDE_IDLE, 1);
	expect(&w, NULL, 0);
	/* RISC-V's, of the same name, has no AUX data */
	put(&w, ATTR_EXCLUDE_IDLE, 0);
	put(&w, ATTR_AUX_START_PAUSED, 1);
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_AUX_START_PAUSED], RULE_UNKNOWN);
	w.facts.machine.arch = &arch_riscv64;
	expect(&w, "aux_start_paused", EOPNOTSUPP);
	put(&w, ATTR_AUX_START_PAUSED, 0);
	put(&w, ATTR_AUX_OUTPUT, 1);
	expect(&w, "aux_output", EOPNOTSUPP);
}

/* armv8_pmuv3 as qemu has it: events/ lists instructions and cycles only. */
static void test_arm_events(void **state)
{
	static const uint64_t listed[] = { 0x08, 0x11 };
	struct world w;

	(void)state;
	make(&w);
	put(&w, ATTR_TYPE, PERF_TYPE_HARDWARE);
	add_pmu(&w, 10, "armv8_pmuv3");
	w.pmus[w.facts.machine.npmus - 1].configs = listed;
	w.pmus[w.facts.machine.npmus - 1].nconfigs = sizeof(listed) / sizeof(*listed);
	put(&w, ATTR_CONFIG, PERF_COUNT_HW_INSTRUCTIONS);
	expect(&w, NULL, 0);
	put(&w, ATTR_CONFIG, PERF_COUNT_HW_CACHE_MISSES);
	expect(&w, "arm_event", ENOENT);
	put(&w, ATTR_CONFIG, PERF_COUNT_HW_REF_CPU_CYCLES);
	expect(&w, "arm_event", ENOENT);
	put(&w, ATTR_CONFIG, PERF_COUNT_HW_MAX);
	expect(&w, "arm_config", EINVAL);
	/* before 5.13, the upper half counts */
	put(&w, ATTR_CONFIG, 10ULL << 32 | PERF_COUNT_HW_INSTRUCTIONS);
	expect(&w, NULL, 0);
	w.facts.machine.release = KVER(5, 10, 0);
	expect(&w, "arm_config", EINVAL);
	w.facts.machine.release = KVER(6, 18, 0);
	put(&w, ATTR_TYPE, PERF_TYPE_HW_CACHE);
	put(&w, ATTR_CONFIG, PERF_COUNT_HW_CACHE_L1D);
	expect(&w, "arm_event", ENOENT);
	put(&w, ATTR_CONFIG, PERF_COUNT_HW_CACHE_MAX);
	expect(&w, "arm_config", EINVAL);
	put(&w, ATTR_TYPE, 10);
	put(&w, ATTR_CONFIG, 0x1e);
	expect(&w, "arm_config", EINVAL);
	put(&w, ATTR_CONFIG, 0x11);
	put(&w, ATTR_CONFIG1, 2);
	expect(&w, NULL, 0);
	put(&w, ATTR_CONFIG1, 7 << 5);
	expect(&w, "arm_threshold", EINVAL);
	put(&w, ATTR_EXCLUDE_IDLE, 1);
	expect(&w, "arm_idle", EOPNOTSUPP);
	put(&w, ATTR_EXCLUDE_IDLE, 0);
	w.pmus[w.facts.machine.npmus - 1].threshold_max = 7;
	expect(&w, NULL, 0);
	put(&w, ATTR_CONFIG1, 2);
	put(&w, ATTR_AUX_OUTPUT, 1);
	expect(&w, "aux_output", EOPNOTSUPP);
	put(&w, ATTR_AUX_OUTPUT, 0);
	put(&w, ATTR_AUX_START_PAUSED, 1);
	expect(&w, "aux_start_paused", EOPNOTSUPP);
	/* of a CPU: no task */
	put(&w, ATTR_AUX_START_PAUSED, 0);
	w.facts.machine.paranoid = -1;
	w.ask.pid = -1;
	w.ask.cpu = 1;
	expect(&w, "arm_user_access", EINVAL);
	w.facts.machine.release = KVER(5, 16, 0);
	expect(&w, NULL, 0);
	/* a CPU that the kernel knows by name may have events that are not listed */
	w.pmus[w.facts.machine.npmus - 1].name = "armv8_cortex_a57";
	put(&w, ATTR_TYPE, PERF_TYPE_HW_CACHE);
	put(&w, ATTR_CONFIG, PERF_COUNT_HW_CACHE_L1D);
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_ARM_EVENT], RULE_UNKNOWN);
}

/* What drivers refuse by their source: never called certain, and by release. */
static void test_drivers(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	add_pmu(&w, 10, "ibs_op");
	w.ask.pid = -1;
	w.ask.cpu = 0;
	w.facts.machine.paranoid = -1;
	put(&w, ATTR_TYPE, 10);
	put(&w, ATTR_CONFIG, 0);
	put(&w, ATTR_EXCLUDE_KERNEL, 0);
	put(&w, ATTR_EXCLUDE_HV, 0);
	expect(&w, "ibs_period", EINVAL);
	put(&w, ATTR_CONFIG, 100);
	expect(&w, NULL, 0);
	put(&w, ATTR_SAMPLE_PERIOD, 100000);
	expect(&w, "ibs_period", EINVAL);
	put(&w, ATTR_CONFIG, 0);
	expect(&w, NULL, 0);
	put(&w, ATTR_EXCLUDE_KERNEL, 1);
	expect(&w, "ibs_exclude", EINVAL);
	assert_true(rule_descs[RULE_IBS_EXCLUDE].by & RULE_BY_UNTRIED);
	put(&w, ATTR_CONFIG2, 1);
	expect(&w, NULL, 0);
	put(&w, ATTR_EXCLUDE_GUEST, 1);
	expect(&w, "ibs_exclude", EINVAL);
	put(&w, ATTR_EXCLUDE_GUEST, 0);
	put(&w, ATTR_CONFIG2, 0);
	w.facts.machine.release = KVER(7, 1, 0);
	expect(&w, NULL, 0);
	assert_ptr_equal(rules_explain(&w.v, EINVAL), &rule_descs[RULE_IBS_EXCLUDE]);
	w.facts.machine.release = KVER(6, 13, 0);
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_IBS_EXCLUDE], RULE_PASSES);
	/* energy and other counters of a package */
	add_pmu(&w, 11, "power");
	add_pmu(&w, 12, "uncore_imc_0");
	put(&w, ATTR_TYPE, 11);
	expect(&w, "package_sampling", EINVAL);
	put(&w, ATTR_SAMPLE_PERIOD, 0);
	expect(&w, "no_exclude", EINVAL);
	w.facts.machine.release = KVER(5, 0, 0);
	expect(&w, "package_exclude", EINVAL);
	put(&w, ATTR_EXCLUDE_KERNEL, 0);
	put(&w, ATTR_EXCLUDE_HOST, 1);
	expect(&w, "package_exclude", EINVAL);
	put(&w, ATTR_TYPE, 12);
	expect(&w, NULL, 0);
	/* since 4.10, sampling is refused by the kernel's core */
	add_pmu(&w, 13, "amd_l3");
	w.facts.machine.release = 0;
	put(&w, ATTR_EXCLUDE_HOST, 0);
	put(&w, ATTR_TYPE, 13);
	put(&w, ATTR_SAMPLE_PERIOD, 1);
	expect(&w, "no_interrupt", EOPNOTSUPP);
}

/* The CPU's PMU of hybrid machines, of Zen 3, beside a virtual machine, and of 32-bit ARM. */
static void test_core_drivers(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	add_pmu(&w, 4, "cpu_core");
	w.facts.machine.caps = CAP(ABI_CAP_PERFMON);
	w.ask.cpu = 1;
	put(&w, ATTR_TYPE, PERF_TYPE_HARDWARE);
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_CORE_CPU], RULE_PASSES);
	add_pmu(&w, 10, "cpu_atom");
	put(&w, ATTR_CONFIG, 10ULL << 32);
	expect(&w, NULL, 0);
	assert_ptr_equal(rules_explain(&w.v, ENOENT), &rule_descs[RULE_CORE_CPU]);
	w.ask.cpu = -1;
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_CORE_CPU], RULE_PASSES);
	assert_ptr_equal(rules_explain(&w.v, EOPNOTSUPP), &rule_descs[RULE_PMU_OWN]);
	w.facts.machine.release = KVER(7, 0, 0);
	expect(&w, NULL, 0);
	assert_ptr_equal(rules_explain(&w.v, EOPNOTSUPP), &rule_descs[RULE_GUEST_PMU]);
	put(&w, ATTR_EXCLUDE_GUEST, 1);
	expect(&w, NULL, 0);
	assert_ptr_equal(rules_explain(&w.v, EOPNOTSUPP), &rule_descs[RULE_PMU_OWN]);
	/* Zen 3 */
	w.pmus[w.facts.machine.npmus - 2].brs = true;
	put(&w, ATTR_TYPE, PERF_TYPE_RAW);
	put(&w, ATTR_CONFIG, 0xc4);
	put(&w, ATTR_SAMPLE_PERIOD, 1000);
	put(&w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_STACK);
	put(&w, ATTR_BRANCH_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);
	expect(&w, NULL, 0);
	put(&w, ATTR_FREQ, 1);
	expect(&w, "brs", EINVAL);
	put(&w, ATTR_FREQ, 0);
	put(&w, ATTR_SAMPLE_PERIOD, 16);
	expect(&w, "brs", EINVAL);
	put(&w, ATTR_SAMPLE_PERIOD, 1000);
	put(&w, ATTR_CONFIG, 0xc2);
	expect(&w, "brs", EINVAL);
	/* 32-bit ARM */
	make(&w);
	add_pmu(&w, 8, "armv7_cortex_a8");
	put(&w, ATTR_TYPE, PERF_TYPE_RAW);
	w.facts.machine.release = KVER(3, 6, 0);
	expect(&w, NULL, 0);
	assert_ptr_equal(rules_explain(&w.v, EPERM), &rule_descs[RULE_ARM_EXCLUDE_OLD]);
	w.facts.machine.release = KVER(3, 7, 0);
	expect(&w, NULL, 0);
	assert_ptr_equal(rules_explain(&w.v, EOPNOTSUPP), &rule_descs[RULE_ARM_EXCLUDE]);
}

/* A probe is where an instruction can begin. */
static void test_uprobe_align(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	put(&w, ATTR_TYPE, 8);
	put(&w, ATTR_UPROBE_PATH, 1);
	put(&w, ATTR_CONFIG2, 6);
	w.facts.machine.caps = 1ULL << ABI_CAP_SYS_ADMIN;
	w.facts.target.path = (struct rule_path){
		.readable = FACT_YES, .regular = FACT_YES, .pages = FACT_YES, .size = 10,
		.mapped = FACT_NO,
	};
	expect(&w, NULL, 0);
	/* others may hold a probe there */
	assert_ptr_equal(rules_explain(&w.v, EINVAL), &rule_descs[RULE_UPROBE_CONFLICT]);
	w.facts.machine.arch = &arch_riscv64;
	expect(&w, NULL, 0);
	w.facts.machine.arch = &arch_aarch64;
	expect(&w, "uprobe_align", EINVAL);
}

/* Breakpoints by the data of the architecture: arm64 has reads, any length, and no alignment. */
static void test_arm_breakpoints(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	w.facts.machine.arch = &arch_aarch64;
	w.facts.machine.user_end = 1ULL << 48;
	add_pmu(&w, 5, "breakpoint");
	w.facts.target.breakpoint = FACT_YES;
	put(&w, ATTR_TYPE, PERF_TYPE_BREAKPOINT);
	put(&w, ATTR_BP_TYPE, HW_BREAKPOINT_R);
	put(&w, ATTR_BP_ADDR, 0x1001);
	put(&w, ATTR_BP_LEN, 3);
	expect(&w, NULL, 0);
	put(&w, ATTR_BP_LEN, 9);
	expect(&w, "breakpoint_len", EINVAL);
	put(&w, ATTR_BP_LEN, 7);
	expect(&w, NULL, 0);
	put(&w, ATTR_BP_LEN, 8);
	expect(&w, "breakpoint_unit", EINVAL);
	w.facts.machine.release = KVER(6, 1, 0);
	expect(&w, NULL, 0);
	w.facts.machine.release = 0;
	put(&w, ATTR_BP_LEN, 4);
	put(&w, ATTR_BP_TYPE, HW_BREAKPOINT_X | HW_BREAKPOINT_R);
	expect(&w, "breakpoint_type", EINVAL);
	put(&w, ATTR_BP_TYPE, HW_BREAKPOINT_W);
	put(&w, ATTR_BP_ADDR, 0xffff800000000000);
	expect(&w, "breakpoint_kernel_task", EINVAL);
	/* without the end of user addresses, it is not known */
	w.facts.machine.user_end = 0;
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_BREAKPOINT_KERNEL_TASK], RULE_UNKNOWN);
	/* as on x86, where a task may have it */
	w.facts.machine.arch = &arch_x86_64;
	w.facts.machine.user_end = (1ULL << 47) - 4096;
	expect(&w, "breakpoint_kernel", EINVAL);
	put(&w, ATTR_BP_TYPE, HW_BREAKPOINT_R);
	expect(&w, "breakpoint_type", EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pmus),
		cmocka_unit_test(test_lockdown),
		cmocka_unit_test(test_offered),
		cmocka_unit_test(test_arm_pmu),
		cmocka_unit_test(test_arm_events),
		cmocka_unit_test(test_drivers),
		cmocka_unit_test(test_core_drivers),
		cmocka_unit_test(test_uprobe_align),
		cmocka_unit_test(test_arm_breakpoints),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
