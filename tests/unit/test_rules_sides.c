// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Both sides of each boundary of each rule: a call that opens is changed a little, and the rules that
 * then do not pass are named, all of them.  What is expected was read from the kernel's source.
 */
#include <time.h>

#include "rules_rows.h"

#define SAMPLES(what) A(SAMPLE_TYPE, PERF_SAMPLE_##what)

/* The call itself -------------------------------------------------------------------- */

static void test_call(void **state)
{
	const struct row rows[] = {
		{ "", { C(flags, 0) } },
		{ "", { C(flags, PERF_FLAG_FD_CLOEXEC) } },
		{ "flags_unknown", { C(flags, 16) } },
		{ "flags_unknown~", { C(flags, 16), REL(9, 0, 0) } },
		{ "paranoid_all?", { M(paranoid, 3) } },
		{ "paranoid_all", { M(paranoid, 3), M(denies_all, FACT_YES) } },
		{ "", { M(paranoid, 3), M(denies_all, FACT_NO) } },
		{ "", { M(paranoid, 2), M(denies_all, FACT_YES) } },
		{ "", { M(paranoid, 3), CAPS(PERFMON) } },
		{ "paranoid_all?", { M(unread, UNREAD_PARANOID) } },
		{ "paranoid_all?", { M(unread, UNREAD_PARANOID), C(cpu, 0) } },
		{ "paranoid_all?", { M(unread, UNREAD_PARANOID), A(FREQ, 1), A(SAMPLE_FREQ, 1) } },
		{ "paranoid_all?", { M(unread, UNREAD_PARANOID), A(SAMPLE_MAX_STACK, 1),
			SAMPLES(CALLCHAIN), A(EXCLUDE_CALLCHAIN_KERNEL, 1) } },
		{ "cpu_range", { M(unread, UNREAD_PARANOID), C(pid, -1), C(cpu, 2),
			CAPS(SYS_ADMIN), T(cpu_online, FACT_NO) } },
		{ "", { M(paranoid, 3), REL(4, 5, 0) } },
		/* attr: what can be read of it, and its size */
		{ "attr_head_fault", { C(len, 7) } },
		{ "attr_fault", { C(len, 8) } },
		{ "attr_fault", { C(len, 135), A(SAMPLE_TYPE, 1ULL << 40) } },
		{ "", { C(len, 136) } },
		{ "size_range", { A(SIZE, 63), A(SAMPLE_TYPE, 1ULL << 40) } },
		{ "", { A(SIZE, 64) } },
		{ "", { A(SIZE, 4096), C(len, 4096) } },
		{ "size_range", { A(SIZE, 4097), C(len, 4096) } },
		/* 0 is 64, and what is behind does not count */
		{ "", { A(SIZE, 0), A(USE_CLOCKID, 1), A(CLOCKID, 5) } },
		{ "", { A(SIZE, 64), A(USE_CLOCKID, 1), A(CLOCKID, 5) } },
		{ "clockid", { A(USE_CLOCKID, 1), A(CLOCKID, 5) } },
		{ "", { A(SIZE, 0), C(len, 64) } },
		{ "attr_fault", { A(SIZE, 0), C(len, 63) } },
		/* a tail */
		{ "", { A(SIZE, 137), C(len, 137) } },
		{ "size_tail", { A(SIZE, 137), C(len, 137), W(attr[136], 1) } },
		{ "size_tail sample_type_bits", { A(SIZE, 137), C(len, 137), W(attr[136], 1),
			A(SAMPLE_TYPE, 1ULL << 40) } },
		{ "size_tail", { A(SIZE, 145), C(len, 145), W(attr[144], 1), REL(9, 0, 0),
			M(attr_size, 144) } },
		{ "size_tail~", { A(SIZE, 145), C(len, 145), W(attr[144], 1), REL(9, 0, 0) } },
		{ "", { A(SIZE, 144), C(len, 144), W(attr[143], 1), REL(9, 0, 0) } },
		{ "size_tail", { A(SIZE, 144), C(len, 144), W(attr[143], 1), REL(9, 0, 0),
			M(attr_size, 143) } },
		/* type */
		{ "type_range", { REL(2, 6, 32), A(TYPE, 5) } },
		{ "", { REL(2, 6, 33), A(TYPE, 5), A(BP_TYPE, HW_BREAKPOINT_W), A(BP_LEN, 4),
			A(CONFIG, 0) } },
		{ "type_range", { REL(2, 6, 37), A(TYPE, PMU_MSR), A(EXCLUDE_KERNEL, 0),
			M(paranoid, 1), A(CONFIG, 0) } },
		{ "", { REL(2, 6, 38), A(TYPE, PMU_MSR), A(CONFIG, 0) } },
		/* bits */
		{ "reserved_bits", { A(RESERVED_1, 1) } },
		{ "reserved_bits", { A(RESERVED_2, 1) } },
		{ "reserved_bits", { A(RESERVED_3, 1) } },
		{ "reserved_bits~", { A(RESERVED_3, 1), REL(9, 0, 0) } },
		{ "", { A(RESERVED_2, 1), REL(5, 3, 255), A(CONFIG, 0) } },
		{ "reserved_bits", { A(RESERVED_2, 1), REL(5, 4, 0), A(CONFIG, 0) } },
		{ "reserved_bits", { A(RESERVED_1, 1), REL(5, 3, 0), A(CONFIG, 0) } },
		{ "reserved_bits", { A(BP_TYPE, 1), REL(2, 6, 32), A(CONFIG, 0) } },
		{ "", { A(BP_TYPE, 1), REL(2, 6, 33), A(CONFIG, 0) } },
		{ "reserved_bits", { A(BP_ADDR, 1), REL(2, 6, 32), A(CONFIG, 0) } },
		{ "", { A(CLOCKID, 1), REL(3, 8, 0), A(CONFIG, 0) } },
		/* the bytes of a member that came later were an older one's */
		{ "", { A(WAKEUP_EVENTS, 1), REL(2, 6, 31), A(CONFIG, 0) } },
		{ "reserved_bits", { A(BP_TYPE, 1), REL(2, 6, 31), A(CONFIG, 0) } },
		{ "", { A(DEFER_CALLCHAIN, 1), REL(6, 19, 0) } },
		{ "reserved_bits", { A(DEFER_CALLCHAIN, 1), REL(6, 18, 255) } },
		{ "reserved_bits", { A(EXCLUDE_HOST, 1), REL(3, 1, 0), A(CONFIG, 0) } },
		{ "", { A(SAMPLE_TYPE, PERF_SAMPLE_WEIGHT_STRUCT) } },
		{ "sample_type_bits", { A(SAMPLE_TYPE, 1ULL << 25) } },
		{ "sample_type_bits", { A(SAMPLE_TYPE, 1ULL << 63) } },
		{ "sample_type_bits~", { A(SAMPLE_TYPE, 1ULL << 25), REL(7, 4, 0) } },
		{ "sample_type_bits", { A(SAMPLE_TYPE, 1ULL << 25), REL(7, 3, 9) } },
		{ "", { A(READ_FORMAT, 31) } },
		{ "read_format_bits", { A(READ_FORMAT, 32) } },
	};

	(void)state;
	try_rows(rows, COUNT(rows));
}

