// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What pevtrace conform reads pages by: markup of all kinds, structures against the
 * places that the compiler has for them, and bytes that are no page at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conform/api_desc.h"
#include "conform/compare.h"
#include "conform/pseudo.h"
#include "conform/roff.h"
#include "core/abi/layout.h"
#include "core/lib/buf.h"

/* Markup -------------------------------------------------------------------------------- */

static void note_line(void *ctx, const struct roff_line *l)
{
	static const char kinds[] = {
		[ROFF_TITLE] = 'T', [ROFF_SECTION] = 'H', [ROFF_SUBSECTION] = 'S',
		[ROFF_TAG] = 'G', [ROFF_TEXT] = 'X', [ROFF_CODE] = 'C', [ROFF_BREAK] = '-',
	};

	assert_int_equal(strlen(l->text), l->len);
	assert_int_equal(strlen(l->fonts), l->len);
	if (l->kind != ROFF_BREAK)
		buf_addf(ctx, "%c%u %s|%s\n", kinds[l->kind], l->line, l->text, l->fonts);
}

static void reads(const char *page, const char *expected)
{
	struct buf got = { 0 };

	roff_read(page, strlen(page), note_line, &got);
	assert_string_equal(buf_str(&got), expected);
	buf_free(&got);
}

static void markup(void **state)
{
	(void)state;
	reads(".SH NAME\nx \\- y\\&z\n", "H1 NAME|RRRR\nX2 x - yz|RRRRRR\n");
	reads(".TP\n.\\\" comment\n.BR A \" (since B)\"\ntext\n",
	      "G3 A (since B)|BRRRRRRRRRR\nX4 text|RRRR\n");
	reads(".TP\n\\fBA\\fP (\\fIb\\fR)\n", "G2 A (b)|BRRIR\n");
	reads(".TP\n.B A\n.TQ\n.I b\n", "G2 A|B\nG4 b|I\n");
	reads(".IP \\(bu 2\n.IP tag 4\nx\n", "G2 tag|RRR\nX3 x|R\n");
	reads(".EX\n\\&\na\\->b \\(aq \\[aq] \\en\n.EE\nx\n",
	      "C2 |\nC3 a->b ' ' \\n|RRRRRRRRRRR\nX5 x|R\n");
	reads(".nf\nstruct {\n.fi\n", "C2 struct {|RRRRRRRR\n");
	reads(".BI a b \\\nc\n", "X1 abc|BIB\n");
	reads(".B\nbold\nroman\n", "X2 bold|BBBB\nX3 roman|RRRRR\n");
	reads(".IR \"a \"\"b\" c\\~d\n", "X1 a \"bc d|IIIIRRR\n");
	reads(".de XX\n.B lost\n..\nkept\n.ig\nlost\n..\n", "X4 kept|RRRR\n");
	reads("'br\n.XX unknown\n.\nx\\\"y\n", "X4 x|R\n");
	reads("\\s-1a\\s0 \\f[B]b\\f[] \\*(xxc \\w'abc'd\\ze\n", "X1 a b c de|RRBRRRRR\n");
}

/* Structures ---------------------------------------------------------------------------- */

struct oracle {
	uint8_t one;
	uint64_t eight;
	union {
		uint32_t u;
		struct { uint16_t lo, hi; };
		uint64_t wide;
	};
	uint16_t array[3];
	uint64_t bits_a : 3, bits_b : 60, bits_c : 2;
	uint32_t last;
};

static const char oracle_text[] =
	"struct oracle {\n"
	"	u8 one;	/* of them */\n"
	"	__u64 eight;\n"
	"	union {\n"
	"		u32 u;\n"
	"		struct { u16 lo, hi; };\n"
	"		u64 wide;\n"
	"	};\n"
	"	u16 array[3];\n"
	"	__u64 bits_a : 3,	/* some */\n"
	"	      bits_b / bits_other : 60,\n"
	"	      bits_c : 2,\n"
	"	;\n"
	"	u32 last;\n"
	"}\n";

static const struct api_member *member(const struct api_struct *st, const char *name)
{
	const struct api_member *m = api_member(st, name);

	assert_non_null(m);
	assert_true(m->placed);
	return m;
}

static void structures(void **state)
{
	struct api_desc s = { .file = NULL };
	const struct api_struct *st;
	struct oracle o;
	uint8_t *bytes = (uint8_t *)&o;
	unsigned int bit;

	(void)state;
	pseudo_structs(oracle_text, 10, &s);
	assert_int_equal(s.nstructs, 1);
	st = &s.structs[0];
	assert_string_equal(st->name, "oracle");
	assert_int_equal(st->line, 10);
	assert_int_equal(member(st, "eight")->start, 8 * offsetof(struct oracle, eight));
	assert_int_equal(member(st, "u")->start, 8 * offsetof(struct oracle, u));
	assert_int_equal(member(st, "hi")->start, 8 * offsetof(struct oracle, hi));
	assert_int_equal(member(st, "wide")->bits, 64);
	assert_int_equal(member(st, "array")->start, 8 * offsetof(struct oracle, array));
	assert_int_equal(member(st, "array")->bits, 8 * sizeof(o.array));
	assert_int_equal(member(st, "last")->start, 8 * offsetof(struct oracle, last));
	assert_int_equal(member(st, "last")->line, 23);
	memset(&o, 0, sizeof(o));
	o.bits_c = BIG_ENDIAN_HERE ? 2 : 1;	/* its first bit */
	bit = member(st, "bits_c")->start % 8;
	assert_int_equal(bytes[member(st, "bits_c")->start / 8],
			 BIG_ENDIAN_HERE ? 0x80 >> bit : 1 << bit);
	assert_int_equal(member(st, "bits_other")->start, member(st, "bits_b")->start);
	assert_int_equal(member(st, "bits_b")->bits, 60);
	api_desc_free(&s);
}

