// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The rules over machines that are made up: other releases, levels of paranoia,
 * groups of every size.  What is expected is written out here.
 */
#include "rules_world.h"

static void test_description(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	expect(&w, NULL, 0);
	for (size_t i = 0; i < RULE_COUNT; i++) {
		assert_int_equal(rule_descs[i].id, i);
		assert_true(rule_descs[i].since > 0);
		assert_true(rule_descs[i].by != 0);
		assert_true(!rule_descs[i].until || rule_descs[i].until > rule_descs[i].since);
		if (rule_descs[i].error)
			assert_non_null(xlat_name(&xlat_perf_open_errno,
						  (uint64_t)rule_descs[i].error));
	}
}

/* Releases ------------------------------------------------------------------------ */

static void test_sizes(void **state)
{
	static const struct {
		uint32_t release, size;
	} sizes[] = {
		{ KVER(2, 6, 32), 64 }, { KVER(2, 6, 33), 72 }, { KVER(3, 4, 0), 80 },
		{ KVER(3, 7, 0), 96 }, { KVER(3, 19, 0), 104 }, { KVER(4, 1, 0), 112 },
		{ KVER(5, 5, 0), 120 }, { KVER(5, 13, 0), 128 }, { KVER(6, 3, 0), 136 },
		{ KVER(6, 18, 44), 136 }, { KVER(6, 19, 0), 144 }, { 0, 144 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++)
		assert_int_equal(rules_attr_size(sizes[i].release), sizes[i].size);
}

/* The same bytes on an older and on a newer kernel. */
static void test_releases(void **state)
{
	static const struct {
		unsigned int field;
		uint64_t v;
		uint32_t old, new;
		const char *rule;
		int error;
	} cases[] = {
		{ ATTR_DEFER_CALLCHAIN, 1, KVER(6, 18, 0), KVER(6, 19, 0), "reserved_bits",
		  EINVAL },
		{ ATTR_SIGTRAP, 1, KVER(5, 12, 0), 0, "reserved_bits", EINVAL },
		{ ATTR_AUX_START_PAUSED, 1, KVER(6, 12, 0), 0, "reserved_bits", EINVAL },
		{ ATTR_AUX_SAMPLE_SIZE, 1, KVER(5, 4, 0), 0, "size_tail", E2BIG },
		{ ATTR_READ_FORMAT, PERF_FORMAT_LOST, KVER(5, 19, 0), KVER(6, 0, 0),
		  "read_format_bits", EINVAL },
		{ ATTR_READ_FORMAT, PERF_FORMAT_LOST, KVER(5, 10, 203), KVER(5, 10, 204),
		  "read_format_bits", EINVAL },
		{ ATTR_SAMPLE_TYPE, PERF_SAMPLE_WEIGHT_STRUCT, KVER(5, 11, 0), KVER(5, 12, 0),
		  "sample_type_bits", EINVAL },
		{ ATTR_CONFIG, PERF_COUNT_SW_CGROUP_SWITCHES, KVER(5, 12, 0), KVER(5, 13, 0),
		  "software_config", ENOENT },
		{ ATTR_CONFIG3, 1, KVER(6, 2, 0), KVER(6, 3, 0), "size_tail", E2BIG },
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make(&w);
		put(&w, cases[i].field, cases[i].v);
		w.facts.machine.release = cases[i].old;
		expect(&w, cases[i].rule, cases[i].error);
		w.facts.machine.release = cases[i].new;
		if (cases[i].new)
			expect(&w, NULL, 0);
	}
	make(&w);
	put(&w, ATTR_INHERIT, 1);
	put(&w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_READ | PERF_SAMPLE_TID);
	expect(&w, NULL, 0);
	w.facts.machine.release = KVER(6, 11, 0);
	expect(&w, "inherit_read", EINVAL);
	/* of 6.12, an update accepts it */
	w.facts.machine.release = KVER(6, 12, 0);
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_INHERIT_READ], RULE_UNKNOWN);
	w.facts.machine.release = KVER(6, 12, 117);
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_INHERIT_READ], RULE_PASSES);
	put(&w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_READ);
	expect(&w, "inherit_read", EINVAL);
	put(&w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_READ | PERF_SAMPLE_TID);
	w.facts.machine.release = KVER(4, 12, 0);
	expect(&w, NULL, 0);
	/* padding that became a member passed without effect before 5.4 */
	make(&w);
	put(&w, ATTR_SAMPLE_MAX_STACK, 8);
	w.facts.machine.release = KVER(4, 4, 0);
	expect(&w, NULL, 0);
	make(&w);
	put(&w, ATTR_RESERVED_2, 8);
	w.facts.machine.release = KVER(5, 0, 0);
	expect(&w, NULL, 0);
	w.facts.machine.release = KVER(5, 4, 0);
	expect(&w, "reserved_bits", EINVAL);
	/* a group that is inherited could not be read before 4.13, which perf falls back for */
	make(&w);
	put(&w, ATTR_INHERIT, 1);
	put(&w, ATTR_READ_FORMAT, PERF_FORMAT_GROUP);
	expect(&w, NULL, 0);
	w.facts.machine.release = KVER(4, 12, 0);
	expect(&w, "inherit_group", EINVAL);
	w.facts.machine.release = KVER(4, 13, 0);
	expect(&w, NULL, 0);
	/* FD_CLOEXEC came with 3.14 */
	make(&w);
	w.ask.flags = PERF_FLAG_FD_CLOEXEC;
	expect(&w, NULL, 0);
	w.facts.machine.release = KVER(3, 13, 0);
	w.ask.len = 96;
	put(&w, ATTR_SIZE, 96);
	expect(&w, "flags_unknown", EINVAL);
}

