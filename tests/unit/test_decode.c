// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decoders against known bytes, and against truncated, oversized and random
 * ones.  What is expected is written out here, never taken from the tables.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/abi/args.h"
#include "core/abi/attr.h"
#include "core/abi/call_decode.h"
#include "core/abi/read_format.h"
#include "fake.h"
#include "formats/text/text.h"

#define ADDR 0x10000

/* A call made of raw numbers, decoded to text with all that it has. */
static const char *decode(const char *name, const struct arch *arch,
			  const uint64_t *args, int64_t ret, bool failed,
			  const struct fake_mem *m, bool full)
{
	static struct buf out;
	struct call c = { .desc = call_by_name(name), .arch = arch };
	struct text_sink t;

	assert_non_null(c.desc);
	memcpy(c.args, args, sizeof(c.args));
	call_capture(&c, AT_SYSCALL_ENTER, &m->mem, &fake_names);
	c.ret = ret;
	c.failed = failed;
	c.returned = true;
	call_capture(&c, AT_SYSCALL_EXIT, &m->mem, &fake_names);
	buf_reset(&out);
	text_sink_init(&t, &out);
	t.sink.full = full;
	text_sink_top(&t, false, c.desc);
	call_args(&c, AT_SYSCALL_ENTER, &fake_names, &t.sink);
	call_args(&c, AT_SYSCALL_EXIT, &fake_names, &t.sink);
	buf_adds(&out, " -> ");
	text_sink_top(&t, true, c.desc);
	call_results(&c, &fake_names, &t.sink);
	call_result_notes(&c, &fake_names, &t.sink);
	call_free(&c);
	return buf_str(&out);
}

static void put32(uint8_t *b, size_t at, uint32_t v)
{
	memcpy(b + at, &v, 4);
}

static void put64(uint8_t *b, size_t at, uint64_t v)
{
	memcpy(b + at, &v, 8);
}

/* The attr between the braces of perf_event_open's first argument. */
static const char *attr_text(const uint8_t *bytes, size_t len)
{
	const struct fake_mem m = fake_mem(ADDR, bytes, len);
	const uint64_t args[6] = { ADDR, 0, (uint64_t)-1, (uint64_t)-1, 0 };

	return decode("perf_event_open", &arch_x86_64, args, 3, false, &m, false);
}

static void expect_attr(const uint8_t *bytes, size_t len, const char *inside)
{
	const char *text = attr_text(bytes, len);

	if (!strstr(text, inside))
		fail_msg("no '%s' in '%s'", inside, text);
}

static void test_attr_generic(void **state)
{
	uint8_t a[136] = { 0 };

	(void)state;
	put32(a, 0, 1);
	put32(a, 4, 128);
	put64(a, 16, 4000);
	put64(a, 24, 0x107);
	put64(a, 40, bit_field(10, 1, 1) | bit_field(15, 2, 2));
	assert_string_equal(attr_text(a, 128),
		"{type=PERF_TYPE_SOFTWARE, size=PERF_ATTR_SIZE_VER7, "
		"config=PERF_COUNT_SW_CPU_CLOCK, sample_freq=4000, "
		"sample_type=PERF_SAMPLE_IP|PERF_SAMPLE_TID|PERF_SAMPLE_TIME|"
		"PERF_SAMPLE_PERIOD, freq=1, precise_ip=2 "
		"/* requested to have 0 skid */}, 0 /* calling thread */, "
		"-1 /* any cpu */, -1, 0 -> ");
	put64(a, 40, 0);
	expect_attr(a, 128, "sample_period=4000");
}

static void test_attr_config(void **state)
{
	uint8_t a[128] = { 0 };

	(void)state;
	put32(a, 4, 128);
	put32(a, 0, 0);
	put64(a, 8, 1);
	expect_attr(a, 128, "config=PERF_COUNT_HW_INSTRUCTIONS}");
	put64(a, 8, 4ULL << 32);
	expect_attr(a, 128, "config=0x4<<32|PERF_COUNT_HW_CPU_CYCLES /* cpu */");
	put64(a, 8, 99);
	expect_attr(a, 128, "config=0x63 /* PERF_COUNT_HW_??? */");
	put32(a, 0, 3);
	put64(a, 8, 0x10203);
	expect_attr(a, 128, "config=PERF_COUNT_HW_CACHE_RESULT_MISS<<16|"
			    "PERF_COUNT_HW_CACHE_OP_PREFETCH<<8|"
			    "PERF_COUNT_HW_CACHE_DTLB}");
	put32(a, 0, 2);
	put64(a, 8, 318);
	expect_attr(a, 128, "config=318 /* sched:sched_switch */}");
	put32(a, 0, 4);
	put64(a, 8, 0x1a8);
	expect_attr(a, 128, "config=0x1a8 /* cpu/event=0xa8,umask=0x1/ */}");
	put32(a, 0, 77);
	expect_attr(a, 128, "type=77 /* no PMU of this number in sysfs */");
}

