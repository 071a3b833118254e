// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records made by hand against what they mean, cut at every length, and random
 * ones.  What is expected is written out here, never taken from the tables.
 */
#include "record_made.h"

static void test_mmap(void **state)
{
	struct rec r = begin(1, 0x2002);

	(void)state;
	add(&r, 4, 5), add(&r, 4, 6);
	add(&r, 8, 0x7f0000001000), add(&r, 8, 0x2000), add(&r, 8, 0x3000);
	add_bytes(&r, "/bin/true\0\0\0\0\0\0\0", 16);
	add_ids(&r);
	expect(&r, &all_ids,
	       "{type=PERF_RECORD_MMAP, misc=PERF_RECORD_MISC_USER|"
	       "PERF_RECORD_MISC_MMAP_DATA, size=104, pid=5, tid=6, "
	       "addr=0x7f0000001000, len=0x2000, pgoff=0x3000, "
	       "filename=\"/bin/true\", " IDS);
}

static struct rec mmap2(uint16_t misc)
{
	struct rec r = begin(10, misc);

	add(&r, 4, 5), add(&r, 4, 5);
	add(&r, 8, 0x400000), add(&r, 8, 0x1000), add(&r, 8, 0);
	return r;
}

static struct rec mmap2_inode(uint16_t misc)
{
	struct rec r = mmap2(misc);

	add(&r, 4, 8), add(&r, 4, 1), add(&r, 8, 99), add(&r, 8, 3);
	add(&r, 4, 5), add(&r, 4, 2);
	add_bytes(&r, "/x\0\0\0\0\0", 8);
	return r;
}

static void test_mmap2(void **state)
{
	struct rec r = mmap2_inode(2);

	(void)state;
	expect(&r, &plain,
	       "{type=PERF_RECORD_MMAP2, misc=PERF_RECORD_MISC_USER, size=80, "
	       "pid=5, tid=5, addr=0x400000, len=0x1000, pgoff=0, maj=8, min=1, "
	       "ino=99, ino_generation=3, prot=PROT_READ|PROT_EXEC, "
	       "flags=MAP_PRIVATE, filename=\"/x\"}");
	r = mmap2_inode(0x4002);
	expect(&r, &no_build_id,
	       "{type=PERF_RECORD_MMAP2, misc=PERF_RECORD_MISC_USER|"
	       "PERF_RECORD_MISC_MMAP_BUILD_ID, size=80, pid=5, tid=5, "
	       "addr=0x400000, len=0x1000, pgoff=0, maj=8, min=1, "
	       "ino=99, ino_generation=3, prot=PROT_READ|PROT_EXEC, "
	       "flags=MAP_PRIVATE, filename=\"/x\"}");
	r = mmap2(0x4002);
	add(&r, 1, 20), add(&r, 1, 0), add(&r, 2, 0);
	add_bytes(&r, "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23"
		      "\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67", 20);
	add(&r, 4, 1), add(&r, 4, 1);
	add_bytes(&r, "abcdefg", 8);
	expect(&r, &plain,
	       "{type=PERF_RECORD_MMAP2, misc=PERF_RECORD_MISC_USER|"
	       "PERF_RECORD_MISC_MMAP_BUILD_ID, size=80, pid=5, tid=5, "
	       "addr=0x400000, len=0x1000, pgoff=0, build_id_size=20, "
	       "build_id=\"\\1#Eg\\211\\253\\315\\357\\1#Eg\\211\\253\\315\\357\\1#Eg\""
	       " /* 0123456789abcdef0123456789abcdef01234567 */, prot=PROT_READ, "
	       "flags=MAP_SHARED, filename=\"abcdefg\"}");
}

static void test_comm(void **state)
{
	struct rec r = begin(3, 0x2000);

	(void)state;
	add(&r, 4, 5), add(&r, 4, (uint32_t)-1);
	add_bytes(&r, "renamed", 8);
	expect(&r, &plain, "{type=PERF_RECORD_COMM, misc=PERF_RECORD_MISC_COMM_EXEC, "
			   "size=24, pid=5, tid=-1, comm=\"renamed\"}");
}