/* Checks that updates brought to several series: some are known, of others none. */
static void test_updates(void **state)
{
	static const struct {
		unsigned int member;
		uint64_t value;
		uint32_t without, with;
		const char *rule;
		int error;
	} rows[] = {
		{ ATTR_TEXT_POKE, 1, KVER(6, 12, 112), KVER(6, 12, 113),
		  "text_poke_privilege", EACCES },
		{ ATTR_TEXT_POKE, 1, KVER(6, 1, 190), KVER(6, 1, 191),
		  "text_poke_privilege", EACCES },
		{ ATTR_TEXT_POKE, 1, KVER(7, 2, 9), KVER(7, 2, 10),
		  "text_poke_privilege", EACCES },
		{ ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN, KVER(7, 2, 9), KVER(7, 3, 0),
		  "callchain_privilege", EACCES },
		{ ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN, KVER(6, 12, 112), KVER(6, 12, 113),
		  "callchain_privilege", EACCES },
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		make(&w);
		put(&w, rows[i].member, rows[i].value);
		w.facts.machine.release = rows[i].without;
		expect(&w, NULL, 0);
		assert_null(rules_explain(&w.v, rows[i].error));
		w.facts.machine.release = rows[i].with;
		expect(&w, rows[i].rule, rows[i].error);
		w.facts.machine.release = KVER(6, 18, 0);
		expect(&w, NULL, 0);
		assert_string_equal(rules_explain(&w.v, rows[i].error)->name, rows[i].rule);
		w.facts.machine.release = rows[i].with;
		w.facts.machine.caps = CAP(ABI_CAP_PERFMON);
		expect(&w, NULL, 0);
	}
	make(&w);
	w.ask.group_fd = 3;
	w.facts.target.group.alive = FACT_NO;
	expect(&w, "group_gone", ENODEV);
	w.facts.machine.release = KVER(6, 12, 108);
	expect(&w, "group_gone", ENODEV);
	w.facts.machine.release = KVER(6, 12, 107);
	expect(&w, NULL, 0);
}