static void test_attr_unions(void **state)
{
	uint8_t a[200] = { 0 };

	(void)state;
	put32(a, 4, 128);
	put32(a, 0, 5);
	put32(a, 52, 3);
	put64(a, 56, 0x601040);
	put64(a, 64, 8);
	expect_attr(a, 128, "bp_type=HW_BREAKPOINT_RW, bp_addr=0x601040, bp_len=");
	put32(a, 0, 4);
	put32(a, 52, 0);
	expect_attr(a, 128, "config1=0x601040, config2=0x8}");
	/* a uprobe's path is fetched from the target */
	put32(a, 0, 8);
	put64(a, 56, ADDR + 160);
	memcpy(a + 160, "/bin/true", 10);
	expect_attr(a, 200, "uprobe_path=\"/bin/true\", probe_offset=");
	put64(a, 56, 0x4242);
	expect_attr(a, 200, "uprobe_path=0x4242 /* unreadable */");
	/* wakeup_events or wakeup_watermark */
	put32(a, 48, 7);
	expect_attr(a, 128, "wakeup_events=7");
	put64(a, 40, bit_field(14, 1, 1));
	expect_attr(a, 128, "wakeup_watermark=7");
}

static void test_attr_ignored(void **state)
{
	const uint64_t args[6] = { ADDR, 0, (uint64_t)-1, (uint64_t)-1, 0 };
	uint8_t a[136] = { 0 };
	struct fake_mem m;

	(void)state;
	put32(a, 0, 1);
	put32(a, 4, 136);
	put64(a, 72, 9);
	expect_attr(a, 136, "branch_sample_type=PERF_SAMPLE_BRANCH_USER|"
			    "PERF_SAMPLE_BRANCH_ANY /* ignored: needs "
			    "sample_type&PERF_SAMPLE_BRANCH_STACK */");
	/* a kernel that refused the call may have refused the member */
	m = fake_mem(ADDR, a, 136);
	assert_null(strstr(decode("perf_event_open", &arch_x86_64, args, 22, true, &m, false),
			   "ignored"));
	put64(a, 24, 0x800);
	expect_attr(a, 136, "branch_sample_type=PERF_SAMPLE_BRANCH_USER|"
			    "PERF_SAMPLE_BRANCH_ANY}");
	put64(a, 96, 1ULL << 32);
	expect_attr(a, 136, "sample_regs_intr=0x100000000 /* XMM0 */ "
			    "/* not ignored: extended registers");
}

static void test_attr_sizes(void **state)
{
	uint8_t a[208] = { 0 };

	(void)state;
	put32(a, 0, 1);
	expect_attr(a, 208, "size=0 /* PERF_ATTR_SIZE_VER0 assumed */");
	put32(a, 4, 7);
	expect_attr(a, 208, "size=7 /* too small: 64 is the least */");
	put32(a, 4, 65);
	expect_attr(a, 208, "size=65 /* between two versions */");
	put32(a, 4, ~0U);
	expect_attr(a, 208, "size=4294967295 /* too large: more than a page */");
	put32(a, 4, 200);
	a[160] = 0x41;
	expect_attr(a, 208, "size=200 /* larger than any known version */, "
			    "config=PERF_COUNT_SW_CPU_CLOCK, "
			    "unknown=[{offset=160, bytes=0x41}]}");
	/* members behind the declared size are not the kernel's business: only their names are told */
	put64(a, 72, 9);
	put32(a, 4, 64);
	if (strstr(attr_text(a, 208), "branch_sample_type="))
		fail_msg("shows what lies behind size");
}

