// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The scanner of JSON: what it takes and what it says of the rest, and json-c
 * as the oracle for random changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "core/lib/buf.h"
#include "scan_oracle.h"

static const char *said(struct json_scan *s, const char *text, size_t len)
{
	char *copy = malloc(len + 1);
	bool good;

	memcpy(copy, text, len);
	good = json_scan_text(s, copy, len);
	free(copy);
	return good ? "" : json_scan_error(s);
}

struct text_case {
	const char *text, *why;		/* "": it is taken */
};

static void test_cases(void **state)
{
	static const struct text_case cases[] = {
		{ "{}", "" }, { "[]", "" }, { "0", "" }, { "null", "" }, { "\"\"", "" },
		{ " \t\r\n{ } \n", "" }, { "[true,false,null]", "" },
		{ "[-0,0,1,10,-7,0.5,1e9,1E+9,2.5e-3,1e400]", "" },
		{ "{\"a\":1,\"b\":{\"a\":1},\"c\":[{\"a\":1},{\"a\":2}]}", "" },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\udc1d\\ud800\"", "" },
		{ "\"\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9d\"", "" },
		/* names are compared as they are meant, to their end */
		{ "{\"a\":1,\"A\":1,\"a \":1,\"\":1,\"a\\u0000\":1,\"a\\u0000b\":1}", "" },
		{ "{\"a\":1,\"a\":1}", "column 8: duplicate name \"a\"" },
		{ "{\"a\":1,\"\\u0061\":1}", "column 8: duplicate name \"a\"" },
		{ "[{\"\":1, \"\":1}]", "column 9: duplicate name \"\"" },
		{ "{\"a\":{\"b\":{},\"c\":0,\"b\":0}}",
		  "column 20: duplicate name \"b\"" },
		{ "{\"\\n\\u001b[2J\":1,\"\\n\\u001b[2J\":1}",
		  "column 18: duplicate name \"\n\x1b[2J\"" },
		{ "", "an empty line" },
		{ " ", "JSON that is cut off" }, { "{", "JSON that is cut off" },
		{ "{\"a", "JSON that is cut off" }, { "{\"a\"", "JSON that is cut off" },
		{ "{\"a\":", "JSON that is cut off" }, { "{\"a\":1", "JSON that is cut off" },
		{ "{\"a\":1,", "JSON that is cut off" }, { "[", "JSON that is cut off" },
		{ "[1", "JSON that is cut off" }, { "[1,", "JSON that is cut off" },
		{ "tru", "JSON that is cut off" }, { "-", "JSON that is cut off" },
		{ "1.", "JSON that is cut off" }, { "1e+", "JSON that is cut off" },
		{ "\"\\", "JSON that is cut off" }, { "\"\\u00", "JSON that is cut off" },
		{ "{}{}", "column 3: more than one value" },
		{ "{} x", "column 4: more than one value" },
		{ "x", "column 1: expected a value" },
		{ "[,]", "column 2: expected a value" },
		{ "[1,]", "column 4: expected a value" },
		{ "{\"a\":}", "column 6: expected a value" },
		{ "[1 2]", "column 4: expected ',' or ']'" },
		{ "[1}", "column 3: expected ',' or ']'" },
		{ "{\"a\":1]", "column 7: expected ',' or '}'" },
		{ "{,}", "column 2: expected a name in quotes" },
		{ "{\"a\":1,}", "column 8: expected a name in quotes" },
		{ "{'a':1}", "column 2: expected a name in quotes" },
		{ "{a:1}", "column 2: expected a name in quotes" },
		{ "{\"a\",1}", "column 5: expected ':'" },
		{ "[truE]", "column 5: expected true, false or null" },
		{ "[True]", "column 2: expected a value" },
		{ "[NaN]", "column 2: expected a value" },
		{ "[-Infinity]", "column 3: expected a digit" },
		{ "[+1]", "column 2: expected a value" },
		{ "[.5]", "column 2: expected a value" },
		{ "[1.]", "column 4: expected a digit" },
		{ "[1e]", "column 4: expected a digit" },
		{ "[01]", "column 3: expected ',' or ']'" },
		{ "[-01]", "column 4: expected ',' or ']'" },
		{ "[0x1]", "column 3: expected ',' or ']'" },
		{ "[/**/1]", "column 2: expected a value" },
		{ "[1]//", "column 4: more than one value" },
		{ "[\"\t\"]", "column 3: a control byte in a string" },
		{ "[\"\\x\"]", "column 4: invalid escape" },
		{ "[\"\\u12g4\"]", "column 7: \\u without four hexadecimal digits" },
		{ "[\"\xff\"]", "column 3: not UTF-8" },
		{ "[\"a\xc0\x80\"]", "column 4: not UTF-8" },
		{ "[\"\xed\xa0\x80\"]", "column 3: not UTF-8" },
		{ "\xef\xbb\xbf{}", "column 1: expected a value" },
		{ "[\v1]", "column 2: expected a value" },
	};
	struct json_scan *s = json_scan_new(ORACLE_NESTING);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t len = strlen(cases[i].text);
		const char *wrong;

		assert_string_equal(said(s, cases[i].text, len), cases[i].why);
		wrong = oracle_disagrees(s, cases[i].text, len);
		if (wrong)
			fail_msg("%s: %s", cases[i].text, wrong);
	}
	assert_string_equal(said(s, "[\0]", 3), "column 2: expected a value");
	assert_string_equal(said(s, "[\"\0\"]", 5), "column 3: a control byte in a string");
	assert_string_equal(said(s, "{}\0", 3), "column 3: more than one value");
	json_scan_free(s);
}

