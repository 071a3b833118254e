// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Attrs read back from text: known ones, cut ones, and random ones.  What is
 * expected is written out here, never taken from the tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/abi/attr.h"
#include "core/abi/attr_text.h"
#include "fake.h"
#include "formats/text/text.h"

#define AT 0x100000

static void put(uint8_t *b, size_t at, size_t width, uint64_t v)
{
	store_uint(b + at, width, v);
}

/* A copy of exactly len bytes, so that reading behind it is noticed. */
static char *exactly(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, text, len);
	return copy;
}

static enum attr_read read_one(const char *text, struct attr_text *a, char *why)
{
	size_t len = strlen(text);
	char *copy = exactly(text, len);
	struct attr_reader r;
	enum attr_read got;

	attr_reader_init(&r, copy, len);
	got = attr_reader_next(&r, a);
	strcpy(why, r.in.why);
	free(copy);
	return got;
}

static void expect(const char *text, const uint8_t *bytes, size_t len)
{
	struct attr_text a;
	char why[256];

	if (read_one(text, &a, why) != ATTR_READ)
		fail_msg("'%s' is not read: %s", text, why);
	assert_int_equal(a.len, len);
	assert_memory_equal(a.bytes, bytes, len);
}

static void expect_bad(const char *text, const char *inside)
{
	struct attr_text a;
	char why[256];

	if (read_one(text, &a, why) != ATTR_BAD)
		fail_msg("'%s' is read", text);
	if (!strstr(why, inside))
		fail_msg("'%s' is refused with '%s', without '%s'", text, why, inside);
}

/* type 1, size 128, period 4000, IP|TID, disabled, freq, precise_ip 2 */
static void plain(uint8_t *b)
{
	memset(b, 0, 128);
	put(b, 0, 4, 1);
	put(b, 4, 4, 128);
	put(b, 8, 8, 2);
	put(b, 16, 8, 4000);
	put(b, 24, 8, 3);
	put(b, 40, 8, bit_field(0, 1, 1) | bit_field(10, 1, 1) | bit_field(15, 2, 2));
}

static const char *const forms[] = {
	"{type=PERF_TYPE_SOFTWARE, size=PERF_ATTR_SIZE_VER7, "
	"config=PERF_COUNT_SW_PAGE_FAULTS, sample_freq=4000, "
	"sample_type=PERF_SAMPLE_IP|PERF_SAMPLE_TID, disabled=1, freq=1, "
	"precise_ip=2 /* requested to have 0 skid */}",
	"perf_event_open({type=PERF_TYPE_SOFTWARE, size=0x80 /* PERF_ATTR_SIZE_??? */, "
	"config=0x2, sample_freq=4000, sample_type=0x3 /* PERF_SAMPLE_??? */, "
	"read_format=0, disabled=1, freq=1, precise_ip=2 /* 0 skid */, ...}, 0, -1, -1, 0) "
	"= -1 EINVAL (Invalid argument)",
	"perf_event_attr:\n  type                             1\n"
	"  size                             128\n  config                           0x2\n"
	"  { sample_period, sample_freq }   4000\n"
	"  sample_type                      IP|TID\n  disabled                         1\n"
	"  freq                             1\n  precise_ip                       2\n"
	"------------------------------------------------------------\n"
	"sys_perf_event_open: pid 1 cpu 0\nmmap size 528384B\n",
	"perf_event_attr: type 1 (PERF_TYPE_SOFTWARE) size 128 config 0x2 "
	"(PERF_COUNT_SW_PAGE_FAULTS) { sample_period, sample_freq } 4000 sample_type IP|TID "
	"disabled 1 freq 1 precise_ip 2",
	"# Tip\npage-faults:pp: type: 1, size: 128, config: 0x2 (PERF_COUNT_SW_PAGE_FAULTS), "
	"{ sample_period, sample_freq }: 4000, sample_type: IP|TID, disabled: 1, freq: 1, "
	"precise_ip: 2\n",
	"[event-1-2-5]\nfd=5\ngroup_fd=-1\ncpu=0\npid=77\nflags=8\ntype=1\nsize=128\n"
	"config=2\nsample_period=4000\nsample_type=3\ndisabled=1\nfreq=1\nprecise_ip=2\n"
	"bp_type=0\nconfig1=0\n",
	"[config]\ncommand = record\n[event] type=1 size=128 config=2 sample_period=4000 "
	"sample_type=3 disabled=1 freq=1 precise_ip=2",
	"struct perf_event_attr a = {\n\t.type = PERF_TYPE_SOFTWARE,\n\t.size = 128, // VER7\n"
	"\t.config = PERF_COUNT_SW_PAGE_FAULTS, /* all */\n\t{ .sample_freq = 4000 },\n"
	"\t.sample_type = PERF_SAMPLE_IP |\n\t\tPERF_SAMPLE_TID,\n\t.disabled = 1, .freq = true,"
	"\n\t.precise_ip = (1ULL << 1),\n};\n",
	"memset(&attr, 0, sizeof(attr));\nattr.type = PERF_TYPE_SOFTWARE;\n"
	"attr.size = PERF_ATTR_SIZE_VER7; attr.config = 2; attr.sample_freq = 4000;\n"
	"attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID; p->disabled = 1;\n"
	"attr.freq = 1; attr.precise_ip = 2;\n",
	"type=1, size=128, config=2, sample_period=4000, sample_type=3, disabled=1, freq=1, "
	"precise_ip=2",
};

