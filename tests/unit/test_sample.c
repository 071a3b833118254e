// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Samples made by hand against what they mean.  What is expected is written out here, never
 * taken from the tables.
 */
#include "record_made.h"

/* Everything that a sample can hold. */
static const struct record_format everything = {
	.sample_type = 0x1ffffff & ~0x4000, .read_format = 0x1f,
	.branch_sample_type = 0xa0008, .sample_regs_user = 0x10101,
	.sample_regs_intr = 0x1000100, .arch = &arch_x86_64,
};

static void add_counts(struct rec *r)
{
	add(r, 8, 2), add(r, 8, 20), add(r, 8, 20);
	add(r, 8, 1), add(r, 8, 77), add(r, 8, 0);
	add(r, 8, 2), add(r, 8, 79), add(r, 8, 1);
}

static void add_callchain(struct rec *r)
{
	add(r, 8, 6);
	add(r, 8, (uint64_t)-128), add(r, 8, 0x1234);
	add(r, 8, (uint64_t)-640), add(r, 8, 0x1234);
	add(r, 8, (uint64_t)-4000), add(r, 8, 0x5678);
}

static void add_branches(struct rec *r)
{
	add(r, 8, 1), add(r, 8, (uint64_t)-1);
	add(r, 8, 0x1234), add(r, 8, 0x20);
	add(r, 8, bit_field(0, 1, 1) | bit_field(4, 16, 7) | bit_field(20, 4, 15) |
	    bit_field(24, 2, 2) | bit_field(26, 4, 1) | bit_field(30, 3, 1));
	add(r, 8, 0x33);
}

static struct rec whole_sample(void)
{
	struct rec r = begin(9, 0x4002);

	add(&r, 8, 77), add(&r, 8, 0x1234), add(&r, 4, 11), add(&r, 4, 12);
	add(&r, 8, 1000), add(&r, 8, 0), add(&r, 8, 77), add(&r, 8, 78);
	add(&r, 4, 1), add(&r, 4, 0), add(&r, 8, 4000);
	add_counts(&r);
	add_callchain(&r);
	add(&r, 4, 12), add(&r, 2, 1), add_bytes(&r, "\0\0\0\0\0\0\0\0\0", 10);
	add_branches(&r);
	add(&r, 8, 2), add(&r, 8, 0xa), add(&r, 8, 0xb), add(&r, 8, 0xc);
	add(&r, 8, 8), add_bytes(&r, "stackold", 8), add(&r, 8, 5);
	add(&r, 8, 3ULL << 48 | 9);
	add(&r, 8, 0x1e05080021), add(&r, 8, 0x7000000012);
	add(&r, 8, 1), add(&r, 8, 0xd), add(&r, 8, 0xe);
	add(&r, 8, 0xf000), add(&r, 8, 6), add(&r, 8, 4096), add(&r, 8, 8192);
	add(&r, 8, 8), add_bytes(&r, "auxiliar", 8);
	return r;
}

#define SAMPLE_HEAD(size) "{type=PERF_RECORD_SAMPLE, misc=PERF_RECORD_MISC_USER|" \
			  "PERF_RECORD_MISC_EXACT_IP, size=" size ", "

