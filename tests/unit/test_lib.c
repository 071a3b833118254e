// SPDX-License-Identifier: LGPL-2.1-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/lib/buf.h"
#include "core/lib/map.h"
#include "core/lib/scan_text.h"

static void test_buf(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_string_equal(buf_str(&b), "");
	buf_addu(&b, 0);
	buf_addc(&b, ' ');
	buf_addu(&b, UINT64_MAX);
	buf_addc(&b, ' ');
	buf_addx(&b, 0xdeadbeef);
	assert_string_equal(buf_str(&b), "0 18446744073709551615 0xdeadbeef");
	buf_reset(&b);
	assert_string_equal(buf_str(&b), "");
	buf_addf(&b, "%0500d|", 7);
	assert_int_equal(b.len, 501);
	assert_int_equal(b.data[499], '7');
	buf_free(&b);
	assert_null(b.data);
}

/* A map against a plain array, through many insertions and deletions. */
static void test_map(void **state)
{
	enum { KEYS = 700 };
	static char values[KEYS];
	bool there[KEYS] = { false };
	struct map m = { 0 };
	size_t live = 0, seen = 0, at = 0;

	(void)state;
	assert_null(map_get(&m, 0));
	assert_null(map_del(&m, 0));
	srandom(1);
	for (int i = 0; i < 200000; i++) {
		size_t k = (size_t)random() % KEYS;
		/* keys that collide in their low bits, as addresses do */
		uint64_t key = (uint64_t)k << 12;

		if (random() % 2) {
			assert_ptr_equal(map_set(&m, key, &values[k]),
					 there[k] ? &values[k] : NULL);
			live += !there[k];
			there[k] = true;
		} else {
			assert_ptr_equal(map_del(&m, key), there[k] ? &values[k] : NULL);
			live -= there[k];
			there[k] = false;
		}
		assert_int_equal(m.len, live);
	}
	for (size_t k = 0; k < KEYS; k++)
		assert_ptr_equal(map_get(&m, (uint64_t)k << 12),
				 there[k] ? &values[k] : NULL);
	while (map_next(&m, &at))
		seen++;
	assert_int_equal(seen, live);
	map_free(&m);
	assert_null(map_get(&m, 0));
}

/* Every code point as it is encoded, and what only looks like an encoding. */
static void test_utf8(void **state)
{
	static const unsigned char others[] = { 0, 0x22, 0x7f, 0xc0, 0xff };

	(void)state;
	/* n: bytes that are used, from the shortest form to overlong ones */
	for (uint32_t c = 0; c < 0x200000; c++)
		for (size_t n = 1; n <= 4; n++) {
			static const uint32_t most[] = { 0, 0x7f, 0x7ff, 0xffff, 0x1fffff };
			static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
			bool good = c > most[n - 1] || (n == 1 && !c);
			char text[4];
			uint32_t rest = c;

			if (c > most[n])
				continue;
			for (size_t i = n - 1; i > 0; i--, rest >>= 6)
				text[i] = (char)(0x80 | (rest & 0x3f));
			text[0] = (char)(lead[n] | rest);
			good = good && c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
			if (utf8_at(text, n) != (good ? n : 0))
				fail_msg("U+%04x in %zu bytes", c, n);
			if (n > 1 && utf8_at(text, n - 1))
				fail_msg("U+%04x in %zu bytes, cut off", c, n);
			if (c % 251)
				continue;
			for (size_t i = 1; i < n; i++)
				for (size_t k = 0; k < sizeof(others); k++) {
					char bad[4];

					memcpy(bad, text, n);
					bad[i] = (char)others[k];
					assert_int_equal(utf8_at(bad, n), 0);
				}
		}
	for (int c = 0x80; c < 0x100; c++)
		if (c < 0xc0 || c > 0xf7)
			assert_int_equal(utf8_at((char[4]){ (char)c, -128, -128, -128 }, 4), 0);
}

static void test_scan_number(void **state)
{
	static const struct {
		const char *text;
		unsigned int base;
		bool ok;
		uint64_t v;
		size_t read;
	} cases[] = {
		{ "12,", SCAN_DECIMAL, true, 12, 2 }, { "0x1f", SCAN_C, true, 31, 4 },
		{ "017", SCAN_C, true, 15, 3 }, { "08", SCAN_C, true, 0, 1 },
		{ "0xg", SCAN_C, true, 0, 1 }, { "fF", SCAN_HEX, true, 255, 2 },
		{ "-1", SCAN_DECIMAL, false, 0, 0 }, { "", SCAN_C, false, 0, 0 },
		{ " 1", SCAN_DECIMAL, false, 0, 0 },
		{ "18446744073709551615", SCAN_DECIMAL, true, UINT64_MAX, 20 },
		{ "18446744073709551616", SCAN_DECIMAL, false, 0, 20 },
	};
	static const char cut[] = { '1', '2', '3' };
	const char *at = cut;
	uint64_t v;
	int64_t s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		at = cases[i].text;
		assert_int_equal(scan_number(&at, NULL, cases[i].base, &v), cases[i].ok);
		assert_int_equal(at - cases[i].text, cases[i].read);
		if (cases[i].ok)
			assert_true(v == cases[i].v);
	}
	at = cut;
	assert_true(scan_number(&at, cut + 2, SCAN_C, &v) && v == 12 && at == cut + 2);
	assert_true(scan_signed("-9223372036854775808", SCAN_DECIMAL, INT64_MIN, INT64_MAX, &s));
	assert_true(s == INT64_MIN);
	assert_false(scan_signed("9223372036854775808", SCAN_DECIMAL, INT64_MIN, INT64_MAX, &s));
	assert_false(scan_signed("--1", SCAN_DECIMAL, -5, 5, &s));
	assert_false(scan_whole("5x", SCAN_DECIMAL, 0, 9, &v));
}

static void test_scan_range(void **state)
{
	static const char *const bad[] = { "", "a", "1-", "3-1", "1,", "1,,2", "-1", "1 2" };
	const char *at = "0-3,8";
	uint64_t first, last;

	(void)state;
	assert_true(scan_range(&at, &first, &last) && first == 0 && last == 3);
	assert_true(scan_range(&at, &first, &last) && first == 8 && last == 8 && !*at);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		at = bad[i];
		assert_false(scan_range(&at, &first, &last));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buf),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_scan_number),
		cmocka_unit_test(test_scan_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