/* What a sample is to hold -------------------------------------------------------------- */

#define BRANCHES(bits) A(SAMPLE_TYPE, PERF_SAMPLE_BRANCH_STACK), A(BRANCH_SAMPLE_TYPE, bits)
#define BRANCH(what) PERF_SAMPLE_BRANCH_##what

static void test_samples(void **state)
{
	const struct row rows[] = {
		/* branches, of the PMU of an x86 CPU, whose own checks are not known */
		{ "pmu_own?", { A(TYPE, 4), BRANCHES(BRANCH(USER) | BRANCH(ANY)) } },
		{ "branch_kind pmu_own?", { A(TYPE, 4), BRANCHES(BRANCH(USER)) } },
		{ "branch_kind branch_privilege pmu_own?", { A(TYPE, 4), BRANCHES(BRANCH(HV)) } },
		{ "branch_kind pmu_own?", { A(TYPE, 4), BRANCHES(0) } },
		{ "branch_bits pmu_own?", { A(TYPE, 4), BRANCHES(1ULL << 40 | 1) } },
		{ "pmu_own?", { A(TYPE, 4), A(BRANCH_SAMPLE_TYPE, 1ULL << 40) } },
		{ "branch_privilege pmu_own?", { A(TYPE, 4), BRANCHES(BRANCH(KERNEL) | BRANCH(ANY)) } },
		{ "branch_privilege pmu_own?", { A(TYPE, 4), BRANCHES(BRANCH(HV) | BRANCH(ANY)) } },
		{ "pmu_own?", { A(TYPE, 4), BRANCHES(BRANCH(HV) | BRANCH(ANY)), M(paranoid, 1) } },
		{ "pmu_own?", { A(TYPE, 4), A(BRANCH_SAMPLE_TYPE, BRANCH(HV) | BRANCH(ANY)) } },
		{ "pmu_own?", { A(TYPE, 4), BRANCHES(BRANCH(ANY)) } },
		{ "branch_privilege kernel_privilege pmu_own?", { A(TYPE, 4), BRANCHES(BRANCH(ANY)),
			A(EXCLUDE_KERNEL, 0) } },
		{ "branch_privilege pmu_own?", { A(TYPE, 4), BRANCHES(BRANCH(ANY)),
			A(EXCLUDE_HV, 0) } },
		{ "pmu_own?", { A(TYPE, 4), BRANCHES(BRANCH(USER) | BRANCH(ANY)),
			A(EXCLUDE_HV, 0) } },
		{ "software_branch", { BRANCHES(BRANCH(ANY)) } },
		{ "tracepoint_branch", { A(TYPE, 2), BRANCHES(BRANCH(ANY)) } },
		{ "software_branch", { A(TYPE, PMU_CLOCK), A(CONFIG, 0), BRANCHES(BRANCH(ANY)) } },
		{ "software_branch", { A(TYPE, PMU_TASK_CLOCK), A(CONFIG, 1),
			BRANCHES(BRANCH(ANY)) } },
		{ "probe_branch uprobe_conflict?", { A(TYPE, PMU_UPROBE), CAPS(SYS_ADMIN), A(UPROBE_PATH, 1),
			A(CONFIG, 0), BRANCHES(BRANCH(ANY)) } },
		{ "probe_branch pmu_own?", { A(TYPE, PMU_KPROBE), CAPS(SYS_ADMIN), A(CONFIG, 0),
			BRANCHES(BRANCH(ANY)) } },
		{ "breakpoint_branch", { A(TYPE, 5), A(BP_TYPE, HW_BREAKPOINT_W), A(BP_ADDR, 4096),
			A(BP_LEN, 4), BRANCHES(BRANCH(ANY)) } },
		/* registers and stack */
		{ "", { SAMPLES(REGS_USER), A(SAMPLE_REGS_USER, 1) } },
		{ "user_regs", { SAMPLES(REGS_USER), A(SAMPLE_REGS_INTR, 1) } },
		{ "user_regs", { SAMPLES(REGS_USER), A(SAMPLE_REGS_USER, 1 << PERF_REG_X86_DS) } },
		{ "user_regs", { SAMPLES(REGS_USER), A(SAMPLE_REGS_USER, 1ULL << 24) } },
		{ "", { A(SAMPLE_REGS_USER, 1 << PERF_REG_X86_DS) } },
		{ "", { SAMPLES(REGS_INTR), A(SAMPLE_REGS_INTR, 1) } },
		{ "intr_regs", { SAMPLES(REGS_INTR), A(SAMPLE_REGS_USER, 1) } },
		{ "lockdown", { SAMPLES(REGS_INTR), A(SAMPLE_REGS_INTR, 1), M(lockdown, FACT_YES) } },
		{ "lockdown?", { SAMPLES(REGS_INTR), A(SAMPLE_REGS_INTR, 1),
			M(lockdown, FACT_UNKNOWN) } },
		{ "", { M(lockdown, FACT_YES) } },
		{ "user_regs", { SAMPLES(REGS_USER), A(SAMPLE_REGS_USER, 1 << PERF_REG_X86_R8),
			ARCH(x86) } },
		{ "", { SAMPLES(REGS_USER), A(SAMPLE_REGS_USER, 1 << PERF_REG_X86_R8) } },
		{ "user_regs?", { SAMPLES(REGS_USER), A(SAMPLE_REGS_USER, 1), ARCH(unknown) } },
		{ "user_regs", { SAMPLES(REGS_USER), ARCH(unknown) } },
		{ "", { A(SAMPLE_REGS_USER, 1), ARCH(unknown) } },
		{ "", { SAMPLES(STACK_USER), A(SAMPLE_STACK_USER, 8) } },
		{ "", { SAMPLES(STACK_USER), A(SAMPLE_STACK_USER, 65528) } },
		{ "user_stack_size", { SAMPLES(STACK_USER), A(SAMPLE_STACK_USER, 65536) } },
		{ "user_stack_size", { SAMPLES(STACK_USER), A(SAMPLE_STACK_USER, 7) } },
		{ "user_stack_size", { SAMPLES(STACK_USER), A(SAMPLE_STACK_USER, 9) } },
		{ "user_stack_size", { SAMPLES(STACK_USER), A(SAMPLE_STACK_USER, 14) } },
		{ "user_stack_size", { SAMPLES(STACK_USER), A(SAMPLE_STACK_USER, 4) } },
		{ "user_stack_size", { SAMPLES(STACK_USER), A(SAMPLE_STACK_USER, 65540) } },
		{ "", { A(SAMPLE_STACK_USER, 7) } },
		{ "user_stack_arch?", { SAMPLES(STACK_USER), ARCH(unknown) } },
		{ "", { ARCH(unknown) } },
		{ "sample_type_bits", { SAMPLES(STACK_USER), ARCH(unknown), REL(3, 6, 0),
			A(CONFIG, 0) } },
		/* others */
		{ "", { SAMPLES(CGROUP) } },
		{ "sample_cgroup", { SAMPLES(CGROUP), M(cgroups, FACT_NO) } },
		{ "sample_cgroup?", { SAMPLES(CGROUP), M(cgroups, FACT_UNKNOWN) } },
		{ "", { M(cgroups, FACT_NO) } },
		{ "", { SAMPLES(WEIGHT) } },
		{ "weights", { A(SAMPLE_TYPE, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT) } },
		{ "phys_addr_privilege", { SAMPLES(PHYS_ADDR) } },
		{ "", { SAMPLES(PHYS_ADDR), M(paranoid, 1) } },
		{ "paranoid_all? phys_addr_privilege?", { SAMPLES(PHYS_ADDR),
			M(unread, UNREAD_PARANOID) } },
		{ "callchain_privilege?", { SAMPLES(CALLCHAIN) } },
		{ "", { SAMPLES(CALLCHAIN), A(EXCLUDE_CALLCHAIN_KERNEL, 1) } },
		{ "callchain_privilege?", { SAMPLES(CALLCHAIN), A(EXCLUDE_CALLCHAIN_USER, 1) } },
		{ "callchain_privilege", { SAMPLES(CALLCHAIN), REL(7, 3, 0) } },
		{ "callchain_privilege", { SAMPLES(CALLCHAIN), REL(7, 2, 10) } },
		{ "", { SAMPLES(CALLCHAIN), REL(7, 2, 9) } },
		{ "callchain_privilege", { SAMPLES(CALLCHAIN), REL(6, 12, 113) } },
		{ "", { SAMPLES(CALLCHAIN), REL(6, 12, 112) } },
		{ "", { SAMPLES(CALLCHAIN), REL(7, 3, 0), M(paranoid, 1) } },
		{ "callchain_privilege?", { SAMPLES(CALLCHAIN), REL(6, 1, 191) } },
		{ "text_poke_privilege", { A(TEXT_POKE, 1), REL(6, 1, 191) } },
		{ "", { A(TEXT_POKE, 1), REL(6, 1, 190) } },
		{ "text_poke_privilege?", { A(TEXT_POKE, 1) } },
		{ "text_poke_privilege", { A(TEXT_POKE, 1), REL(7, 3, 0) } },
		{ "text_poke_privilege", { A(TEXT_POKE, 1), REL(7, 2, 10) } },
		{ "", { A(TEXT_POKE, 1), REL(6, 12, 112) } },
		{ "namespaces_privilege", { A(NAMESPACES, 1), M(paranoid, -1) } },
		{ "", { A(NAMESPACES, 1), CAPS(PERFMON) } },
		{ "namespaces_privilege?", { A(NAMESPACES, 1),
			M(caps_unread, CAP(ABI_CAP_PERFMON)) } },
		{ "namespaces_privilege?", { A(NAMESPACES, 1),
			M(caps_unread, CAP(ABI_CAP_SYS_ADMIN)) } },
		{ "", { SAMPLES(CALLCHAIN), A(EXCLUDE_CALLCHAIN_KERNEL, 1),
			A(SAMPLE_MAX_STACK, 127) } },
		{ "max_stack", { SAMPLES(CALLCHAIN), A(EXCLUDE_CALLCHAIN_KERNEL, 1),
			A(SAMPLE_MAX_STACK, 128) } },
		{ "", { A(SAMPLE_MAX_STACK, 128) } },
		{ "max_stack?", { SAMPLES(CALLCHAIN), A(EXCLUDE_CALLCHAIN_KERNEL, 1),
			A(SAMPLE_MAX_STACK, 1), M(unread, UNREAD_STACK) } },
		{ "", { SAMPLES(CALLCHAIN), A(EXCLUDE_CALLCHAIN_KERNEL, 1),
			A(SAMPLE_MAX_STACK, 1), M(unread, UNREAD_CPUS | UNREAD_SAMPLE_RATE) } },
		{ "", { SAMPLES(CALLCHAIN), A(EXCLUDE_CALLCHAIN_KERNEL, 1),
			M(unread, UNREAD_STACK) } },
	};

	(void)state;
	try_rows(rows, COUNT(rows));
}