static void test_attr_reserved(void **state)
{
	uint8_t a[128] = { 0 };

	(void)state;
	put32(a, 0, 1);
	put32(a, 4, 128);
	put64(a, 40, bit_field(38, 1, 1) | bit_field(40, 24, 0x800000));
	expect_attr(a, 128, "defer_callchain=1");
	expect_attr(a, 128, "__reserved_1=0x800000");
	put64(a, 40, 0);
	store_uint(a + 110, 2, 0x1234);
	expect_attr(a, 128, "__reserved_2=0x1234");
	store_uint(a + 110, 2, 0);
	put32(a, 116, bit_field32(3, 29, 2));
	expect_attr(a, 128, "__reserved_3=0x2");
}

static void test_attr_unreadable(void **state)
{
	uint8_t a[128] = { 0 };
	const uint64_t args[6] = { 0, 0, 0, 0, 0 };
	const struct fake_mem none = fake_mem(0x9000, a, 0);

	(void)state;
	put32(a, 0, 1);
	put32(a, 4, 128);
	assert_string_equal(attr_text(a, 0),
		"0x10000 /* unreadable */, 0 /* calling thread */, "
		"-1 /* any cpu */, -1, 0 -> ");
	expect_attr(a, 40, "config=PERF_COUNT_SW_CPU_CLOCK /* unreadable from byte 40 on */}");
	assert_non_null(strstr(decode("perf_event_open", &arch_x86_64, args, 14,
				      true, &none, false), "NULL"));
}

/* Every length from nothing to more than a page, with every size declared. */
static void test_attr_every_length(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 7, 8, 63, 64, 65, 72, 80, 96, 104,
		112, 120, 128, 136, 144, 145, 4096, 4097, 0x7fffffff, 0xffffffff };
	uint8_t *a;

	(void)state;
	for (size_t len = 0; len <= 4104; len += len < 160 ? 1 : 131) {
		a = malloc(len ? len : 1); /* exact, so that ASan sees a byte too many */
		memset(a, 0xff, len);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			if (len >= 8)
				put32(a, 4, sizes[i]);
			assert_non_null(attr_text(a, len));
		}
		free(a);
	}
}

static void test_size_written_back(void **state)
{
	/* the kernel writes over size between entry and exit: two memories */
	uint8_t before[200] = { 0 }, after[4];
	struct call c = { .desc = call_by_name("perf_event_open"),
			  .arch = &arch_x86_64, .args = { ADDR } };
	const struct fake_mem m = fake_mem(ADDR, before, sizeof(before));
	struct buf out = { 0 };
	struct text_sink t;

	(void)state;
	put32(before, 4, 200);
	put32(after, 0, 136);
	call_capture(&c, AT_SYSCALL_ENTER, &m.mem, &fake_names);
	call_add_capture(&c, AT_SYSCALL_EXIT, ADDR + 4, 4, after, 4);
	c.returned = c.failed = true;
	c.ret = 7;
	text_sink_init(&t, &out);
	call_result_notes(&c, &fake_names, &t.sink);
	assert_string_equal(buf_str(&out),
			    "/* kernel wrote back size=136, PERF_ATTR_SIZE_VER8 */");
	buf_free(&out);
	call_free(&c);
}

static const char *ioctl_text(const struct arch *arch, uint32_t request,
			      uint64_t arg, const void *bytes, size_t len, bool failed)
{
	const struct fake_mem m = fake_mem(ADDR, bytes, len);
	const uint64_t args[6] = { 5, request, arg };

	return decode("ioctl", arch, args, 0, failed, &m, false);
}

