// SPDX-License-Identifier: LGPL-2.1-or-later
/* Values of all kinds as JSON, read back by json-c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <json-c/json_tokener.h>

#include "core/lib/buf.h"
#include "formats/json/json_text.h"
#include "scan_oracle.h"
#include "xlat/tables.h"

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return v;
}

static void expect(struct json_text *j, const char *want)
{
	struct buf got = json_text_end(j);

	assert_int_equal(got.len, strlen(buf_str(&got)));
	assert_string_equal(buf_str(&got), want);
	buf_free(&got);
}

/* End the object, which json-c must be able to read: return what it reads. */
static struct json_object *read_back(struct json_text *j)
{
	struct json_tokener *tok = json_tokener_new_ex(8 * JSON_TEXT_DEPTH);
	struct buf line = json_text_end(j);
	struct json_object *again;

	assert_null(memchr(line.data, '\n', line.len));
	json_tokener_set_flags(tok, oracle_flags());
	again = json_tokener_parse_ex(tok, line.data, (int)line.len);
	assert_non_null(again);
	json_tokener_free(tok);
	buf_free(&line);
	return again;
}

static void test_sink(void **state)
{
	static const struct sink_part parts[] = {
		{ &xlat_perf_type_id, 1, 0 }, { NULL, 7, 8 },
	};
	struct json_text j;
	struct sink *s = &j.sink;

	(void)state;
	json_text_begin(&j);
	sink_uint(s, "u", UINT64_MAX);
	sink_sint(s, "s", INT64_MIN);
	sink_hex(s, "h", 0);
	sink_addr(s, "a", UINT64_MAX);
	sink_uint(s, "config", 16);
	sink_enum(s, "type", &xlat_perf_type_id, 1);
	sink_enum(s, "odd", &xlat_perf_type_id, 99);
	sink_packed(s, "p", 0x701, parts, 2);
	sink_symbol(s, "w", "SIGIO");
	sink_string(s, "t", "a\"b", 3, true);
	sink_bytes(s, "b", "\x00\xff", 2, false);
	sink_fd(s, "fd", -1, NULL);
	sink_fd(s, "fd2", 5, "x");
	sink_note(s, "words", "n");
	expect(&j, "{\"u\":18446744073709551615,\"s\":-9223372036854775808,"
	       "\"h\":\"0x0\",\"a\":\"0xffffffffffffffff\",\"config\":\"0x10\","
	       "\"type\":1,\"type_name\":\"PERF_TYPE_SOFTWARE\",\"odd\":99,"
	       "\"p\":\"0x701\",\"p_names\":[\"PERF_TYPE_SOFTWARE\"],\"w\":\"SIGIO\","
	       "\"t\":\"a\\\"b\",\"t_cut\":true,\"b\":\"00ff\",\"fd\":-1,\"fd2\":5,"
	       "\"fd2_label\":\"x\",\"fd2_words\":\"n\"}");
}

static void test_sink_flags(void **state)
{
	struct json_text j;
	struct sink *s = &j.sink;
	struct json_object *o;

	(void)state;
	json_text_begin(&j);
	sink_flags(s, "none", &xlat_si_perf_flags, 0);
	sink_flags(s, "f", &xlat_si_perf_flags, 1ULL << 63 | 1);
	o = read_back(&j);
	assert_string_equal(json_object_get_string(member(o, "none")), "0x0");
	assert_int_equal(json_object_array_length(member(o, "none_names")), 0);
	assert_null(member(o, "none_unknown"));
	assert_string_equal(json_object_get_string(member(o, "f")), "0x8000000000000001");
	assert_int_equal(json_object_array_length(member(o, "f_names")), 1);
	assert_string_equal(json_object_get_string(member(o, "f_unknown")),
			    "0x8000000000000000");
	json_object_put(o);
}

static void test_sink_shapes(void **state)
{
	struct json_text j;
	struct sink *s = &j.sink;

	(void)state;
	json_text_begin(&j);
	sink_begin(s, "list", SINK_ARRAY);
	sink_begin(s, NULL, SINK_OBJECT);
	sink_fd(s, "fd", 3, "e");
	sink_end(s);
	sink_uint(s, NULL, 2);
	sink_end(s);
	sink_note(s, "more", "2 more");
	sink_begin(s, "empty", SINK_OBJECT);
	sink_end(s);
	sink_begin(s, "strings", SINK_ARRAY);
	sink_string(s, NULL, "\xff", 1, true);
	sink_end(s);
	expect(&j, "{\"list\":[{\"fd\":3,\"fd_label\":\"e\"},2],\"list_more\":\"2 more\","
	       "\"empty\":{},\"strings\":[\"\xef\xbf\xbd\"],\"strings_hex\":\"ff\","
	       "\"strings_cut\":true}");
}