static void test_tasks(void **state)
{
	struct rec r = begin(7, 0);

	(void)state;
	add(&r, 4, 2), add(&r, 4, 1), add(&r, 4, 4), add(&r, 4, 3), add(&r, 8, 9);
	expect(&r, &plain, "{type=PERF_RECORD_FORK, misc=0, size=32, pid=2, ppid=1, "
			   "tid=4, ptid=3, time=9}");
	store_uint(r.bytes, 4, 4);
	add_ids(&r);
	expect(&r, &all_ids, "{type=PERF_RECORD_EXIT, misc=0, size=80, pid=2, ppid=1, "
			     "tid=4, ptid=3, time=9, " IDS);
}

static void test_lost(void **state)
{
	struct rec r = begin(2, 0);

	(void)state;
	add(&r, 8, 77), add(&r, 8, 3);
	add_ids(&r);
	expect(&r, &all_ids, "{type=PERF_RECORD_LOST, misc=0, size=72, "
			     "id=77 /* cycles */, lost=3, " IDS);
	r = begin(13, 0);
	add(&r, 8, 4);
	expect(&r, &plain, "{type=PERF_RECORD_LOST_SAMPLES, misc=0, size=16, lost=4}");
}

static void test_throttle(void **state)
{
	struct rec r = begin(5, 0);

	(void)state;
	add(&r, 8, 1), add(&r, 8, 77), add(&r, 8, 78);
	expect(&r, &plain, "{type=PERF_RECORD_THROTTLE, misc=0, size=32, time=1, "
			   "id=77 /* cycles */, stream_id=78}");
	store_uint(r.bytes, 4, 6);
	expect(&r, &plain, "{type=PERF_RECORD_UNTHROTTLE, misc=0, size=32, time=1, "
			   "id=77 /* cycles */, stream_id=78}");
}

static void test_read(void **state)
{
	struct record_format f = { .read_format = 0x17 };
	struct rec r = begin(8, 0);

	(void)state;
	add(&r, 4, 2), add(&r, 4, 3);
	add(&r, 8, 100), add(&r, 8, 20), add(&r, 8, 20), add(&r, 8, 77), add(&r, 8, 0);
	expect(&r, &f, "{type=PERF_RECORD_READ, misc=0, size=56, pid=2, tid=3, "
		       "values={value=100, time_enabled=20, time_running=20, "
		       "id=77 /* cycles */, lost=0}}");
}

static void test_aux(void **state)
{
	struct rec r = begin(11, 0);

	(void)state;
	add(&r, 8, 0x1000), add(&r, 8, 64), add(&r, 8, 0x105);
	expect(&r, &plain, "{type=PERF_RECORD_AUX, misc=0, size=32, aux_offset=0x1000, "
			   "aux_size=64, flags=PERF_AUX_FLAG_TRUNCATED|"
			   "PERF_AUX_FLAG_PARTIAL|"
			   "PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW}");
	r = begin(12, 0);
	add(&r, 4, 1), add(&r, 4, 2);
	expect(&r, &plain, "{type=PERF_RECORD_ITRACE_START, misc=0, size=16, pid=1, tid=2}");
	r = begin(21, 0);
	add(&r, 8, 0xab);
	expect(&r, &plain, "{type=PERF_RECORD_AUX_OUTPUT_HW_ID, misc=0, size=16, "
			   "hw_id=0xab}");
}

static void test_switch(void **state)
{
	struct rec r = begin(14, 0);

	(void)state;
	expect(&r, &plain, "{type=PERF_RECORD_SWITCH, misc=0, size=8}");
	add_ids(&r);
	expect(&r, &all_ids, "{type=PERF_RECORD_SWITCH, misc=0, size=56, " IDS);
	r = begin(15, 0xe000);
	add(&r, 4, 7), add(&r, 4, 8);
	expect(&r, &plain, "{type=PERF_RECORD_SWITCH_CPU_WIDE, "
			   "misc=PERF_RECORD_MISC_SWITCH_OUT|"
			   "PERF_RECORD_MISC_SWITCH_OUT_PREEMPT|"
			   "PERF_RECORD_MISC_EXT_RESERVED, size=16, "
			   "next_prev_pid=7, next_prev_tid=8}");
}