/* Two checks that are wrong: whose error it is, an update changed. */
static void test_update_of_order(void **state)
{
	enum { HIDDEN = RULE_PASSES };
	static const struct {
		uint32_t release;
		int says;
	} rows[] = {
		{ KVER(6, 1, 170), HIDDEN }, { KVER(6, 12, 30), HIDDEN },
		{ KVER(6, 12, 31), RULE_REFUSES }, { KVER(6, 13, 0), RULE_UNKNOWN },
		{ KVER(6, 14, 12), RULE_UNKNOWN }, { KVER(6, 15, 0), RULE_REFUSES },
		{ 0, RULE_REFUSES },
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool first = rows[i].says == RULE_REFUSES;

		make(&w);
		add_pmu(&w, 9, "msr");
		put(&w, ATTR_TYPE, 9);
		put(&w, ATTR_SAMPLE_REGS_INTR, 1ULL << 40);
		w.facts.machine.release = rows[i].release;
		expect(&w, first ? "extended_regs" : "no_exclude", first ? EOPNOTSUPP : EINVAL);
		assert_int_equal(w.v.says[RULE_EXTENDED_REGS], rows[i].says);
		/* alone, it is any kernel's */
		put(&w, ATTR_EXCLUDE_KERNEL, 0);
		put(&w, ATTR_EXCLUDE_HV, 0);
		w.facts.machine.paranoid = 1;
		expect(&w, "extended_regs", EOPNOTSUPP);
	}
}