static void test_ioctls(void **state)
{
	uint8_t q[24] = { 0 };
	uint64_t v = 1234;

	(void)state;
	assert_string_equal(ioctl_text(&arch_x86_64, 0x2400, 1, "", 0, false),
			    "5, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP -> ");
	assert_string_equal(ioctl_text(&arch_x86_64, 0x40082404, ADDR, &v, 8, false),
			    "5, PERF_EVENT_IOC_PERIOD, [1234] -> ");
	assert_string_equal(ioctl_text(&arch_x86_64, 0x80082407, ADDR, &v, 8, false),
			    "5, PERF_EVENT_IOC_ID, [1234] -> ");
	assert_string_equal(ioctl_text(&arch_x86, 0x80042407, ADDR, &v, 8, false),
			    "5, PERF_EVENT_IOC_ID, [1234] -> ");
	assert_string_equal(ioctl_text(&arch_x86_64, 0x80082407, ADDR, &v, 8, true),
			    "5, PERF_EVENT_IOC_ID, 0x10000 -> ");
	assert_string_equal(ioctl_text(&arch_x86_64, 0x40082406, ADDR, "a == \"b\"", 9, false),
			    "5, PERF_EVENT_IOC_SET_FILTER, \"a == \\\"b\\\"\" -> ");
	assert_string_equal(ioctl_text(&arch_x86, 0x40042406, ADDR, "x", 2, false),
			    "5, PERF_EVENT_IOC_SET_FILTER, \"x\" -> ");
	assert_string_equal(ioctl_text(&arch_x86_64, 0x2405, (uint64_t)-1, "", 0, false),
			    "5, PERF_EVENT_IOC_SET_OUTPUT, -1 -> ");
	assert_string_equal(ioctl_text(&arch_x86_64, 0x2405, 0xffffffff, "", 0, true),
			    "5, PERF_EVENT_IOC_SET_OUTPUT, -1 /* 0xffffffff, not -1: "
			    "pass -1L to detach */ -> ");
	put32(q, 0, 3);
	put32(q, 4, 2);
	put32(q, 8, 77);
	put32(q, 12, 78);
	assert_string_equal(ioctl_text(&arch_x86_64, 0xc008240a, ADDR, q, 24, false),
			    "5, PERF_EVENT_IOC_QUERY_BPF, {ids_len=3, prog_cnt=2, "
			    "ids=[77, 78]} -> ");
	/* a count that is a lie shows what is there, and no more */
	put32(q, 4, 1000000);
	assert_string_equal(ioctl_text(&arch_x86_64, 0xc008240a, ADDR, q, 24, false),
			    "5, PERF_EVENT_IOC_QUERY_BPF, {ids_len=3, prog_cnt=1000000, "
			    "ids=[77, 78, 0]} -> ");
	assert_string_equal(ioctl_text(&arch_x86_64, 0x2477, 5, "", 0, true),
			    "5, 0x2477 /* _IOC(_IOC_NONE, '$', 119, 0) */, 0x5 -> ");
	/* of a failed call there is no answer, but ENOSPC has what fitted */
	put32(q, 4, 12345);
	assert_string_equal(ioctl_text(&arch_x86_64, 0xc008240a, ADDR, q, 8, true),
			    "5, PERF_EVENT_IOC_QUERY_BPF, {ids_len=3} -> ");
}

/* Arguments of which the kernel reads 32 bits, and those of which it reads 64. */
static void test_widths(void **state)
{
	const uint64_t high = 0xabcd00000000;
	const uint64_t range[6] = { 3, 5, high | 4 }, dup[6] = { 5, 6, high };
	const uint64_t offset[6] = { 5, 0, 8, high | 5 }, minus[6] = { 5, 0, 8, (uint64_t)-1 };
	const uint64_t halves[6] = { 5, 0, 8, 1, 2, 3 };
	struct fake_mem m = fake_mem(ADDR, "", 0);

	(void)state;
	assert_string_equal(ioctl_text(&arch_x86_64, 0x2400, high | 1, "", 0, false),
			    "5, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP -> ");
	assert_string_equal(decode("close_range", &arch_x86_64, range, 0, false, &m, false),
			    "3, 5, CLOSE_RANGE_CLOEXEC -> ");
	assert_string_equal(decode("dup3", &arch_x86_64, dup, 6, false, &m, false), "5, 6, 0 -> ");
	assert_string_equal(decode("pread64", &arch_x86_64, offset, EINVAL, true, &m, false),
			    "5, NULL, 8, 188896956645381 -> ");
	assert_string_equal(decode("pread64", &arch_x86_64, minus, EINVAL, true, &m, false),
			    "5, NULL, 8, -1 -> ");
	/* low and high half, at arm from an even register on */
	assert_string_equal(decode("pread64", &arch_x86, halves, EINVAL, true, &m, false),
			    "5, NULL, 8, 8589934593 -> ");
	assert_string_equal(decode("pread64", &arch_arm, halves, EINVAL, true, &m, false),
			    "5, NULL, 8, 12884901890 -> ");
}