/* Deeper than there is room for: everything is still one valid object. */
static void test_sink_depth(void **state)
{
	struct json_text j;
	struct sink *s = &j.sink;

	(void)state;
	json_text_begin(&j);
	for (unsigned int i = 0; i < 4 * JSON_TEXT_DEPTH; i++)
		sink_begin(s, i % 2 ? "o" : "l", i % 2 ? SINK_OBJECT : SINK_ARRAY);
	sink_uint(s, "u", 1);
	sink_note(s, "words", "n");
	for (unsigned int i = 0; i < 4 * JSON_TEXT_DEPTH; i++)
		sink_end(s);
	sink_uint(s, "last", 1);
	json_object_put(read_back(&j));
}

/* Members that are put in as objects, in every state of the object that they join. */
static void test_join(void **state)
{
	struct json_text j, other;

	(void)state;
	json_text_begin(&j);
	json_text_begin(&other);
	assert_true(json_text_empty(&j));
	json_add_members(&j, &other);
	assert_true(json_text_empty(&j));
	json_text_begin(&other);
	json_add_string(&other, "x", "\xff");
	json_add_members(&j, &other);
	assert_false(json_text_empty(&j));
	json_add_string(&j, "none", NULL);
	json_add_string(&j, "y", "\x80");
	json_text_begin(&other);
	json_add_bool(&other, "yes", true);
	json_add_members(&j, &other);
	json_text_begin(&other);
	json_add_raw(&other, "us", "1.500");
	json_add_object(&j, "z", &other);
	json_text_drop(&other);
	expect(&j, "{\"x\":\"\xef\xbf\xbd\",\"x_hex\":\"ff\",\"none\":null,"
	       "\"y\":\"\xef\xbf\xbd\",\"y_hex\":\"80\",\"yes\":true,\"z\":{\"us\":1.500}}");
	json_text_drop(&j);
}

/* Any bytes: valid JSON and UTF-8, and nothing is lost that is UTF-8 itself. */
static void test_hostile_text(void **state)
{
	static const struct { const char *text; size_t len; bool clean; } all[] = {
		{ "", 0, true }, { "a", 1, true }, { "\"\\/\b\f\n\r\t\x01\x1f\x7f", 11, true },
		{ "\0", 1, true }, { "a\0b", 3, true }, { "\xc3\xa9", 2, true },
		{ "\xe2\x82\xac", 3, true }, { "\xf0\x9f\x90\x9d", 4, true },
		{ "\xf4\x8f\xbf\xbf", 4, true }, { "\xef\xbf\xbd", 3, true },
		{ "\xff", 1, false }, { "\x80", 1, false }, { "\xc3", 1, false },
		{ "\xc0\x80", 2, false }, { "\xc1\xbf", 2, false },
		{ "\xe0\x80\x80", 3, false }, { "\xed\xa0\x80", 3, false },
		{ "\xf0\x80\x80\x80", 4, false }, { "\xf4\x90\x80\x80", 4, false },
		{ "\xf5\x80\x80\x80", 4, false }, { "\xe2\x82", 2, false },
		{ "\xf0\x9f\x90", 3, false }, { "a\xe2\x82z", 4, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct json_object *again, *v;
		struct json_text j;

		json_text_begin(&j);
		sink_string(&j.sink, "t", all[i].text, all[i].len, false);
		again = read_back(&j);
		assert_int_equal(!member(again, "t_hex"), all[i].clean);
		v = member(again, "t");
		assert_non_null(v);
		if (all[i].clean) {
			assert_int_equal(json_object_get_string_len(v), all[i].len);
			assert_memory_equal(json_object_get_string(v), all[i].text, all[i].len);
		}
		json_object_put(again);
	}
}

static void test_random_text(void **state)
{
	(void)state;
	srandom(11);
	for (unsigned int round = 0; round < 20000; round++) {
		struct json_object *again, *v;
		size_t len = (size_t)random() % 12;
		char *text = malloc(len ? len : 1);
		struct json_text j;

		for (size_t i = 0; i < len; i++)
			text[i] = (char)(random() % 3 ? random() | 0x80 : random());
		json_text_begin(&j);
		sink_string(&j.sink, "t", text, len, false);
		again = read_back(&j);
		/* the bytes can be had back, one way or the other */
		v = member(again, "t_hex");
		if (!v)
			assert_memory_equal(json_object_get_string(member(again, "t")),
					    text, len);
		else
			assert_int_equal(json_object_get_string_len(v), 2 * len);
		json_object_put(again);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sink),
		cmocka_unit_test(test_sink_flags),
		cmocka_unit_test(test_sink_shapes),
		cmocka_unit_test(test_sink_depth),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_hostile_text),
		cmocka_unit_test(test_random_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