static void conditions(void **state)
{
	struct api_desc s = { .file = NULL };
	const struct api_struct *st;

	(void)state;
	pseudo_structs("struct {\n"
		       "  { u32 pid, tid; } /* if PERF_SAMPLE_TID set */\n"
		       "  u32 cpu, res; // with PERF_SAMPLE_CPU\n"
		       "  u64 w;\n"
		       "	/* if PERF_SAMPLE_WEIGHT */\n"
		       "	/* || PERF_SAMPLE_WEIGHT_STRUCT */\n"
		       "  struct { /* if PERF_X */ u8 a; };\n"
		       "  struct { u64 dev, inode } [nr];\n"
		       "};", 1, &s);
	assert_int_equal(s.nstructs, 1);
	st = &s.structs[0];
	assert_string_equal(api_member(st, "pid")->when, "PERF_SAMPLE_TID");
	assert_string_equal(api_member(st, "cpu")->when, "PERF_SAMPLE_CPU");
	assert_string_equal(api_member(st, "w")->when,
			    "PERF_SAMPLE_WEIGHT PERF_SAMPLE_WEIGHT_STRUCT");
	assert_string_equal(api_member(st, "a")->when, "PERF_X");
	assert_non_null(api_member(st, "inode"));
	assert_null(api_member(st, "inode")->when);
	api_desc_free(&s);
}

/* Differences --------------------------------------------------------------------------- */

static void note_diff(void *ctx, enum finding_kind kind, const struct api_member *right,
		      const struct api_member *said)
{
	static const char kinds[] = {
		[FINDING_MEMBER_MISSING] = '-', [FINDING_MEMBER_EXTRA] = '+',
		[FINDING_MEMBER_WIDTH] = 'w', [FINDING_MEMBER_NAME] = 'n',
		[FINDING_MEMBER_WHEN] = 'c', [FINDING_MEMBER_ORDER] = 'o',
		[FINDING_MEMBER_PLACE] = 'p', [FINDING_MEMBER_SIGN] = 's', [FINDING_BITS] = '<',
	};

	buf_addf(ctx, "%c%s", kinds[kind], right ? right->name : said ? said->name : "");
}

static void differ(const char *right, const char *said, const char *expected)
{
	struct api_struct a = { .name = NULL }, b = { .name = NULL };
	struct buf got = { 0 };

	pseudo_members(right, 1, &a);
	pseudo_members(said, 1, &b);
	member_diff(&a, &b, note_diff, &got);
	assert_string_equal(buf_str(&got), expected);
	buf_free(&got);
	api_desc_struct_free(&a);
	api_desc_struct_free(&b);
}

static void differences(void **state)
{
	(void)state;
	differ("u32 a; u32 b;", "u32 a; u32 b;", "");
	differ("u32 a; u32 b;", "u32 a;", "-b");
	differ("u32 a;", "u32 a; u32 b;", "+b");
	differ("u32 a; u16 b;", "u32 a; u32 b;", "wb");
	differ("u32 a; s32 b; char c;", "s32 a; int b; u8 c;", "sa");
	differ("u32 a; u32 b;", "u32 b; u32 a;", "oa");
	differ("u32 abc; u32 b;", "u32 abd; u32 b;", "nabc");
	differ("u64 a; /* if PERF_X */", "u64 a; /* if PERF_Y */", "ca");
	differ("u32 a; u32 __reserved_1; u64 b;", "u16 a; u64 b;", "-__reserved_1wa");
	differ("union { u32 a; u32 b; };", "union { u32 b; u32 a; };", "");
	differ("u32 a; u64 b;", "u32 a; u32 __reserved; u32 __reserved_2; u64 b;", "pb");
}

/* Anything ------------------------------------------------------------------------------ */

static void compare_bytes(const char *bytes, size_t len)
{
	struct conform c = { .nchecks = 0 };

	tables_read(&c.tables);
	c.header.source = FINDING_HEADER;
	c.btf.source = FINDING_BTF;
	page_parse(bytes, len, "page", &c.page);
	compare_page(&c);
	for (size_t i = 0; i < c.nchecks; i++)
		assert_true(c.checks[i].first <= c.found.n);
	conform_free(&c);
}

static const char pieces[][24] = {
	".TP\n", ".BR ", ".EX\n", ".EE\n", "struct {", "}", "/*", "*/", "PERF_SAMPLE_IP ", "\\f[",
	"\\(", "\\", "\"", "\n", "u64 a", ";", ":", ",", "[", "]", "(since Linux 4.1)", "EINVAL",
	".SH ", "perf_event_attr {", "PERF_RECORD_MMAP\n", " 99999999999", "union {", "\\n",
	".de\n", "\\s+", "\\w'", "read_format", "is 72", ".B\n", "{", " / ", "header", "_",
};

static void anything(void **state)
{
	unsigned int seed = 8;

	(void)state;
	compare_bytes("", 0);
	compare_bytes("\0", 1);
	for (int i = 0; i < 300; i++) {
		struct buf page = { 0 };

		for (int n = 0; n < 200; n++)
			if (rand_r(&seed) % 8)
				buf_adds(&page, pieces[(size_t)rand_r(&seed) %
						       (sizeof(pieces) / sizeof(*pieces))]);
			else
				buf_addc(&page, (char)rand_r(&seed));
		compare_bytes(buf_str(&page), page.len);
		buf_free(&page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markup),
		cmocka_unit_test(structures),
		cmocka_unit_test(conditions),
		cmocka_unit_test(differences),
		cmocka_unit_test(anything),
	};

	return cmocka_run_group_tests_name("conform", tests, NULL, NULL);
}