/* Members of the attr, the task and the CPU --------------------------------------------- */

static void test_members(void **state)
{
	const struct row rows[] = {
		{ "inherit_thread", { A(INHERIT_THREAD, 1) } },
		{ "", { A(INHERIT_THREAD, 1), A(INHERIT, 1) } },
		{ "inherit_thread", { A(INHERIT_THREAD, 1), A(PINNED, 1) } },
		{ "", { A(REMOVE_ON_EXEC, 1) } },
		{ "", { A(ENABLE_ON_EXEC, 1) } },
		{ "remove_and_enable", { A(REMOVE_ON_EXEC, 1), A(ENABLE_ON_EXEC, 1) } },
		{ "", { A(INHERIT_THREAD, 1), A(INHERIT, 1), A(ENABLE_ON_EXEC, 1) } },
		{ "", { A(REMOVE_ON_EXEC, 1), A(TASK, 1) } },
		{ "", { A(SIGTRAP, 1), A(REMOVE_ON_EXEC, 1) } },
		{ "sigtrap_exec", { A(SIGTRAP, 1) } },
		{ "security_open?", { M(security, FACT_YES) } },
		{ "security_open?", { M(security, FACT_UNKNOWN) } },
		{ "", { M(security, FACT_YES), REL(5, 4, 0), A(CONFIG, 0) } },
		{ "kernel_privilege", { A(EXCLUDE_KERNEL, 0) } },
		{ "", { A(EXCLUDE_KERNEL, 0), M(paranoid, 1) } },
		{ "", { A(EXCLUDE_KERNEL, 0), CAPS(SYS_ADMIN) } },
		{ "paranoid_all? kernel_privilege?", { A(EXCLUDE_KERNEL, 0),
			M(caps_unread, CAP(ABI_CAP_PERFMON)), M(paranoid, 3) } },
		{ "", { A(EXCLUDE_KERNEL, 0), M(caps_unread, CAP(ABI_CAP_PERFMON)),
			M(paranoid, 1) } },
		{ "", { A(FREQ, 1), A(SAMPLE_FREQ, 100000) } },
		{ "freq_limit", { A(FREQ, 1), A(SAMPLE_FREQ, 100001) } },
		{ "", { A(SAMPLE_PERIOD, 100001) } },
		{ "freq_limit?", { A(FREQ, 1), A(SAMPLE_FREQ, 1), M(unread, UNREAD_SAMPLE_RATE) } },
		{ "", { A(FREQ, 1), A(SAMPLE_FREQ, 1), M(unread, UNREAD_STACK | UNREAD_CPUS) } },
		{ "", { A(FREQ, 1), M(unread, UNREAD_SAMPLE_RATE) } },
		{ "", { A(SAMPLE_PERIOD, UINT64_MAX >> 1) } },
		{ "period_sign", { A(SAMPLE_PERIOD, 1ULL << 63) } },
		{ "freq_limit", { A(FREQ, 1), A(SAMPLE_FREQ, 1ULL << 63) } },
		{ "period_sign", { A(SAMPLE_PERIOD, 1ULL << 63), A(INHERIT_STAT, 1) } },
		/* the task, the CPU */
		{ "no_descriptor", { T(descriptor, FACT_NO) } },
		{ "no_descriptor?", { T(descriptor, FACT_UNKNOWN) } },
		{ "no_task", { T(task.exists, FACT_NO) } },
		{ "no_task?", { T(task.exists, FACT_UNKNOWN) } },
		{ "task_exiting", { T(task.living, FACT_NO) } },
		{ "task_exiting?", { T(task.living, FACT_UNKNOWN) } },
		{ "", { C(pid, -1), C(cpu, 0), M(paranoid, 0), T(task.exists, FACT_NO),
			T(task.living, FACT_NO), T(task.readable, FACT_NO) } },
		{ "cpu_privilege", { C(pid, -1), C(cpu, 0), M(paranoid, 1) } },
		{ "cpu_range", { C(pid, -1), C(cpu, -1), M(paranoid, 0) } },
		{ "no_task cpu_range", { C(pid, -1), C(cpu, -1), M(paranoid, 0), REL(2, 6, 36),
			A(CONFIG, 0) } },
		{ "cpu_range", { C(pid, -1), C(cpu, -1), M(paranoid, 0), REL(2, 6, 37),
			A(CONFIG, 0) } },
		{ "", { C(pid, -1), C(cpu, 1), M(paranoid, 0), REL(2, 6, 36), A(CONFIG, 0) } },
		{ "", { REL(2, 6, 36), A(CONFIG, 0) } },
		{ "cpu_range", { C(pid, -1), C(cpu, -1), M(paranoid, 0), M(release, 0) } },
		{ "", { C(cpu, 1) } },
		{ "cpu_range", { C(cpu, 2) } },
		{ "cpu_range", { C(cpu, -2) } },
		{ "cpu_range? cpu_offline", { C(cpu, 2), M(unread, UNREAD_CPUS),
			T(cpu_online, FACT_NO), C(pid, -1), M(paranoid, 0) } },
		{ "cpu_range?", { C(cpu, 0), M(unread, UNREAD_CPUS) } },
		{ "", { C(cpu, 0), M(unread, UNREAD_SAMPLE_RATE | UNREAD_STACK) } },
		{ "cpu_range", { C(cpu, -2), M(unread, UNREAD_CPUS) } },
		{ "", { M(unread, UNREAD_CPUS) } },
		{ "cpu_offline", { C(pid, -1), C(cpu, 1), M(paranoid, 0), T(cpu_online, FACT_NO) } },
		{ "cpu_range", { C(pid, -1), C(cpu, 2), M(paranoid, 0), T(cpu_online, FACT_NO) } },
		{ "cpu_range", { C(pid, -1), C(cpu, -1), M(paranoid, 0), T(cpu_online, FACT_NO) } },
		{ "cpu_offline?", { C(pid, -1), C(cpu, 0), M(paranoid, 0),
			T(cpu_online, FACT_UNKNOWN) } },
		{ "", { C(cpu, 1), T(cpu_online, FACT_NO) } },
		{ "sigtrap_target", { C(pid, -1), C(cpu, 0), M(paranoid, 0), A(SIGTRAP, 1),
			A(REMOVE_ON_EXEC, 1) } },
		{ "", { C(pid, -1), C(cpu, 0), M(paranoid, 0), A(DEFER_CALLCHAIN, 1),
			M(release, 0) } },
		{ "", { A(INHERIT, 1), SAMPLES(READ), A(SAMPLE_TYPE, PERF_SAMPLE_READ |
			PERF_SAMPLE_TID) } },
		{ "inherit_read_tid", { A(INHERIT, 1), SAMPLES(READ) } },
		{ "", { SAMPLES(READ) } },
		{ "", { SAMPLES(READ), A(PINNED, 1) } },
		{ "inherit_read", { A(INHERIT, 1), SAMPLES(READ), REL(6, 12, 0) } },
		{ "", { SAMPLES(READ), REL(6, 12, 0), A(PINNED, 1) } },
		{ "", { A(INHERIT, 1), REL(6, 12, 0) } },
		{ "", { A(INHERIT, 1), SAMPLES(READ), REL(4, 12, 0), A(CONFIG, 0) } },
		{ "inherit_group", { A(INHERIT, 1), A(READ_FORMAT, 8), REL(4, 12, 0),
			A(CONFIG, 0) } },
		{ "", { A(INHERIT, 1), A(READ_FORMAT, 7), REL(4, 12, 0), A(CONFIG, 0) } },
		{ "", { A(PINNED, 1), A(READ_FORMAT, 8), REL(4, 12, 0), A(CONFIG, 0) } },
		/* rights on the task */
		{ "task_privilege", { T(task.readable, FACT_NO) } },
		{ "", { T(task.attachable, FACT_NO) } },
		{ "task_privilege?", { T(task.readable, FACT_UNKNOWN) } },
		{ "", { T(task.readable, FACT_NO), CAPS(PERFMON) } },
		{ "task_privilege?", { T(task.readable, FACT_NO),
			M(caps_unread, CAP(ABI_CAP_PERFMON)) } },
		{ "", { T(task.readable, FACT_YES), M(caps_unread, CAP(ABI_CAP_PERFMON)) } },
		{ "task_privilege", { T(task.attachable, FACT_NO), A(SIGTRAP, 1),
			A(REMOVE_ON_EXEC, 1) } },
		{ "", { T(task.attachable, FACT_NO), A(SIGTRAP, 1), A(REMOVE_ON_EXEC, 1),
			CAPS(PERFMON), T(task.killable, FACT_YES) } },
		{ "task_privilege", { T(task.attachable, FACT_NO), A(SIGTRAP, 1),
			A(REMOVE_ON_EXEC, 1), CAPS(PERFMON) } },
		{ "task_privilege?", { T(task.attachable, FACT_NO), A(SIGTRAP, 1),
			A(REMOVE_ON_EXEC, 1), CAPS(PERFMON), T(task.killable, FACT_UNKNOWN) } },
		{ "", { T(task.attachable, FACT_YES), A(SIGTRAP, 1), A(REMOVE_ON_EXEC, 1),
			CAPS(PERFMON), T(task.killable, FACT_UNKNOWN) } },
		{ "task_privilege", { T(task.attachable, FACT_NO), A(SIGTRAP, 1),
			A(REMOVE_ON_EXEC, 1), T(task.killable, FACT_UNKNOWN) } },
		{ "task_privilege?", { T(task.attachable, FACT_NO), A(SIGTRAP, 1),
			A(REMOVE_ON_EXEC, 1), T(task.killable, FACT_YES),
			M(caps_unread, CAP(ABI_CAP_PERFMON)) } },
		{ "task_privilege_late", { T(task.readable, FACT_NO), REL(6, 1, 255) } },
		{ "task_privilege", { T(task.readable, FACT_NO), REL(6, 2, 0) } },
		{ "task_privilege", { T(task.readable, FACT_NO), M(release, 0) } },
		/* clocks */
		{ "", { A(USE_CLOCKID, 1), A(CLOCKID, CLOCK_MONOTONIC) } },
		{ "", { A(USE_CLOCKID, 1), A(CLOCKID, CLOCK_TAI) } },
		{ "clockid", { A(USE_CLOCKID, 1), A(CLOCKID, CLOCK_PROCESS_CPUTIME_ID) } },
		{ "clockid", { A(USE_CLOCKID, 1), A(CLOCKID, CLOCK_TAI + 1) } },
		{ "", { A(CLOCKID, CLOCK_PROCESS_CPUTIME_ID) } },
		{ "", { A(CLOCKID, CLOCK_PROCESS_CPUTIME_ID), A(CONTEXT_SWITCH, 1) } },
		{ "pmu_own? clockid_nmi", { A(TYPE, 4), A(USE_CLOCKID, 1), A(CLOCKID, CLOCK_TAI) } },
		{ "pmu_own? clockid_nmi", { A(TYPE, 4), A(USE_CLOCKID, 1),
			A(CLOCKID, CLOCK_REALTIME) } },
		{ "pmu_own? clockid_nmi", { A(TYPE, 4), A(USE_CLOCKID, 1),
			A(CLOCKID, CLOCK_BOOTTIME) } },
		{ "pmu_own?", { A(TYPE, 4), A(CLOCKID, CLOCK_TAI) } },
		{ "pmu_own?", { A(TYPE, 4), A(USE_CLOCKID, 1), A(CLOCKID, CLOCK_MONOTONIC) } },
		{ "pmu_own?", { A(TYPE, 4), A(USE_CLOCKID, 1), A(CLOCKID, CLOCK_MONOTONIC_RAW) } },
		{ "pmu_own? clockid", { A(TYPE, 4), A(USE_CLOCKID, 1), A(CLOCKID, 12) } },
		{ "pmu_own? no_exclude? cpu_pmu_task? clockid_nmi?", { A(TYPE, PMU_ODD), A(USE_CLOCKID, 1),
			A(CLOCKID, CLOCK_TAI) } },
		{ "no_pmu", { A(TYPE, 99), A(USE_CLOCKID, 1), A(CLOCKID, CLOCK_TAI) } },
	};

	(void)state;
	try_rows(rows, COUNT(rows));
}

