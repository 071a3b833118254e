// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counts that are scaled and summed, and the table of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "formats/text/counts.h"

static void test_add(void **state)
{
	struct event_total f = { 0 };

	(void)state;
	event_total_add(&f, 100, 1000, 1000);
	assert_int_equal(f.value, 100);
	event_total_add(&f, 100, 1000, 250); /* ran for a quarter of the time */
	assert_int_equal(f.value, 500);
	event_total_add(&f, 7, 1000, 0); /* never ran: what it says counts for itself */
	assert_int_equal(f.value, 507);
	assert_int_equal(f.enabled, 3000);
	assert_int_equal(f.running, 1250);
	assert_true(f.opened);
}

static void test_print(void **state)
{
	const struct event_total f[] = {
		{ .name = "cs", .opened = true, .value = 12, .enabled = 5, .running = 5 },
		{ .name = "cpu-clock", .opened = true, .clock = true, .value = 1500000,
		  .enabled = 4, .running = 4 },
		{ .name = "cycles", .opened = true, .value = 80, .enabled = 8, .running = 2 },
		{ .name = "idle", .opened = true },
		{ .name = "no\x1bne" },
	};
	struct buf out = { 0 };

	(void)state;
	event_totals_print(f, 5, 0.25, &out);
	assert_string_equal(buf_str(&out),
		"                  12  cs\n"
		"             1500000  cpu-clock /* 1.500 ms */\n"
		"                  80  cycles /* scaled: on the PMU for 25.00 % of the time */\n"
		"       <not counted>  idle\n"
		"        <not opened>  no\\033ne\n"
		"         0.250000000  seconds\n");
	buf_reset(&out);
	event_totals_line(f, 5, 3.2, &out);
	assert_string_equal(buf_str(&out), "3 s: cs 12, cpu-clock 1500000, cycles 80, "
			    "idle <not counted>, no\\033ne <not opened>");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests_name("event_totals", tests, NULL, NULL);
}