/* Which bytes a string may have as they are. */
static void test_bytes(void **state)
{
	struct json_scan *s = json_scan_new(ORACLE_NESTING);

	(void)state;
	for (int c = 0; c < 256; c++) {
		const char text[] = { '"', 'a', (char)c, 'b', '"' };
		/* a backslash makes an escape of what follows */
		bool good = c >= ' ' && c != '"' && c < 0x80;

		assert_int_equal(!*said(s, text, 5), good);
		assert_null(oracle_disagrees(s, text, 5));
	}
	json_scan_free(s);
}

/* A name in a message: never longer than fits, never half a character. */
static void test_long_names(void **state)
{
	struct json_scan *s = json_scan_new(ORACLE_NESTING);
	struct buf text = { 0 };
	const char *why;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		buf_adds(&text, i ? ",\"" : "{\"");
		for (unsigned int k = 0; k < 1000; k++)
			buf_adds(&text, "\xe2\x82\xac");
		buf_adds(&text, "\":1");
	}
	buf_adds(&text, "}");
	why = said(s, text.data, text.len);
	assert_true(oracle_utf8(why, strlen(why)));
	assert_non_null(strstr(why, "duplicate name "));
	buf_free(&text);
	json_scan_free(s);
}

static void test_nesting(void **state)
{
	struct json_scan *s = json_scan_new(ORACLE_NESTING);

	(void)state;
	for (size_t deep = 30; deep < 35; deep++)
		for (unsigned int kind = 0; kind < 3; kind++) {
			struct buf text = { 0 };
			const char *wrong;

			for (size_t i = 0; i < deep; i++)
				buf_adds(&text, kind == 2 ? "{\"a\":" : "[");
			buf_adds(&text, kind == 0 ? "" : "1");
			for (size_t i = 0; i < deep; i++)
				buf_adds(&text, kind == 2 ? "}" : "]");
			assert_int_equal(!*said(s, text.data, text.len),
					 deep + !!kind <= ORACLE_NESTING);
			wrong = oracle_disagrees(s, text.data, text.len);
			if (wrong)
				fail_msg("%s: %s", text.data, wrong);
			buf_free(&text);
		}
	assert_string_equal(said(s, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 40),
			    "column 33: nested deeper than 32");
	json_scan_free(s);
}

/* Names that a hash without a secret would all throw together, or not tell apart. */
static void test_many_names(void **state)
{
	enum { MANY = 100000 };
	struct json_scan *s = json_scan_new(ORACLE_NESTING);
	char twice[64];

	(void)state;
	for (unsigned int round = 0; round < 2; round++) {
		struct buf text = { 0 };
		char *copy;

		buf_adds(&text, "{\"first\":0");
		for (unsigned int i = 0; i < MANY; i++)
			buf_addf(&text, ",\"%u\":%u", i, i);
		if (round)
			buf_addf(&text, ",\"%u\":0", MANY / 2);
		snprintf(twice, sizeof(twice), "column %zu: duplicate name \"50000\"",
			 text.len - 8);
		buf_adds(&text, "}");
		assert_string_equal(said(s, text.data, text.len), round ? twice : "");
		if (!round) {
			copy = strdup(text.data);
			assert_string_equal(json_scan_member(json_scan_text(s, copy, text.len),
							     "99999")->key, "99999");
			free(copy);
		}
		buf_free(&text);
	}
	json_scan_free(s);
}