static void test_forms(void **state)
{
	uint8_t b[128];

	(void)state;
	plain(b);
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		expect(forms[i], b, sizeof(b));
}

static void test_bytes(void **state)
{
	uint8_t b[64] = { 1, 0, 0, 0, 64, 0, 0, 0, 7 };

	(void)state;
	expect("0100000040000000" "07", b, 9);
	expect("0x01000000 0x40000000 07\n", b, 9);
	expect("01 00 00 00 40 00 00 00 07", b, 9);
	expect("0x1 0x0 0x0 0x0 0x40 0x0 0x0 0x0 0x7", b, 9);
	expect("\\x01\\x00\\x00\\x00\\x40\\x00\\x00\\x00\\x07", b, 9);
	expect("\"\\1\\0\\0\\0@\\0\\0\\0\\7\"", b, 9);
	expect("\"\\1\\0\\0\\0\" \"@\\0\\0\\0\\a\"", b, 9);
	expect("{ 0x01, 0, 0, 0, 64, 0, 0, 0, 7, }", b, 9);
	expect("unsigned char a[] = {\n  0x01, 0x00, 0x00, 0x00, 0x40, 0, 0, 0, 0x07\n};\n"
	       "unsigned int a_len = 9;\n", b, 9);
	expect_bad("010", "two make a byte");
	expect_bad("1, 256, 0, 0, 0, 0, 0, 0", "above 255");
	expect_bad("01 02", "too few for an attr");
	expect_bad("\"\\1", "quote");
	expect_bad("\"\\q\"", "escape");
}

static void test_several(void **state)
{
	static const char text[] =
		"{type=1, size=64} {si_signo=SIGCHLD} {type=2, size=64}";
	struct attr_reader r;
	struct attr_text a;

	(void)state;
	attr_reader_init(&r, text, strlen(text));
	assert_int_equal(attr_reader_next(&r, &a), ATTR_READ);
	assert_int_equal(load_uint(a.bytes, 4), 1);
	assert_int_equal(attr_reader_next(&r, &a), ATTR_READ);
	assert_int_equal(load_uint(a.bytes, 4), 2);
	assert_int_equal(attr_reader_next(&r, &a), ATTR_END);
}

static void test_special(void **state)
{
	uint8_t b[160] = { 0 };
	struct attr_text a;
	char why[256];

	(void)state;
	/* the bits that strace 6.1 does not know begin at 38 */
	put(b, 0, 4, 1);
	put(b, 4, 4, 64);
	put(b, 40, 8, bit_field(38, 26, 9));
	expect("{type=1, size=64, __reserved_1=0x9 /* Bits 63..38 */}", b, 64);
	put(b, 40, 8, bit_field(40, 24, 1));
	expect("{type=1, size=64, __reserved_1=0x1}", b, 64);
	put(b, 40, 8, 0);
	/* one of two names of a place; zero under the other says nothing */
	put(b, 0, 4, 5);
	put(b, 52, 4, 3);
	put(b, 56, 8, 0x601040);
	expect("{type=PERF_TYPE_BREAKPOINT, size=64, bp_type=HW_BREAKPOINT_R|HW_BREAKPOINT_W, "
	       "bp_addr=0x601040, config1=0}", b, 64);
	expect_bad("{type=5, size=64, bp_addr=1, config1=2}", "two values");
	/* clockid is signed; what was there before the kernel wrote counts */
	memset(b, 0, sizeof(b));
	put(b, 4, 4, 96);
	put(b, 92, 4, (uint64_t)-3);
	expect("{type=0, size=96 => 136, clockid=-3}", b, 96);
	/* bytes that nobody knows */
	put(b, 92, 4, 0);
	put(b, 4, 4, 146);
	b[144] = 1;
	b[145] = 2;
	expect("{type=0, size=146, unknown=[{offset=144, bytes=0x0102}]}", b, 146);
	assert_int_equal(read_one("{type=8, size=72, uprobe_path=\"/bin/\\\"x\", probe_offset=4, "
				  "...}", &a, why), ATTR_READ);
	assert_true(a.elided);
	assert_int_equal(a.nstrings, 1);
	assert_string_equal((char *)a.pool + a.strings[0].at, "/bin/\"x");
	assert_int_equal(read_one("{type=1, size=64, bogus=1, sample_freq=9}", &a, why), ATTR_READ);
	assert_string_equal(a.left_out, "bogus");
	assert_int_equal(load_uint(a.bytes + 16, 8), 9);
	assert_int_equal(read_one("{type=1, size=64, config=cfg, sample_freq=9}", &a, why), ATTR_READ);
	assert_string_equal(a.left_out, "config (a variable)");
	assert_true(a.elided);
	expect_bad("{type=1, size=64, sample_type=PERF_SAMPLE_FOO}", "PERF_SAMPLE_FOO");
	expect_bad("{type=1, size=64", "truncated");
	expect_bad("{type=1,\nsize=64,\nprecise_ip=4}", "line 3: precise_ip has 2 bits");
	expect_bad("{type=0x10000000000000000, size=64}", "64 bits");
	expect_bad("[event]\ntype=0|1\nsize=64", "expects");
	expect_bad("[event]\ntype=*\nsize=64", "expects");
	expect_bad("hello", "neither");
	expect_bad("", "neither");
}