/* A kernel that is newer than the tables may know what has no name: the refusal is marked. */
static void test_newer(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	w.facts.machine.release = KVER(9, 0, 0);
	put(&w, ATTR_SAMPLE_TYPE, 1ULL << 40);
	expect(&w, "sample_type_bits", EINVAL);
	assert_int_equal(w.v.says[RULE_SAMPLE_TYPE_BITS], RULE_REFUSES);
	assert_true(rules_assumed(&w.v));
	w.facts.machine.release = xlat_release + 4; /* an update */
	expect(&w, "sample_type_bits", EINVAL);
	assert_false(rules_assumed(&w.v));
	/* other rules hold on any kernel */
	w.facts.machine.release = KVER(9, 0, 0);
	put(&w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
	expect(&w, "weights", EINVAL);
	assert_false(rules_assumed(&w.v));
}

/* Privilege ----------------------------------------------------------------------- */

enum { SELF, SELF_KERNEL, WIDE, OTHERS, RAW, RAW_SYSCALL, PHYS, BRANCHES, NAMESPACES,
       KERNEL_BP, UPROBE, ACTIONS };

static void act(struct world *w, int action)
{
	make(w);
	switch (action) {
	case SELF_KERNEL:
		put(w, ATTR_EXCLUDE_KERNEL, 0);
		break;
	case WIDE:
		w->ask.pid = -1;
		w->ask.cpu = 0;
		break;
	case OTHERS:
		w->facts.target.task.readable = w->facts.target.task.attachable = FACT_NO;
		break;
	case RAW_SYSCALL:
		w->facts.target.tracepoint_name = "raw_syscalls:sys_enter";
		/* fall through */
	case RAW:
		put(w, ATTR_TYPE, PERF_TYPE_TRACEPOINT);
		put(w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_RAW);
		break;
	case PHYS:
		put(w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_PHYS_ADDR);
		break;
	case BRANCHES:
		put(w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_STACK);
		put(w, ATTR_BRANCH_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_ANY);
		put(w, ATTR_EXCLUDE_HV, 0);
		break;
	case NAMESPACES:
		put(w, ATTR_NAMESPACES, 1);
		break;
	case KERNEL_BP:
		put(w, ATTR_TYPE, PERF_TYPE_BREAKPOINT);
		put(w, ATTR_EXCLUDE_KERNEL, 0);
		put(w, ATTR_BP_TYPE, HW_BREAKPOINT_W);
		put(w, ATTR_BP_ADDR, 0xffff888000000000);
		put(w, ATTR_BP_LEN, 4);
		break;
	case UPROBE:
		put(w, ATTR_TYPE, 8);
		put(w, ATTR_UPROBE_PATH, 1);
		w->facts.target.path = (struct rule_path){
			.readable = FACT_YES, .regular = FACT_YES, .pages = FACT_YES,
		};
		break;
	}
}

static void test_privilege(void **state)
{
	enum { OK, A = EACCES, P = EPERM, N = EOPNOTSUPP };
	/* perf_event_paranoid -1, 0, 1, 2; then at 2 CAP_PERFMON, CAP_SYS_ADMIN */
	static const int want[ACTIONS][6] = {
		[SELF] = { OK, OK, OK, OK, OK, OK },
		[SELF_KERNEL] = { OK, OK, OK, A, OK, OK },
		[WIDE] = { OK, OK, A, A, OK, OK },
		[OTHERS] = { A, A, A, A, OK, OK },
		[RAW] = { OK, P, P, P, OK, OK },
		[RAW_SYSCALL] = { OK, OK, OK, OK, OK, OK },
		[PHYS] = { OK, OK, OK, A, OK, OK },
		[BRANCHES] = { N, N, N, A, N, N },
		[NAMESPACES] = { A, A, A, A, OK, OK },
		[KERNEL_BP] = { P, P, P, A, P, OK },
		[UPROBE] = { A, A, A, A, A, OK },
	};
	struct world w;

	(void)state;
	for (int action = 0; action < ACTIONS; action++) {
		for (int i = 0; i < 6; i++) {
			act(&w, action);
			w.facts.machine.paranoid = i < 4 ? i - 1 : 2;
			w.facts.machine.caps = i == 4 ? CAP(ABI_CAP_PERFMON) :
					       i == 5 ? CAP(ABI_CAP_SYS_ADMIN) : 0;
			rules_judge(&w.ask, &w.v);
			if (w.v.error != want[action][i])
				fail_msg("action %d, column %d: %d, not %d (rule %s)", action, i,
					 w.v.error, want[action][i],
					 w.v.rule ? w.v.rule->name : "none");
		}
	}
}

/* What some distributions have made of 3. */
static void test_paranoid_all(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	w.facts.machine.paranoid = 3;
	expect(&w, NULL, 0);
	assert_ptr_equal(rules_explain(&w.v, EACCES), &rule_descs[RULE_PARANOID_ALL]);
	/* one open tells */
	w.facts.machine.denies_all = FACT_YES;
	expect(&w, "paranoid_all", EACCES);
	w.facts.machine.denies_all = FACT_NO;
	expect(&w, NULL, 0);
	assert_null(rules_explain(&w.v, EACCES));
	w.facts.machine.denies_all = FACT_UNKNOWN;
	put(&w, ATTR_EXCLUDE_KERNEL, 0);
	expect(&w, "kernel_privilege", EACCES);
	w.facts.machine.caps = CAP(ABI_CAP_PERFMON);
	expect(&w, NULL, 0);
	assert_null(rules_explain(&w.v, EACCES));
}

/* A signal needs more: CAP_KILL, too, or the right to attach. */
static void test_sigtrap_privilege(void **state)
{
	struct world w;

	(void)state;
	act(&w, OTHERS);
	put(&w, ATTR_SIGTRAP, 1);
	put(&w, ATTR_REMOVE_ON_EXEC, 1);
	w.facts.machine.caps = CAP(ABI_CAP_PERFMON);
	expect(&w, "task_privilege", EACCES);
	w.facts.target.task.killable = FACT_YES;
	expect(&w, NULL, 0);
	w.facts.machine.caps = 0;
	w.facts.target.task.readable = FACT_YES;
	expect(&w, "task_privilege", EACCES);
	w.facts.target.task.attachable = FACT_UNKNOWN;
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_TASK_PRIVILEGE], RULE_UNKNOWN);
	assert_ptr_equal(rules_explain(&w.v, EACCES), &rule_descs[RULE_TASK_PRIVILEGE]);
}

/* Order ---------------------------------------------------------------------------- */