static void test_namespaces(void **state)
{
	struct rec r = begin(16, 0);

	(void)state;
	add(&r, 4, 1), add(&r, 4, 2), add(&r, 8, 8);
	for (unsigned int i = 0; i < 8; i++)
		add(&r, 8, 4), add(&r, 8, 10 + i);
	expect(&r, &plain, "{type=PERF_RECORD_NAMESPACES, misc=0, size=152, pid=1, "
			   "tid=2, nr_namespaces=8, namespaces=["
			   "{index=NET_NS_INDEX, dev=0x4, ino=10}, "
			   "{index=UTS_NS_INDEX, dev=0x4, ino=11}, "
			   "{index=IPC_NS_INDEX, dev=0x4, ino=12}, "
			   "{index=PID_NS_INDEX, dev=0x4, ino=13}, "
			   "{index=USER_NS_INDEX, dev=0x4, ino=14}, "
			   "{index=MNT_NS_INDEX, dev=0x4, ino=15}, "
			   "{index=CGROUP_NS_INDEX, dev=0x4, ino=16}, "
			   "{index=0x7, dev=0x4, ino=17}]}");
}

static void test_kernel_code(void **state)
{
	struct rec r = begin(17, 0);

	(void)state;
	add(&r, 8, 0xffffffffc0001000), add(&r, 4, 0x40), add(&r, 2, 1), add(&r, 2, 1);
	add_bytes(&r, "bpf_prog", 9), add(&r, 4, 0), add(&r, 2, 0), add(&r, 1, 0);
	expect(&r, &plain, "{type=PERF_RECORD_KSYMBOL, misc=0, size=40, "
			   "addr=0xffffffffc0001000, len=0x40, "
			   "ksym_type=PERF_RECORD_KSYMBOL_TYPE_BPF, "
			   "flags=PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, "
			   "name=\"bpf_prog\"}");
	r = begin(18, 0);
	add(&r, 2, 1), add(&r, 2, 0), add(&r, 4, 55);
	add_bytes(&r, "\x01\x02\x03\x04\x05\x06\x07\xff", 8);
	expect(&r, &plain, "{type=PERF_RECORD_BPF_EVENT, misc=0, size=24, "
			   "bpf_type=PERF_BPF_EVENT_PROG_LOAD, id=55, "
			   "tag=\"\\1\\2\\3\\4\\5\\6\\7\\377\" /* 01020304050607ff */}");
	r = begin(19, 0);
	add(&r, 8, 42);
	add_bytes(&r, "/a\0\0\0\0\0", 8);
	expect(&r, &plain, "{type=PERF_RECORD_CGROUP, misc=0, size=24, id=42, "
			   "path=\"/a\"}");
	r = begin(20, 1);
	add(&r, 8, 0x1234), add(&r, 2, 5), add(&r, 2, 2);
	add_bytes(&r, "\x90\x90\x90\x90\x90\xeb\x03\0\0\0\0", 12);
	expect(&r, &plain, "{type=PERF_RECORD_TEXT_POKE, misc=PERF_RECORD_MISC_KERNEL, "
			   "size=32, addr=0x1234 /* main of -1 in mode 1 */, "
			   "old_len=5, new_len=2, "
			   "old_bytes=\"\\220\\220\\220\\220\\220\", "
			   "new_bytes=\"\\353\\3\"}");
}