/* Cgroups, groups and rings ----------------------------------------------------------------- */

#define CGROUP C(flags, PERF_FLAG_PID_CGROUP), C(cpu, 0), M(paranoid, 0)
#define GROUP C(group_fd, 3)
#define OUTPUT C(group_fd, 3), C(flags, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP)
#define UNKNOWN_ATTR P(facts.target.group.attr, NULL)

static void test_groups(void **state)
{
	const struct row rows[] = {
		{ "", { CGROUP } },
		{ "", { CGROUP, T(task.exists, FACT_NO), T(task.readable, FACT_NO),
			T(task.living, FACT_NO) } },
		{ "", { CGROUP, C(pid, 0) } },
		{ "cgroup_target", { CGROUP, C(pid, -1) } },
		{ "cgroup_target cpu_range", { CGROUP, C(cpu, -1) } },
		{ "cgroup_target cpu_range", { CGROUP, C(cpu, -1), C(pid, -1) } },
		{ "cpu_range", { CGROUP, C(cpu, -2) } },
		{ "cgroup_descriptor", { CGROUP, T(cgroup_dir, FACT_NO) } },
		{ "cgroup_descriptor?", { CGROUP, T(cgroup_dir, FACT_UNKNOWN) } },
		{ "cgroup_hierarchy", { CGROUP, T(cgroup_perf, FACT_NO) } },
		{ "", { T(cgroup_dir, FACT_NO), T(cgroup_perf, FACT_NO) } },
		{ "group_cgroup group_cpu", { CGROUP, GROUP, T(group.same_cgroup, FACT_NO) } },
		{ "", { GROUP, T(group.same_cgroup, FACT_NO) } },
		{ "", { CGROUP, T(group.same_cgroup, FACT_NO) } },
		/* the leader */
		{ "", { GROUP } },
		{ "group_not_event", { GROUP, T(group.event, FACT_NO) } },
		{ "group_not_event?", { GROUP, T(group.event, FACT_UNKNOWN) } },
		{ "group_not_event", { C(group_fd, -2), T(group.event, FACT_NO) } },
		{ "", { T(group.event, FACT_NO), T(group.alive, FACT_NO) } },
		{ "group_gone", { GROUP, T(group.alive, FACT_NO) } },
		{ "group_gone?", { GROUP, T(group.alive, FACT_UNKNOWN) } },
		{ "group_gone", { GROUP, T(group.alive, FACT_NO), REL(6, 15, 0) } },
		{ "group_gone?", { GROUP, T(group.alive, FACT_NO), REL(6, 14, 255) } },
		{ "group_gone", { GROUP, T(group.alive, FACT_NO), REL(6, 12, 108) } },
		{ "", { GROUP, T(group.alive, FACT_NO), REL(6, 12, 107) } },
		{ "group_gone?", { GROUP, T(group.alive, FACT_UNKNOWN), REL(6, 12, 108) } },
		{ "", { GROUP, T(group.alive, FACT_NO), REL(6, 11, 0) } },
		{ "group_gone", { GROUP, T(group.alive, FACT_NO), M(release, 0) } },
		{ "group_inherit", { GROUP, G(INHERIT, 1) } },
		{ "group_inherit", { GROUP, A(INHERIT, 1) } },
		{ "", { GROUP, A(INHERIT, 1), G(INHERIT, 1) } },
		{ "", { GROUP, A(DISABLED, 1), G(INHERIT_STAT, 1) } },
		{ "", { GROUP, G(INHERIT, 1), C(pid, -1), C(cpu, 0), M(paranoid, 0),
			T(group.cpu, 0) } },
		{ "group_member", { GROUP, T(group.leads, FACT_NO) } },
		{ "group_member?", { GROUP, T(group.leads, FACT_UNKNOWN) } },
		{ "", { T(group.leads, FACT_NO), T(group.same_task, FACT_NO) } },
		{ "group_task", { GROUP, T(group.same_task, FACT_NO) } },
		{ "group_clock", { GROUP, G(USE_CLOCKID, 1) } },
		{ "group_clock", { GROUP, A(USE_CLOCKID, 1), A(CLOCKID, 1) } },
		{ "group_clock", { GROUP, A(USE_CLOCKID, 1), A(CLOCKID, 1), G(USE_CLOCKID, 1) } },
		{ "", { GROUP, A(USE_CLOCKID, 1), A(CLOCKID, 1), G(USE_CLOCKID, 1), G(CLOCKID, 1) } },
		{ "", { GROUP, A(CLOCKID, 1), A(CONTEXT_SWITCH, 1) } },
		{ "", { GROUP, A(USE_CLOCKID, 1), A(CLOCKID, 1), G(USE_CLOCKID, 1), G(CLOCKID, 1),
			A(SAMPLE_REGS_INTR, 1) } },
		{ "group_cpu", { GROUP, C(cpu, 0) } },
		{ "group_cpu", { GROUP, T(group.cpu, 0) } },
		{ "", { GROUP, T(group.cpu, 0), C(cpu, 0) } },
		{ "group_cpu?", { GROUP, T(group.cpu, RULE_CPU_UNKNOWN) } },
		{ "", { T(group.cpu, RULE_CPU_UNKNOWN) } },
		{ "group_pinned", { GROUP, A(PINNED, 1) } },
		{ "group_pinned", { GROUP, A(EXCLUSIVE, 1) } },
		{ "", { A(PINNED, 1), A(EXCLUSIVE, 1) } },
		{ "", { GROUP, A(EXCLUDE_USER, 1) } },
		{ "group_inherit? group_clock? group_cpu? group_size?", { GROUP, UNKNOWN_ATTR } },
		{ "", { UNKNOWN_ATTR } },
		/* its PMU */
		{ "pmu_own? group_pmu", { GROUP, A(TYPE, 4), G(TYPE, PMU_ODD) } },
		{ "pmu_own?", { GROUP, A(TYPE, 4), G(TYPE, 4) } },
		{ "pmu_own?", { GROUP, A(TYPE, 4) } },
		{ "", { GROUP, G(TYPE, 4) } },
		{ "pmu_own?", { GROUP, A(TYPE, 4), G(TYPE, 99) } },
		{ "pmu_own? group_pmu?", { GROUP, A(TYPE, 4), G(TYPE, 99),
			M(pmus_known, FACT_UNKNOWN) } },
		{ "group_inherit? pmu_own? group_clock? group_cpu? group_pmu? group_size?",
			{ GROUP, A(TYPE, 4), UNKNOWN_ATTR } },
		{ "pmu_own?", { A(TYPE, 4), G(TYPE, PMU_ODD) } },
		{ "no_pmu", { GROUP, A(TYPE, 99), G(TYPE, 4) } },
		/* output */
		{ "", { OUTPUT } },
		{ "output_ring", { OUTPUT, T(group.ring, FACT_NO) } },
		{ "output_ring?", { OUTPUT, T(group.ring, FACT_UNKNOWN) } },
		{ "", { GROUP, T(group.ring, FACT_NO) } },
		{ "output_cpu", { OUTPUT, C(cpu, 0) } },
		{ "output_cpu?", { OUTPUT, T(group.cpu, RULE_CPU_UNKNOWN) } },
		{ "output_task", { OUTPUT, T(group.same_task, FACT_NO) } },
		{ "output_task?", { OUTPUT, T(group.same_task, FACT_UNKNOWN) } },
		{ "", { OUTPUT, T(group.same_task, FACT_NO), C(cpu, 0), T(group.cpu, 0) } },
		{ "output_clock", { OUTPUT, G(USE_CLOCKID, 1) } },
		{ "output_backward", { OUTPUT, G(WRITE_BACKWARD, 1) } },
		{ "", { OUTPUT, G(WRITE_BACKWARD, 1), A(WRITE_BACKWARD, 1) } },
		{ "", { OUTPUT, G(NAMESPACES, 1) } },
		{ "output_cpu? output_clock? output_backward?", { OUTPUT, UNKNOWN_ATTR } },
		{ "", { C(flags, PERF_FLAG_FD_OUTPUT), T(group.ring, FACT_NO) } },
		{ "output_ring", { GROUP, C(flags, PERF_FLAG_FD_OUTPUT), T(group.ring, FACT_NO) } },
		{ "", { GROUP, C(flags, PERF_FLAG_FD_NO_GROUP), A(PINNED, 1) } },
		/* size: 16384 bytes, of 8 for the number and 8 for each */
		{ "", { GROUP, A(READ_FORMAT, 8), T(group.siblings, 2045) } },
		{ "group_size", { GROUP, A(READ_FORMAT, 8), T(group.siblings, 2046) } },
		{ "group_size", { GROUP, G(READ_FORMAT, 8), T(group.siblings, 2046) } },
		{ "", { GROUP, G(READ_FORMAT, 8), T(group.siblings, 2045) } },
		{ "", { A(READ_FORMAT, 8), T(group.siblings, 2046) } },
		{ "group_size", { GROUP, T(group.formats, 1U << 31), T(group.siblings, 681) } },
		{ "", { GROUP, T(group.formats, 1U << 31), T(group.siblings, 679) } },
		{ "", { GROUP, T(group.formats, 1U << 8), T(group.siblings, 2045) } },
		{ "group_size", { GROUP, T(group.formats, 1U << 8), T(group.siblings, 2046) } },
		{ "", { GROUP, T(group.formats, 1U), T(group.siblings, 9999) } },
	};

	(void)state;
	try_rows(rows, COUNT(rows));
}

