// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which answers of a reader are taken, and how lines are broken. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "verbs/learn/arch/user_counter.h"
#include "verbs/learn/learn.h"

static void test_numbers(void **state)
{
	static const char *const right[] = {
		"24", " 24 ", "0x18", "24 bytes", "24bytes", "24.", "'24'", "24 B", "= 24",
	}, *const wrong[] = {
		"", " ", "25", "2", "240", "24 25", "24 or 25", "0x24", "twenty", "-", "0x",
		"99999999999999999999999999", "bytes", "24 bytes each",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++)
		if (!answer_accepts("24", right[i]))
			fail_msg("'%s' is not taken for 24", right[i]);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (answer_accepts("24", wrong[i]))
			fail_msg("'%s' is taken for 24", wrong[i]);
	assert_true(answer_accepts("0x18", "24"));
	assert_true(answer_accepts("0x7f00cafe", "0x7F00CAFE"));
	assert_true(answer_accepts("20480", "20,480"));
	assert_true(answer_accepts("20480", "20480 bytes"));
	assert_true(answer_accepts("4", "four"));
	assert_true(answer_accepts("0", "Zero."));
	assert_false(answer_accepts("0", ""));
	assert_false(answer_accepts("6", "four"));
}

/* The algorithm in linux/perf_event.h. */
static uint64_t documented_count(uint64_t offset, uint64_t counter, unsigned int width)
{
	return offset + (uint64_t)((int64_t)(counter << (64 - width)) >> (64 - width));
}

static void test_user_count(void **state)
{
	static const unsigned int widths[] = { 32, 40, 48, 63, 64 };

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		unsigned int width = widths[i];
		/* a counter starts at -2^(width - 1), and the offset makes up for that */
		uint64_t start = 1ULL << (width - 1), counter = start + 1000;

		assert_int_equal(user_count(start, counter, width), 1000);
		assert_int_equal(documented_count(start, counter, width), 1000);
		/* with bits above the width, and after an overflow */
		if (width < 64)
			assert_int_equal(user_count(start, counter | ~0ULL << width, width), 1000);
		assert_int_equal(user_count(start + 500, 7, width),
				 documented_count(start + 500, 7, width));
	}
	/* arm64 after a read(2) that returned 1000: offset = 1000 - the counter then */
	assert_int_equal(user_count(1000 - 0x800003e9ULL, 0x80000400ULL, 32), 1023);
	assert_int_equal(documented_count(1000 - 0x800003e9ULL, 0x80000400ULL, 32),
			 1023 - (1ULL << 32));
}

static void test_words(void **state)
{
	(void)state;
	assert_true(answer_accepts("EINVAL", "einval"));
	assert_true(answer_accepts("EINVAL", "\"EINVAL\""));
	assert_false(answer_accepts("EINVAL", "EINVA"));
	assert_true(answer_accepts("PERF_FORMAT_ID", "format id"));
	assert_true(answer_accepts("PERF_FORMAT_ID", "ID"));
	assert_false(answer_accepts("PERF_FORMAT_ID", "D"));
	assert_false(answer_accepts("PERF_FORMAT_ID", "MAT_ID"));
	assert_true(answer_accepts("yes", "Y"));
	assert_true(answer_accepts("no", "n"));
	assert_false(answer_accepts("no", "not at all"));
	assert_false(answer_accepts("yes", "no"));
	assert_true(answer_accepts("cpu|the cpu number", "the CPU"));
	assert_true(answer_accepts("cpu|the cpu number", "cpu number"));
	assert_true(answer_accepts("running|time_running", "time-running"));
	assert_false(answer_accepts("running|time_running", "|"));
	assert_true(answer_accepts("remove_on_exec", "remove_on_exec=1"));
	assert_false(answer_accepts("remove_on_exec", "remove_on_exec=0"));
}

/* Whatever is typed, it is an answer or none. */
static void test_anything(void **state)
{
	char text[600];

	(void)state;
	srand(20261122);
	for (int round = 0; round < 20000; round++) {
		size_t len = (size_t)rand() % (sizeof(text) - 1);

		for (size_t i = 0; i < len; i++)
			text[i] = (char)(1 + rand() % 255);
		text[len] = '\0';
		answer_accepts("0x18|PERF_FORMAT_ID|yes", text);
		answer_accepts(text, "24 bytes");
		answer_accepts(text, text);
	}
}

/* A trace that is put together again is the trace. */
static void unwrap(const char *told, char *out)
{
	size_t n = 0;

	for (const char *line = told + 1; *line; line += strcspn(line, "\n") + 1) {
		size_t len = strcspn(line, "\n"), indent = strspn(line, " ");

		assert_true(len <= 80);
		if (indent == 8) {
			n -= 1; /* the newline */
			if (out[n - 1] == '\\')
				n--;
			else if (out[n - 1] != '|')
				out[n++] = ' ';
		}
		memcpy(out + n, line + (indent > 8 ? 8 : indent), len - (indent > 8 ? 8 : indent));
		n += len - (indent > 8 ? 8 : indent);
		out[n++] = '\n';
	}
	out[n] = '\0';
}

static void test_breaking(void **state)
{
	static const char letters[] = "abc, |_{}=9";
	char line[400], again[4000], *told;
	size_t size;

	(void)state;
	srand(7);
	for (int round = 0; round < 3000; round++) {
		size_t len = 1 + (size_t)rand() % 300;
		struct lesson_text t = { .out = open_memstream(&told, &size) };

		/* no blanks side by side: a call has none */
		for (size_t i = 0; i < len; i++) {
			line[i] = letters[(size_t)rand() % (sizeof(letters) - 1)];
			if (line[i] == ' ' && (!i || line[i - 1] == ' ' || line[i - 1] == '|'))
				line[i] = 'x';
		}
		while (line[len - 1] == ' ')
			len--;
		line[len] = '\n';
		line[len + 1] = '\0';
		lesson_text_trace(&t, line);
		fclose(t.out);
		unwrap(told, again);
		assert_string_equal(again, line);
		free(told);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_user_count),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_anything),
		cmocka_unit_test(test_breaking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