/* The kernel makes these records longer for each other event with sample_id_all=1. */
static void test_surplus(void **state)
{
	static const char tid[] = "sample_id={pid=11, tid=12}, surplus=\"\\1\\1\\1\\1\\1\\1\\1\\1\" "
		"/* 8 bytes too long: the kernel counted the sample_id of other events */}";
	const struct record_format f = {
		.sample_type = 2, .sample_id_all = true, .arch = &arch_x86_64,
	};
	char want[512];
	struct rec r = begin(18, 0);
	struct record_id id;

	(void)state;
	add(&r, 2, 1), add(&r, 2, 0), add(&r, 4, 55);
	add_bytes(&r, "\x01\x02\x03\x04\x05\x06\x07\xff", 8);
	add(&r, 4, 11), add(&r, 4, 12), add_bytes(&r, "\1\1\1\1\1\1\1\1", 8);
	snprintf(want, sizeof(want), "{type=PERF_RECORD_BPF_EVENT, misc=0, size=40, "
		 "bpf_type=PERF_BPF_EVENT_PROG_LOAD, id=55, "
		 "tag=\"\\1\\2\\3\\4\\5\\6\\7\\377\" /* 01020304050607ff */, %s", tid);
	expect_surplus(&r, &f, 8, want);
	assert_true(record_identify(r.bytes, r.len, &f, &id));
	assert_int_equal(id.tid, 12);
	r = begin(17, 0);
	add(&r, 8, 0xffffffffc0001000), add(&r, 4, 0x40), add(&r, 2, 1), add(&r, 2, 0);
	add_bytes(&r, "bpf_pro", 8);
	add(&r, 4, 11), add(&r, 4, 12), add_bytes(&r, "\1\1\1\1\1\1\1\1", 8);
	snprintf(want, sizeof(want), "{type=PERF_RECORD_KSYMBOL, misc=0, size=48, "
		 "addr=0xffffffffc0001000, len=0x40, ksym_type=PERF_RECORD_KSYMBOL_TYPE_BPF, "
		 "name=\"bpf_pro\", %s", tid);
	expect_surplus(&r, &f, 8, want);
	r = begin(20, 1);
	add(&r, 8, 0x1000), add(&r, 2, 1), add(&r, 2, 1), add_bytes(&r, "\x90\xcc\0", 4);
	add(&r, 4, 11), add(&r, 4, 12), add_bytes(&r, "\1\1\1\1\1\1\1\1", 8);
	snprintf(want, sizeof(want), "{type=PERF_RECORD_TEXT_POKE, misc=PERF_RECORD_MISC_KERNEL, "
		 "size=40, addr=0x1000, old_len=1, new_len=1, old_bytes=\"\\220\", "
		 "new_bytes=\"\\314\", %s", tid);
	expect_surplus(&r, &f, 8, want);
}

static void test_deferred(void **state)
{
	struct rec r = begin(22, 2);

	(void)state;
	add(&r, 8, 0xc0), add(&r, 8, 3), add(&r, 8, (uint64_t)-512), add(&r, 8, 0x1234);
	add(&r, 8, 0x5678);
	add_ids(&r);
	expect(&r, &all_ids, "{type=PERF_RECORD_CALLCHAIN_DEFERRED, "
			     "misc=PERF_RECORD_MISC_USER, size=96, cookie=0xc0, "
			     "callchain=[PERF_CONTEXT_USER, "
			     "0x1234 /* main of 11 in mode 2 */, "
			     "0x5678 /* call of 11 in mode 2 */], " IDS);
}

static void test_unknown(void **state)
{
	struct rec r = begin(23, 0x1001);
	size_t used;

	(void)state;
	add_bytes(&r, "A\0\0\0\0\0\0\0", 8);
	add_ids(&r);
	done(&r);
	assert_string_equal(decode(r.bytes, r.len, &all_ids, false, &used),
		"{type=0x17 /* PERF_RECORD_??? */, misc=PERF_RECORD_MISC_KERNEL|"
		"PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT, size=64, "
		"rest=\"A\\0\\0\\0\\0\\0\\0\\0\" "
		"/* 8 bytes that no field accounts for */, " IDS);
	assert_int_equal(used, 56);
	r = begin(68, 0);
	add_bytes(&r, "A\0\0\0\0\0\0\0", 8);
	done(&r);
	assert_string_equal(decode(r.bytes, r.len, &all_ids, false, &used),
		"{type=0x44 /* PERF_RECORD_??? */, misc=0, size=16, "
		"rest=\"A\\0\\0\\0\\0\\0\\0\\0\" "
		"/* 8 bytes that no field accounts for */}");
	assert_int_equal(used, 8);
}

static const char *broken(struct rec *r, const struct record_format *f, size_t *used)
{
	done(r);
	return decode(r->bytes, r->len, f, false, used);
}