/* AUX ------------------------------------------------------------------------------------ */

static void test_aux(void **state)
{
	const struct row rows[] = {
		{ "aux_output aux_leader", { A(AUX_OUTPUT, 1) } },
		{ "aux_leader", { A(AUX_SAMPLE_SIZE, 8) } },
		{ "aux_leader", { A(AUX_SAMPLE_SIZE, 8), UNKNOWN_ATTR } },
		{ "aux_leader", { A(AUX_PAUSE, 1) } },
		{ "aux_leader", { A(AUX_RESUME, 1) } },
		{ "aux_pause_resume aux_leader", { A(AUX_PAUSE, 1), A(AUX_RESUME, 1) } },
		{ "aux_start_paused", { A(AUX_START_PAUSED, 1) } },
		{ "pmu_own? aux_start_paused?", { A(TYPE, 4), A(AUX_START_PAUSED, 1) } },
		{ "pmu_own? aux_output? aux_leader", { A(TYPE, 4), A(AUX_OUTPUT, 1) } },
		{ "pmu_own? aux_output aux_leader", { A(TYPE, PMU_KPROBE), A(AUX_OUTPUT, 1),
			CAPS(SYS_ADMIN), A(CONFIG, 0) } },
		{ "no_pmu aux_leader", { A(TYPE, 99), A(AUX_OUTPUT, 1) } },
		/* software leads: it writes none; one that is not described may */
		{ "aux_leader", { GROUP, A(AUX_SAMPLE_SIZE, 8) } },
		{ "aux_leader?", { GROUP, A(AUX_SAMPLE_SIZE, 8), G(TYPE, PMU_ODD) } },
		{ "aux_leader?", { GROUP, A(AUX_SAMPLE_SIZE, 8), G(TYPE, 4) } },
		{ "aux_leader?", { GROUP, A(AUX_SAMPLE_SIZE, 8), G(TYPE, 99) } },
		{ "group_inherit? group_clock? group_cpu? group_size? aux_leader?",
			{ GROUP, A(AUX_SAMPLE_SIZE, 8), UNKNOWN_ATTR } },
	};

	(void)state;
	try_rows(rows, COUNT(rows));
}