static void test_sample_whole(void **state)
{
	struct rec r = whole_sample();

	(void)state;
	expect(&r, &everything, SAMPLE_HEAD("424")
	       "identifier=77 /* cycles */, ip=0x1234 /* main of 11 in mode 2 */, "
	       "pid=11, tid=12, time=1000, addr=NULL, id=77, stream_id=78, cpu=1, "
	       "period=4000, read={nr=2, time_enabled=20, time_running=20, values=["
	       "{value=1, id=77 /* cycles */, lost=0}, {value=2, id=79, lost=1}]}, "
	       "callchain=[PERF_CONTEXT_KERNEL, 0x1234 /* main of 11 in mode 1 */, "
	       "PERF_CONTEXT_USER_DEFERRED, 0x1234 /* cookie */, "
	       "0xfffffffffffff060 /* PERF_CONTEXT_??? */, "
	       "0x5678 /* main of 11 in mode 0 */], raw={common_type=1}, "
	       "branch_stack={nr=1, hw_idx=-1, entries=[{"
	       "from=0x1234 /* main of 11 in mode 0 */, to=0x20, mispred=1, cycles=7, "
	       "type=PERF_BR_EXTEND_ABI, spec=PERF_BR_NON_SPEC_CORRECT_PATH, "
	       "new_type=PERF_BR_NEW_FAULT_DATA, priv=PERF_BR_PRIV_USER}], "
	       "counters=[0x33]}, regs_user={abi=PERF_SAMPLE_REGS_ABI_64, AX=0xa, "
	       "IP=0xb, R8=0xc}, stack_user={size=8, data=\"stack\", dyn_size=5}, "
	       "weight={var1_dw=9, var3_w=3}, data_src={mem_op=PERF_MEM_OP_NA, "
	       "mem_lvl=PERF_MEM_LVL_NA, mem_snoop=PERF_MEM_SNOOP_NA, "
	       "mem_lock=PERF_MEM_LOCK_NA, mem_dtlb=PERF_MEM_TLB_NA, "
	       "mem_lvl_num=PERF_MEM_LVLNUM_NA}, "
	       "transaction={flags=PERF_TXN_TRANSACTION|PERF_TXN_RETRY, "
	       "abort_code=0x70}, regs_intr={abi=PERF_SAMPLE_REGS_ABI_32, IP=0xd, "
	       "bit24=0xe}, phys_addr=0xf000, cgroup=6, data_page_size=4096, "
	       "code_page_size=8192, aux={size=8, data=\"auxiliar\"}}");
}

/* Nothing but the sizes of what varies, all zero. */
static void test_sample_empty(void **state)
{
	struct record_format f = everything;
	struct rec r = begin(9, 0);

	(void)state;
	f.sample_type = 0x103c20 | 0x40000;
	add(&r, 8, 0);			/* callchain */
	add(&r, 4, 4), add(&r, 4, 0);	/* raw */
	add(&r, 8, 0);			/* branches without hw_idx */
	add(&r, 8, 0), add(&r, 8, 0), add(&r, 8, 0), add(&r, 8, 0);
	expect(&r, &f, "{type=PERF_RECORD_SAMPLE, "
	       "misc=PERF_RECORD_MISC_CPUMODE_UNKNOWN, size=64, callchain=[], "
	       "raw={size=4, data=\"\\0\\0\\0\\0\"}, branch_stack={nr=0, entries=[]}, "
	       "regs_user={abi=PERF_SAMPLE_REGS_ABI_NONE}, stack_user={size=0}, "
	       "regs_intr={abi=PERF_SAMPLE_REGS_ABI_NONE}, aux={size=0, data=\"\"}}");
}

/* What a user stack holds in place of a return address is no marker. */
static void test_sample_callchain(void **state)
{
	const struct record_format f = { .sample_type = 0x20 };
	struct rec r = begin(9, 2);

	(void)state;
	add(&r, 8, 4), add(&r, 8, (uint64_t)-512), add(&r, 8, 0x10);
	add(&r, 8, UINT64_MAX), add(&r, 8, (uint64_t)-4064);
	expect(&r, &f, "{type=PERF_RECORD_SAMPLE, misc=PERF_RECORD_MISC_USER, size=48, "
		       "callchain=[PERF_CONTEXT_USER, 0x10, 0xffffffffffffffff, "
		       "0xfffffffffffff020 /* PERF_CONTEXT_??? */]}");
}