/* Counts that lie, bits without a meaning, and sizes that do not add up. */
static void test_hostile(void **state)
{
	struct record_format f = { .sample_type = 0x20 };
	struct rec r = begin(9, 2);
	size_t used;

	(void)state;
	add(&r, 8, (uint64_t)-1), add(&r, 8, 1);
	assert_non_null(strstr(broken(&r, &f, &used), "size=24, rest=\"\\377"));
	assert_true(used > r.len);
	r = begin(9, 2);
	assert_non_null(strstr(broken(&r, &f, &used), "would end at 16, not by 8"));
	assert_int_equal(used, 16);
	f.sample_type = 1ULL << 40;
	add_bytes(&r, "B\0\0\0\0\0\0\0", 8);
	assert_non_null(strstr(broken(&r, &f, &used), "size=16, rest=\"B\\0"));
	assert_int_equal(used, 8);
	r = begin(14, 0);
	assert_non_null(strstr(broken(&r, &all_ids, &used), "would end at 56, not by 8"));
	assert_int_equal(used, 56);
	r = begin(16, 0);
	add(&r, 8, 0), add(&r, 8, 0x1000000000000001);
	broken(&r, &plain, &used);
	assert_true(used > r.len);
	r = begin(3, 0);
	add(&r, 8, 0), add(&r, 8, 0x4242424242424242);
	assert_non_null(strstr(broken(&r, &plain, &used), "comm=\"BBBBBBBB\"..."));
	assert_true(used > r.len);
	r = begin(3, 0);
	add(&r, 8, 0), add_bytes(&r, "A\0\0\0\0\0\0B", 8);
	assert_non_null(strstr(broken(&r, &plain, &used),
			       "comm=\"A\", rest=\"\\0\\0\\0\\0\\0B\""));
	assert_int_equal(used, 18);
	r = begin(3, 0);
	store_uint(r.bytes + 6, 2, 7);
	assert_non_null(strstr(decode(r.bytes, 8, &plain, false, &used),
			       "size=7 /* less than a header */"));
}

static void test_format_of(void **state)
{
	uint8_t attr[136] = { 0 };
	struct record_format f;
	const uint64_t words[] = { 0x1234, 0x1f };
	const uint64_t masks[] = { 0x20008, 0xff0fff };

	(void)state;
	store_uint(attr + 4, 4, 112);
	memcpy(attr + 24, words, 16);
	store_uint(attr + 40, 8, bit_field(18, 1, 1)); /* sample_id_all */
	memcpy(attr + 72, masks, 16);
	store_uint(attr + 96, 8, 7);
	record_format_of(&f, attr, 112, &arch_x86_64);
	assert_true(f.sample_type == 0x1234 && f.read_format == 0x1f);
	assert_true(f.branch_sample_type == 0x20008 && f.sample_id_all);
	assert_true(f.sample_regs_user == 0xff0fff && f.sample_regs_intr == 7);
	assert_ptr_equal(f.arch, &arch_x86_64);
	store_uint(attr + 4, 4, 0);	/* 64 */
	record_format_of(&f, attr, 112, NULL);
	assert_true(f.sample_type == 0x1234 && !f.branch_sample_type);
	assert_true(!f.sample_regs_user && !f.sample_regs_intr);
}

static uint64_t random_state = 88172645463325252;

static uint64_t rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Mostly small numbers, so that counts are often almost right. */
static void random_bytes(uint8_t *b, size_t len)
{
	for (size_t at = 0; at < len; at++)
		b[at] = rnd() % 3 ? 0 : rnd() % 4 ? (uint8_t)(rnd() % 9) : (uint8_t)rnd();
}

static void test_random(void **state)
{
	static const struct arch *const archs[] = { &arch_x86_64, &arch_aarch64, NULL };
	uint8_t bytes[520];

	(void)state;
	for (unsigned int i = 0; i < 60000; i++) {
		struct record_format f = {
			.sample_type = rnd() & rnd(), .read_format = rnd() & 0x3f,
			.branch_sample_type = rnd(), .sample_regs_user = rnd() & rnd(),
			.sample_regs_intr = rnd() & rnd() & rnd(),
			.sample_id_all = rnd() & 1, .arch = archs[rnd() % 3],
		};
		size_t len = rnd() % sizeof(bytes), used;
		uint32_t type = rnd() % 2 ? 9 : (uint32_t)(rnd() % 25);
		uint16_t size = (uint16_t)(rnd() % 4 ? len : rnd() % 600);

		random_bytes(bytes, sizeof(bytes));
		if (rnd() % 16)
			memcpy(bytes, &type, 4), memcpy(bytes + 6, &size, 2);
		decode(bytes, len, &f, rnd() & 1, &used);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmap),
		cmocka_unit_test(test_mmap2),
		cmocka_unit_test(test_comm),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_throttle),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_aux),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_kernel_code),
		cmocka_unit_test(test_surplus),
		cmocka_unit_test(test_deferred),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_format_of),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