/* What is said of rules ------------------------------------------------------------------- */

static void test_errors(void **state)
{
	struct sides s;
	struct buf text = { 0 };
	bool sure;

	(void)state;
	begin(&s);
	expect(&s.w, NULL, 0);
	assert_int_equal(rules_error(&s.w.v, RULE_WEIGHTS), EINVAL);
	assert_int_equal(rules_error(&s.w.v, RULE_UPROBE_OPEN), 0);
	/* an errno of 1 */
	s.w.facts.target.pmu_event = FACT_NO;
	s.w.facts.target.pmu_error = EPERM;
	expect(&s.w, "pmu_event", EPERM);
	assert_int_equal(rules_error(&s.w.v, RULE_PMU_EVENT), EPERM);
	assert_ptr_equal(rules_cause(&s.w.v, EPERM, &sure), &rule_descs[RULE_PMU_EVENT]);
	assert_true(sure);
	assert_null(rules_cause(&s.w.v, EINVAL, &sure));
	assert_false(sure);
	s.w.facts.machine.security = FACT_YES;
	rules_judge(&s.w.ask, &s.w.v);
	assert_ptr_equal(rules_cause(&s.w.v, EACCES, &sure), &rule_descs[RULE_SECURITY_OPEN]);
	assert_false(sure);
	assert_null(rules_explain(&s.w.v, 0));
	/* a rule behind the decisive one explains nothing, but by chance if nothing refuses */
	assert_null(rules_explain(&s.w.v, ENOMEM));
	s.w.facts.target.pmu_event = FACT_YES;
	rules_judge(&s.w.ask, &s.w.v);
	assert_ptr_equal(rules_explain(&s.w.v, ENOMEM), &rule_descs[RULE_NO_MEMORY]);
	rules_assumption_text(&text);
	assert_string_equal(buf_str(&text), ", if nothing changed since Linux 7.3");
	buf_free(&text);
}