static void test_order(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	w.ask.len = 0;
	w.ask.attr = NULL;
	w.ask.flags = 16;
	expect(&w, "flags_unknown", EINVAL);
	w.ask.flags = 0;
	expect(&w, "attr_head_fault", EFAULT);
	make(&w);
	w.ask.len = 100;
	expect(&w, "attr_fault", EFAULT);
	put(&w, ATTR_SIZE, 5000);
	expect(&w, "size_range", E2BIG);
	/* each mends what the one before was refused for */
	make(&w);
	put(&w, ATTR_SAMPLE_TYPE, 1ULL << 25 | PERF_SAMPLE_CALLCHAIN);
	put(&w, ATTR_EXCLUDE_KERNEL, 0);
	put(&w, ATTR_TYPE, 99);
	put(&w, ATTR_SAMPLE_MAX_STACK, 128);
	w.ask.cpu = 99;
	w.ask.group_fd = 5;
	w.facts.target.group.event = FACT_NO;
	w.facts.target.descriptor = FACT_NO;
	w.facts.target.task.exists = FACT_NO;
	w.facts.target.task.readable = FACT_NO;
	expect(&w, "sample_type_bits", EINVAL);
	put(&w, ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN);
	expect(&w, "kernel_privilege", EACCES);
	put(&w, ATTR_EXCLUDE_KERNEL, 1);
	expect(&w, "no_descriptor", EMFILE);
	w.facts.target.descriptor = FACT_YES;
	expect(&w, "group_not_event", EBADF);
	w.ask.group_fd = -1;
	expect(&w, "no_task", ESRCH);
	w.facts.target.task.exists = FACT_YES;
	expect(&w, "cpu_range", EINVAL);
	w.ask.cpu = 1;
	expect(&w, "no_pmu", ENOENT);
	put(&w, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	expect(&w, "max_stack", EOVERFLOW);
	put(&w, ATTR_SAMPLE_MAX_STACK, 127);
	expect(&w, "task_privilege", EACCES);
	w.facts.target.task.readable = FACT_YES;
	expect(&w, NULL, 0);
}

/* Groups --------------------------------------------------------------------------- */

/* The most members of a group, by read_format. */
static void test_group_size(void **state)
{
	static const struct {
		uint64_t format;
		size_t most;
	} sizes[] = { { 0x8, 2047 }, { 0xb, 2045 }, { 0xc, 1023 }, { 0x1c, 682 }, { 0x1f, 681 } };
	struct world w;

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		make(&w);
		w.ask.group_fd = 3;
		put(&w, ATTR_READ_FORMAT, sizes[i].format);
		w.facts.target.group.siblings = sizes[i].most - 2;
		expect(&w, NULL, 0);
		w.facts.target.group.siblings++;
		expect(&w, "group_size", E2BIG);
		/* the limit is that of every member */
		put(&w, ATTR_READ_FORMAT, 0);
		expect(&w, NULL, 0);
		w.facts.target.group.formats = 1U << sizes[i].format;
		expect(&w, "group_size", E2BIG);
	}
}

static void test_unknown_group(void **state)
{
	struct world w;

	(void)state;
	make(&w);
	w.ask.group_fd = 3;
	w.facts.target.group = (struct rule_group){ .event = FACT_YES };
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_GROUP_TASK], RULE_UNKNOWN);
	assert_int_equal(w.v.says[RULE_GROUP_SIZE], RULE_UNKNOWN);
	assert_ptr_equal(rules_explain(&w.v, ENODEV), &rule_descs[RULE_GROUP_GONE]);
	assert_ptr_equal(rules_explain(&w.v, E2BIG), &rule_descs[RULE_GROUP_SIZE]);
	/* what no rule knows beforehand */
	assert_ptr_equal(rules_explain(&w.v, ENFILE), &rule_descs[RULE_NO_FILE]);
	assert_null(rules_explain(&w.v, ENOSYS));
	/* with FD_NO_GROUP there is no group */
	w.ask.flags = PERF_FLAG_FD_NO_GROUP;
	put(&w, ATTR_PINNED, 1);
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_GROUP_TASK], RULE_PASSES);
	w.ask.flags = 0;
	expect(&w, "group_pinned", EINVAL);
}

