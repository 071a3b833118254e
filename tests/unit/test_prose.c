// SPDX-License-Identifier: LGPL-2.1-or-later
/* Prose: lines and their breaks, links, words; and the dictionary's words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "explain/lexicon.h"
#include "explain/prose.h"
#include "formats/text/text_fit.h"

enum { WIDTH = 60 };

static void test_lines(void **state)
{
	struct buf out = { 0 };
	struct prose p;
	const char *s;

	(void)state;
	prose_init(&p, &out, WIDTH);
	prose_para(&p);
	for (int i = 0; i < 50; i++)
		prose_addf(&p, "%s%.*s", i ? " " : "", 1 + i % 9, "abcdefghij");
	prose_item(&p);
	for (int i = 0; i < 12; i++)
		prose_addf(&p, "%sPERF_SAMPLE_%d", i ? "|" : "flags=", i);
	prose_free(&p);
	for (s = buf_str(&out); *s; s += strcspn(s, "\n") + 1) {
		assert_true(strcspn(s, "\n") <= WIDTH);
		assert_true(s[strcspn(s, "\n") - 1] != ' ');
	}
	assert_non_null(strstr(buf_str(&out), "\n  - flags=PERF_SAMPLE_0|"));
	assert_non_null(strstr(buf_str(&out), "|\n    PERF_SAMPLE_"));
	buf_free(&out);
}

static void wraps(const char *text, const char *want)
{
	struct buf b = { 0 };

	buf_adds(&b, text);
	text_wrap(&b, 20);
	assert_string_equal(buf_str(&b), want);
	buf_free(&b);
}

static void test_wrap(void **state)
{
	(void)state;
	wraps("", "");
	wraps("exactly twenty colum\nns\n", "exactly twenty colum\nns\n");
	wraps("  further lines are indented", "  further lines are\n    indented");
	wraps("name   the last column of a table", "name   the last\n       column of a\n       table");
	wraps("\033[31ma colour\033[m takes no columns", "\033[31ma colour\033[m takes no\n  columns");
	wraps("\303\244\303\244\303\244\303\244\303\244 counts as fives",
	      "\303\244\303\244\303\244\303\244\303\244 counts as\n  fives");
	wraps("bits=A_LONG_NAME|B|C+D", "bits=A_LONG_NAME|B|\n  C+D");
	wraps("at libc.so(syscall+0x19) '|COMMAND'", "at\n  libc.so(syscall+0x19)\n  '|COMMAND'");
	wraps("no_place_in_a_word_of_this_length and more of it",
	      "no_place_in_a_word_of_this_length\n  and more of it");
	wraps("blanks at the end    ", "blanks at the end    ");
	wraps("cut \033", "cut \033");
	wraps("cut \033]8;;x", "cut \033]8;;x");
}

static void test_links(void **state)
{
	struct buf plain = { 0 }, linked = { 0 };
	struct prose p;

	(void)state;
	for (int i = 0; i < 2; i++) {
		prose_init(&p, i ? &linked : &plain, 31);
		p.links = i;
		prose_adds(&p, "It is described in ");
		prose_page(&p, "perf_event_open(2), ERRORS");
		prose_adds(&p, ", and in ");
		prose_page(&p, "pevtrace-check(1)");
		prose_free(&p);
	}
	assert_string_equal(buf_str(&plain), "It is described in\nperf_event_open(2), ERRORS, "
					     "and\nin pevtrace-check(1)\n");
	assert_non_null(strstr(buf_str(&linked), "\033]8;;https://man7.org/linux/man-pages/man2/"
			       "perf_event_open.2.html\033\\perf_event_open(2)\033]8;;\033\\, "
			       "ERRORS, and\n"));
	buf_free(&plain);
	buf_free(&linked);
}

static void test_words(void **state)
{
	struct buf out = { 0 };
	struct prose p;

	(void)state;
	prose_init(&p, &out, 0);
	prose_meaning(&p, "Id of it");
	prose_adds(&p, "; ");
	prose_meaning(&p, "TLB for data");
	prose_adds(&p, "; ");
	prose_count(&p, 1, "open", "opens");
	prose_adds(&p, "; ");
	prose_count(&p, 11, "open", "opens");
	prose_adds(&p, "; ");
	prose_times(&p, 2);
	prose_free(&p);
	assert_string_equal(buf_str(&out), "id of it; TLB for data; 1 open; 11 opens; twice\n");
	buf_free(&out);
}

/* The dictionary -------------------------------------------------------------------- */

static void tell_all(void *ctx, const struct lexicon_entry *e)
{
	struct buf out = { 0 };
	struct prose p;
	char word[128];

	prose_init(&p, &out, 0);
	lexicon_write(e, &p);
	prose_free(&p);
	/* more than its own name, and it means itself */
	assert_true(out.len > strlen(e->name) + 20);
	assert_true(lexicon_means(e, e->name));
	snprintf(word, sizeof(word), "%sx", e->name);
	assert_false(lexicon_means(e, word));
	assert_null(strstr(buf_str(&out), ".. "));
	assert_null(strstr(buf_str(&out), "..\n"));
	assert_null(strstr(buf_str(&out), "(null)"));
	++*(size_t *)ctx;
	buf_free(&out);
}

static void test_dictionary(void **state)
{
	size_t n = 0;

	(void)state;
	lexicon_each(tell_all, &n);
	assert_true(n > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_dictionary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