static void test_places(void **state)
{
	const struct rule_desc *r = &rule_descs[RULE_INHERIT_THREAD];

	(void)state;
	assert_string_equal(r->fields, "inherit_thread,inherit");
	assert_int_equal(rules_place(r, "inherit_thread"), 0);
	assert_int_equal(rules_place(r, "inherit"), 1);
	assert_int_equal(rules_place(r, "inheri"), -1);
	assert_int_equal(rules_place(r, "inherit,"), -1);
	assert_int_equal(rules_place(r, "inherix"), -1);
	assert_int_equal(rules_place(NULL, "inherit"), -1);
	assert_int_equal(rules_place(&rule_descs[RULE_RESERVED_BITS], "__reserved_3"), 2);
}

static void test_unknown_bits(void **state)
{
	static const struct {
		const struct arch *arch;
		unsigned int index;
		uint64_t v, unknown;
	} rows[] = {
		{ &arch_x86_64, ATTR_SAMPLE_TYPE, 1ULL << 40 | 7, 1ULL << 40 },
		{ &arch_x86_64, ATTR_SAMPLE_TYPE, (1ULL << 25) - 1, 0 },
		{ &arch_x86_64, ATTR_SAMPLE_TYPE, 1ULL << 63, 1ULL << 63 },
		{ &arch_x86_64, ATTR_READ_FORMAT, UINT64_MAX, UINT64_MAX << 5 },
		{ &arch_x86_64, ATTR_CONFIG, UINT64_MAX, 0 },
		{ &arch_x86_64, ATTR_SAMPLE_REGS_USER, 1, 0 },
		{ &arch_x86_64, ATTR_SAMPLE_REGS_USER, 1 | 1 << PERF_REG_X86_DS,
		  1 << PERF_REG_X86_DS },
		{ &arch_x86_64, ATTR_SAMPLE_REGS_USER, 1ULL << 30, 1ULL << 30 },
		{ &arch_unknown, ATTR_SAMPLE_REGS_USER, 1ULL << 30, 0 },
		{ NULL, ATTR_SAMPLE_REGS_USER, 1ULL << 30, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(rules_unknown_bits(rows[i].arch,
						    &layout_perf_event_attr.fields[rows[i].index],
						    rows[i].v), rows[i].unknown);
}

static void test_read_size(void **state)
{
	static const uint8_t sizes[][2] = { /* alone, in a group of three */
		{ 8, 32 }, { 16, 40 }, { 16, 40 }, { 24, 48 }, { 16, 56 }, { 24, 64 }, { 24, 64 },
		{ 32, 72 },
	};

	(void)state;
	for (uint64_t i = 0; i < COUNT(sizes); i++) {
		assert_int_equal(rules_read_size(i, 3), sizes[i][0]);
		assert_int_equal(rules_read_size(i | PERF_FORMAT_GROUP, 3), sizes[i][1]);
		assert_int_equal(rules_read_size(i | PERF_FORMAT_LOST, 3), sizes[i][0] + 8);
		assert_int_equal(rules_read_size(i | PERF_FORMAT_LOST | PERF_FORMAT_GROUP, 3),
				 sizes[i][1] + 24);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_aux),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_unknown_bits),
		cmocka_unit_test(test_read_size),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