static void test_clone(void **state)
{
	const uint64_t args[6] = { 0x100 | 17 }, args3[6] = { ADDR, 104 };
	uint8_t b[104] = { 0 };
	struct fake_mem m = fake_mem(ADDR, b, sizeof(b));

	(void)state;
	assert_string_equal(decode("clone", &arch_x86_64, args, 9, false, &m, false),
			    "CLONE_VM|SIGCHLD, NULL, NULL, NULL, 0 -> ");
	put64(b, 32, 0x100000011);
	b[100] = 5;
	assert_string_equal(decode("clone3", &arch_x86_64, args3, EINVAL, true, &m, false),
			    "{flags=0, exit_signal=4294967313, "
			    "unknown=[{offset=100, bytes=0x05}]}, 104 -> ");
	put32(b, 100, 0);
	put64(b, 32, 17);
	put64(b, 64, ADDR + 96);
	put64(b, 72, 2);
	put32(b, 96, 7);
	put32(b, 100, 8);
	assert_string_equal(decode("clone3", &arch_x86_64, (uint64_t[6]){ ADDR, 88 }, EINVAL, true,
				   &m, false),
			    "{flags=0, exit_signal=SIGCHLD, set_tid=[7, 8], set_tid_size=2}, "
			    "88 -> ");
}

/* What the kernel cannot read is not shown as if it were complete. */
static void test_unreadable(void **state)
{
	const uint64_t select[6] = { 1025, ADDR }, pair[6] = { 4, 0, 0, 0, 0, ADDR };
	const uint64_t vector[6] = { 5, ADDR, 2 }, none[6] = { 5, ADDR, 0 };
	uint64_t mask[3] = { ADDR + 16, 8, 1 << 9 };
	struct fake_mem m = fake_mem(ADDR, mask, sizeof(mask));

	(void)state;
	assert_string_equal(decode("select", &arch_x86_64, select, EFAULT, true, &m, false),
			    "1025, [4, 16, 67, 137 /* unreadable from fd 192 on */], NULL, NULL, "
			    "NULL -> ");
	m.len = 7; /* no word of the set */
	assert_string_equal(decode("select", &arch_x86_64, select, EFAULT, true, &m, false),
			    "1025, 0x10000 /* unreadable */, NULL, NULL, NULL -> ");
	m.len = sizeof(mask);
	assert_string_equal(decode("pselect6", &arch_x86_64, pair, 0, false, &m, false),
			    "4, NULL, NULL, NULL, NULL, {sigmask=[USR1], sigsetsize=8} "
			    "-> Timeout");
	assert_string_equal(decode("readv", &arch_x86_64, vector, EFAULT, true, &m, false),
			    "5, [{iov_base=0x10010, iov_len=8} "
			    "/* unreadable from entry 1 on */], 2 -> ");
	assert_string_equal(decode("readv", &arch_x86_64, none, 0, false, &m, false),
			    "5, [], 0 -> ");
	assert_string_equal(decode("execveat", &arch_x86_64,
				   (uint64_t[6]){ (uint64_t)-100, 0, 0, 0, 1ULL << 40 }, ENOENT, true,
				   &m, false),
			    "AT_FDCWD, NULL, NULL, NULL, 0 -> ");
}

/* Of the strings of an argv, so many bytes are copied that the BPF programs have room for them. */
static void test_argv(void **state)
{
	enum { STRINGS = 6, LONG = 4000, AT = 8 * 64 };
	static uint8_t b[AT + LONG + 1];
	const uint64_t args[6] = { 0, ADDR, 0 };
	const struct fake_mem m = fake_mem(ADDR, b, sizeof(b));
	const char *text;

	(void)state;
	for (size_t i = 0; i < STRINGS; i++)
		put64(b, 8 * i, ADDR + AT);
	memset(b + AT, 'x', LONG);
	text = decode("execve", &arch_x86_64, args, ENOENT, true, &m, false);
	for (size_t i = 0; i < 5; i++)
		assert_non_null(text = strchr(text + 1, '"') ? strchr(strchr(text + 1, '"') + 1, '"') : NULL);
	assert_string_equal(text, "\"... /* and more */], NULL -> ");
}