static uint64_t seed = 0x9e3779b97f4a7c15ULL;

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void to_text(const struct attr_text *a, struct buf *out)
{
	struct call c = { .arch = &arch_x86_64 };
	struct text_sink t;

	attr_text_capture(a, &c, AT);
	buf_reset(out);
	text_sink_init(&t, out);
	t.sink.full = true;
	t.sink.max_string = ATTR_TEXT_MAX;
	attr_emit(&c, AT_SYSCALL_ENTER, "attr", AT, &fake_names, &t.sink);
	call_free(&c);
}

/* Random bytes, printed in full, are the same bytes when read back. */
static void test_round_trip(void **state)
{
	static const uint32_t sizes[] = { 0, 64, 72, 80, 96, 100, 104, 112, 120, 128, 136, 144,
					  200, 4096, 8, 5000 };
	struct buf text = { 0 };
	uint8_t b[ATTR_TEXT_MAX];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t size = sizes[any() % 16];
		uint64_t thin = any() % 3;
		struct attr_text a, back;
		struct text_cursor c = { .why = "" };
		struct attr_reader r;

		for (size_t k = 0; k < sizeof(b); k += 8) {
			uint64_t v = any();

			v = thin == 0 ? v : thin == 1 ? v & any() & any() : v & 0x0101;
			memcpy(b + k, &v, 8);
		}
		if (any() % 4)
			put(b, 0, 4, any() % 12);
		if (any() % 3 == 0)
			put(b, 8, 8, any() % 20);
		put(b, 4, 4, size);
		assert_true(attr_text_bytes(&c, b, sizeof(b), &a));
		if (i % 50 && a.len > 300)
			continue; /* long ones take long */
		to_text(&a, &text);
		attr_reader_init(&r, buf_str(&text), text.len);
		if (attr_reader_next(&r, &back) != ATTR_READ)
			fail_msg("not read, %s: ...%s", r.in.why, buf_str(&text));
		assert_int_equal(back.len, a.len);
		for (size_t k = 0; k < a.len; k++)
			if (back.bytes[k] != a.bytes[k])
				fail_msg("byte %zu of %s", k, buf_str(&text));
	}
	buf_free(&text);
}

static void read_all(const char *text, size_t len)
{
	char *copy = exactly(text, len);
	struct attr_text a;
	struct attr_reader r;
	int n = 0;

	attr_reader_init(&r, copy, len);
	while (attr_reader_next(&r, &a) == ATTR_READ) {
		assert_true(a.len <= ATTR_TEXT_MAX);
		assert_true(++n < 10000);
	}
	free(copy);
}

/* Texts cut at every length, with pieces exchanged, and of random characters. */
static void test_hostile_text(void **state)
{
	static const char some[] = "{}[]=:|<>()/*\\\"',;.-~0123456789abcxtype size\n\t";
	char text[600];

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		for (size_t len = 0; len <= strlen(forms[i]); len++)
			read_all(forms[i], len);
	for (int i = 0; i < 60000; i++) {
		const char *form = forms[any() % (sizeof(forms) / sizeof(*forms))];
		size_t len = strlen(form);

		len = len < sizeof(text) ? len : sizeof(text);
		memcpy(text, form, len);
		for (uint64_t n = any() % 6; n; n--)
			text[any() % len] = any() % 9 ? some[any() % (sizeof(some) - 1)] :
							(char)any();
		if (any() % 3 == 0) {
			size_t from = any() % len, to = any() % len, n = any() % 40;

			while (n-- && from < len && to < len)
				text[to++] = text[from++];
		}
		read_all(text, len);
		for (size_t k = 0; k < 60; k++)
			text[k] = some[any() % (sizeof(some) - 1)];
		read_all(text, 60);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_special),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_hostile_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