/* One of each kind that dumps have, and some that they do not. */
static const char *const seeds[] = {
	"{\"kind\":\"call\",\"call\":\"perf_event_open\",\"tid\":7,\"raw\":[\"0x1000\",\"0x0\"],"
	"\"shown\":true,\"stack\":[{\"module\":\"m\",\"symbol\":null,\"offset\":\"0x1\"}],"
	"\"args\":{\"attr_uptr\":{\"type\":1,\"config\":\"0x9\",\"names\":[]},\"pid\":0},"
	"\"ret\":-1,\"errno\":9,\"memory\":[{\"at\":\"enter\",\"want\":8,\"hex\":\"01\"}]}",
	"{\"kind\":\"comm\",\"tid\":7,\"comm\":\"a\\u0001\\\"b\\ud83d\\udc1d\",\"x\":\"\xe2\x82\xac\"}",
	"{\"a\":[1,-2,0.5,1e9,true,false,null,{}],\"b\":{\"c\":{\"d\":[[[]]]}},\"\":18446744073709551615}",
	"[0,-0,1.25e+3,\"\\n\\t\\/\",[[]],{\"k\":1,\"l\":2,\"m\":3}]",
};

static size_t mutate(char *text, size_t len, size_t room)
{
	static const char *const words[] = {
		"'", "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\u0061", "\\ud800",
		"0", "-", "1", ".", "e", "+", "null", "NaN", "\"a\":1,", "\"kind\":", "'a':", " ", "\t", "\xc0",
		"\xe2\x82\xac", "\xed\xa0\x80", "{}", "[]", "\\\"", "true",
	};
	size_t at = (size_t)random() % (len + 1), n = 1 + (size_t)random() % 12, from;
	const char *word = words[(size_t)random() % (sizeof(words) / sizeof(*words))];

	switch (random() % 5) {
	case 0:
		if (at < len)
			text[at] = (char)random();
		return len;
	case 1:		/* away with it */
		n = n > len - at ? len - at : n;
		memmove(text + at, text + at + n, len - at - n);
		return len - n;
	case 2:		/* what is elsewhere, once more */
		from = (size_t)random() % (len + 1);
		n = n > len - from ? len - from : n;
		if (len + n > room)
			return len;
		memmove(text + at + n, text + at, len - at);
		if (from + n <= at)
			memcpy(text + at, text + from, n);
		else
			memset(text + at, '[', n);
		return len + n;
	case 3:
		n = strlen(word);
		if (len + n > room)
			return len;
		memmove(text + at + n, text + at, len - at);
		memcpy(text + at, word, n);
		return len + n;
	default:
		return random() % 8 ? len : at;
	}
}

static void test_mutations(void **state)
{
	enum { ROUNDS = 60000, ROOM = 1024 };
	struct json_scan *s = json_scan_new(ORACLE_NESTING);
	unsigned int taken = 0, twice = 0;
	char text[ROOM];

	(void)state;
	srandom(20260707);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		const char *seed = seeds[round % (sizeof(seeds) / sizeof(*seeds))];
		size_t len = strlen(seed);
		const char *wrong;

		memcpy(text, seed, len);
		for (long n = 1 + random() % 4; n; n--)
			len = mutate(text, len, ROOM);
		wrong = oracle_disagrees(s, text, len);
		if (wrong)
			fail_msg("round %u: %s: %.*s", round, wrong, (int)len, text);
		wrong = said(s, text, len);
		taken += !*wrong;
		twice += !!strstr(wrong, "duplicate");
	}
	json_scan_free(s);
	/* all ways are tried */
	assert_true(taken >= ROUNDS / 20 && taken <= ROUNDS * 19 / 20);
	assert_true(twice >= 10 && twice <= ROUNDS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