static void test_read_format(void **state)
{
	uint64_t group[] = { 2, 100, 50, 11, 21, 0, 12, 22, 3 };
	uint64_t one[] = { 7, 100, 50, 4 };
	const uint64_t args5[6] = { 5, ADDR, 72 }, args6[6] = { 6, ADDR, 32 };
	struct fake_mem m = fake_mem(ADDR, group, sizeof(group));

	(void)state;
	assert_string_equal(decode("read", &arch_x86_64, args5, 72, false, &m, false),
		"5, {nr=2, time_enabled=100, time_running=50, values=[{value=11 "
		"/* ran 50.00%: scaled 22 */, id=21, lost=0}, {value=12 "
		"/* ran 50.00%: scaled 24 */, id=22 /* page-faults */, lost=3}]}, 72 -> ");
	group[1] = 50;
	group[0] = ~0ULL; /* the count is not to be believed */
	assert_string_equal(decode("read", &arch_x86_64, args5, 72, false, &m, false),
		"5, {nr=18446744073709551615, time_enabled=50, time_running=50, "
		"values=[{value=11, id=21, lost=0}, {value=12, id=22 "
		"/* page-faults */, lost=3}]}, 72 -> ");
	m = fake_mem(ADDR, one, sizeof(one));
	/* 0x17: the format promises more than the 32 bytes that came */
	assert_string_equal(decode("read", &arch_x86_64, args6, 32, false, &m, false),
		"6, {value=7, time_enabled=100, time_running=50 /* ran 50.00%: scaled "
		"14 */, id=4}, 32 -> ");
	/* an event in error, and a buffer that is too small */
	assert_non_null(strstr(decode("read", &arch_x86_64, args6, 0, false, &m, false),
			       "/* event in error state"));
	assert_non_null(strstr(decode("read", &arch_x86_64, args6, 28, true, &m, false),
			       "/* buffer too small: this read_format has 40 bytes */"));
}

static void test_poll(void **state)
{
	uint8_t fds[16] = { 0 };
	const uint64_t args[6] = { ADDR, 2, 1000 };
	const uint64_t huge[6] = { ADDR, 0x7fffffff, 0 };
	const struct fake_mem m = fake_mem(ADDR, fds, sizeof(fds));

	(void)state;
	put32(fds, 0, 5);
	store_uint(fds + 4, 2, 1);
	store_uint(fds + 6, 2, 1);
	put32(fds, 8, 6);
	store_uint(fds + 12, 2, 1);
	assert_string_equal(decode("poll", &arch_x86_64, args, 1, false, &m, false),
		"[{fd=5, events=POLLIN}, {fd=6, events=POLLIN}], 2, 1000 -> "
		"[{fd=5, revents=POLLIN}]");
	assert_non_null(strstr(decode("poll", &arch_x86_64, huge, 22, true, &m, false),
			       "2147483645 more"));
	assert_non_null(strstr(decode("poll", &arch_x86_64, args, 0, false, &m, false),
			       "-> Timeout"));
}

/* A target that passes anything at all, in memory that holds anything. */
static void test_random(void **state)
{
	static const struct arch *const all[] = {
		&arch_x86_64, &arch_x86, &arch_x32, &arch_aarch64, &arch_arm,
		&arch_riscv64, &arch_ppc64le, &arch_s390x,
	};
	uint8_t *bytes;

	(void)state;
	srandom(20240607);
	for (unsigned int round = 0; round < 60000; round++) {
		const struct call_desc *d = &call_descs[(size_t)random() % CALL_COUNT];
		size_t len = (size_t)random() % 700;
		uint64_t args[6];
		struct fake_mem m;

		bytes = malloc(len ? len : 1);
		for (size_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)(random() % 3 ? random() : 0);
		if (len >= 8 && round % 2)
			put32(bytes, 4, (uint32_t)random() % 160);
		m = fake_mem(ADDR, bytes, len);
		for (size_t i = 0; i < 6; i++)
			args[i] = random() % 3 ? ADDR + (uint64_t)(random() % 64) * 8 :
						 (uint64_t)random() << 33 ^ (uint64_t)random();
		if (random() % 2)
			args[0] = 5 + (uint64_t)random() % 2;
		decode(d->name, all[round % (sizeof(all) / sizeof(*all))], args,
		       random() % 4 ? random() % 600 : -random(), random() % 4 == 0,
		       &m, random() % 2);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_clone),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_attr_generic),
		cmocka_unit_test(test_attr_config),
		cmocka_unit_test(test_attr_unions),
		cmocka_unit_test(test_attr_ignored),
		cmocka_unit_test(test_attr_sizes),
		cmocka_unit_test(test_attr_reserved),
		cmocka_unit_test(test_attr_unreadable),
		cmocka_unit_test(test_attr_every_length),
		cmocka_unit_test(test_size_written_back),
		cmocka_unit_test(test_ioctls),
		cmocka_unit_test(test_argv),
		cmocka_unit_test(test_read_format),
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