/* The word of PERF_SAMPLE_DATA_SRC, as Linux 7.0 fills it, and with what no release names. */
static void test_sample_data_src(void **state)
{
	static const struct {
		uint64_t word;
		const char *text;
	} rows[] = {
		{ 7ULL << 33 | 0x2ULL << 19 | 0xa,
		  "mem_op=PERF_MEM_OP_LOAD|PERF_MEM_OP_PFETCH, "
		  "mem_snoop=PERF_MEM_SNOOP_NONE, mem_lvl_num=PERF_MEM_LVLNUM_L0" },
		{ 2ULL << 46 | 3ULL << 33 | 0x42,
		  "mem_op=PERF_MEM_OP_LOAD, mem_lvl=PERF_MEM_LVL_HIT, "
		  "mem_lvl_num=PERF_MEM_LVLNUM_L3, mem_region=PERF_MEM_REGION_L_SHARE" },
		{ 0xbULL << 46 | 1ULL << 43 | 0xdULL << 33 | 4,
		  "mem_op=PERF_MEM_OP_STORE, mem_lvl_num=PERF_MEM_LVLNUM_RAM, "
		  "mem_hops=PERF_MEM_HOPS_0, mem_region=PERF_MEM_REGION_MEM3" },
		{ 1ULL << 51 | 0x1fULL << 46 | 2,
		  "mem_op=PERF_MEM_OP_LOAD, mem_region=0x1f /* PERF_MEM_REGION_??? */, "
		  "mem_rsvd=0x1" },
	};
	const struct record_format f = { .sample_type = 0x8000 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rec r = begin(9, 2);
		char text[512];

		add(&r, 8, rows[i].word);
		snprintf(text, sizeof(text), "{type=PERF_RECORD_SAMPLE, "
			 "misc=PERF_RECORD_MISC_USER, size=16, data_src={%s}}", rows[i].text);
		expect(&r, &f, text);
	}
}

/* Whether hw_idx and counters are there shows only in what follows. */
static void test_sample_branches(void **state)
{
	struct record_format f = {
		.sample_type = 0x4800, .branch_sample_type = 0xa0008,
	};
	struct rec r = begin(9, 2);

	(void)state;
	add(&r, 8, 0), add(&r, 8, 5), add(&r, 8, 9);
	expect(&r, &f, "{type=PERF_RECORD_SAMPLE, misc=PERF_RECORD_MISC_USER, size=32, "
		       "branch_stack={nr=0, hw_idx=5, entries=[]}, weight=9}");
	r = begin(9, 2);
	add(&r, 8, 0), add(&r, 8, 9);
	expect(&r, &f, "{type=PERF_RECORD_SAMPLE, misc=PERF_RECORD_MISC_USER, size=24, "
		       "branch_stack={nr=0, entries=[]}, weight=9}");
	r = begin(9, 2);
	add(&r, 8, 1), add(&r, 8, 5);
	add(&r, 8, 0x10), add(&r, 8, 0x20), add(&r, 8, bit_field(1, 1, 1) | bit_field(33, 31, 0x80));
	add(&r, 8, 9);
	expect(&r, &f, "{type=PERF_RECORD_SAMPLE, misc=PERF_RECORD_MISC_USER, size=56, "
		       "branch_stack={nr=1, hw_idx=5, entries=[{from=0x10, to=0x20, "
		       "predicted=1, reserved=0x80}]}, weight=9}");
}

static void test_identify(void **state)
{
	struct rec r = whole_sample();
	struct record_id id;
	struct record_format f = everything;

	(void)state;
	done(&r);
	assert_true(record_identify(r.bytes, r.len, &everything, &id));
	assert_true(id.has_id && id.has_time && id.has_cpu && id.has_tid);
	assert_true(id.id == 77 && id.time == 1000 && id.cpu == 1);
	assert_true(id.pid == 11 && id.tid == 12 && id.type == 9);
	assert_true(id.misc == 0x4002 && id.size == r.len);
	assert_false(record_identify(r.bytes, r.len - 1, &everything, &id));
	assert_false(record_identify(r.bytes, 7, &everything, &id));
	f.sample_type = 0x20;
	assert_true(record_identify(r.bytes, r.len, &f, &id));
	assert_false(id.has_id || id.has_time || id.has_cpu || id.has_tid);
	r = begin(14, 0);
	add_ids(&r);
	done(&r);
	assert_true(record_identify(r.bytes, r.len, &all_ids, &id));
	assert_true(id.has_id && id.has_time && id.has_cpu && id.has_tid);
	assert_true(id.id == 77 && id.time == 1000 && id.cpu == 1 && id.tid == 12);
	assert_true(record_identify(r.bytes, r.len, &plain, &id));
	assert_false(id.has_id || id.has_time || id.has_cpu || id.has_tid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_whole),
		cmocka_unit_test(test_sample_empty),
		cmocka_unit_test(test_sample_callchain),
		cmocka_unit_test(test_sample_data_src),
		cmocka_unit_test(test_sample_branches),
		cmocka_unit_test(test_identify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