/* Bytes of any kind ----------------------------------------------------------------- */

static void test_hostile(void **state)
{
	struct world w;
	uint64_t seed = 88172645463325252ULL;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint8_t *exact;

		make(&w);
		for (size_t k = 0; k < 144; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			if (seed % 3 == 0)
				w.attr[k] = (uint8_t)(seed >> 32);
		}
		if (i % 2)
			put(&w, ATTR_SIZE, (seed >> 8) % 200);
		w.ask.len = (seed >> 16) % 200;
		w.ask.group_fd = (int32_t)(seed >> 40) % 3 - 1;
		w.ask.flags = seed >> 60;
		/* no more than its bytes, so that reading behind them is noticed */
		exact = malloc(w.ask.len + 1);
		assert_non_null(exact);
		memcpy(exact, w.attr, w.ask.len);
		w.ask.attr = exact;
		w.facts.target.group.attr = exact;
		w.facts.target.group.len = w.ask.len;
		rules_judge(&w.ask, &w.v);
		assert_int_equal(!w.v.rule, !w.v.error);
		free(exact);
	}
}

/* Numbers that could not be read decide nothing, whatever stands in their place. */
static void test_unread(void **state)
{
	static const struct {
		enum rule_id rule;
		unsigned int unread, index;
		uint64_t value, sample_type;
	} cases[] = {
		{ RULE_KERNEL_PRIVILEGE, UNREAD_PARANOID, ATTR_EXCLUDE_KERNEL, 0, 0 },
		{ RULE_FREQ_LIMIT, UNREAD_SAMPLE_RATE, ATTR_SAMPLE_FREQ, 100001, 0 },
		{ RULE_MAX_STACK, UNREAD_STACK, ATTR_SAMPLE_MAX_STACK, 128, PERF_SAMPLE_CALLCHAIN },
		{ RULE_CPU_RANGE, UNREAD_CPUS, ATTR_FREQ, 1, 0 },
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make(&w);
		put(&w, ATTR_FREQ, 1);
		put(&w, ATTR_SAMPLE_TYPE, cases[i].sample_type);
		put(&w, ATTR_EXCLUDE_CALLCHAIN_KERNEL, 1);
		put(&w, cases[i].index, cases[i].value);
		w.ask.cpu = cases[i].rule == RULE_CPU_RANGE ? 2 : -1;
		expect(&w, rule_descs[cases[i].rule].name, rule_descs[cases[i].rule].error);
		w.facts.machine.unread = cases[i].unread;
		rules_judge(&w.ask, &w.v);
		assert_int_equal(w.v.says[cases[i].rule], RULE_UNKNOWN);
		/* it would be the first */
		assert_ptr_equal(rules_explain(&w.v, rule_descs[cases[i].rule].error),
				 i ? &rule_descs[cases[i].rule] : &rule_descs[RULE_PARANOID_ALL]);
	}
	w.facts.machine.unread = UNREAD_PARANOID;
	put(&w, ATTR_EXCLUDE_KERNEL, 0);
	w.ask.cpu = -1;
	w.facts.machine.caps_unread = CAP(ABI_CAP_PERFMON);
	rules_judge(&w.ask, &w.v);
	assert_int_equal(w.v.says[RULE_KERNEL_PRIVILEGE], RULE_UNKNOWN);
	/* not one of the two */
	w.facts.machine.caps = CAP(ABI_CAP_SYS_ADMIN);
	expect(&w, NULL, 0);
	assert_int_equal(w.v.says[RULE_KERNEL_PRIVILEGE], RULE_PASSES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_description), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_releases), cmocka_unit_test(test_newer),
		cmocka_unit_test(test_updates),
		cmocka_unit_test(test_update_of_order),
		cmocka_unit_test(test_privilege), cmocka_unit_test(test_paranoid_all),
		cmocka_unit_test(test_sigtrap_privilege),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_group_size), cmocka_unit_test(test_unknown_group),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_unread),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
