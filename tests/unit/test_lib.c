// SPDX-License-Identifier: LGPL-2.1-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "lib/buf.h"
#include "lib/map.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buf),
		cmocka_unit_test(test_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
