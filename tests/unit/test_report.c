// SPDX-License-Identifier: LGPL-2.1-or-later
/* Hostile text on its way into a page, and texts that are kept once. */
#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/report/html.h"
#include "formats/report/report.h"

/* What a byte is shown as, before it is escaped for its place. */
static void shown(unsigned char c, char *out, size_t size)
{
	if ((c >= ' ' && c < 0x7f) || c == '\n')
		snprintf(out, size, "%c", c);
	else
		snprintf(out, size, "\\%03o", c);
}

static void check_ascii(const struct buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		assert_true((b->data[i] >= ' ' && b->data[i] < 0x7f) || b->data[i] == '\n');
}

/* json-c reads every byte back as what is to be shown. */
static void test_script(void **state)
{
	(void)state;
	for (int c = 1; c < 256; c++) {
		const char text[] = { 'a', (char)c, 'b', (char)c, '\0' };
		char one[8], want[32];
		struct buf out = { 0 };
		struct json_object *o;

		shown((unsigned char)c, one, sizeof(one));
		snprintf(want, sizeof(want), "a%sb%s", one, one);
		script_add(&out, text);
		check_ascii(&out);
		assert_null(strpbrk(buf_str(&out), "<>&\n"));
		o = json_tokener_parse(buf_str(&out));
		assert_non_null(o);
		assert_string_equal(json_object_get_string(o), want);
		json_object_put(o);
		buf_free(&out);
	}
}

static void test_html(void **state)
{
	struct buf out = { 0 };
	char text[256];

	(void)state;
	for (int c = 1; c < 256; c++)
		text[c - 1] = (char)c;
	text[255] = '\0';
	html_add(&out, text);
	check_ascii(&out);
	assert_null(strpbrk(buf_str(&out), "<>\"'"));
	for (const char *p = buf_str(&out); (p = strchr(p, '&')); p++)
		assert_true(!strncmp(p, "&amp;", 5) || !strncmp(p, "&lt;", 4) ||
			    !strncmp(p, "&gt;", 4) || !strncmp(p, "&quot;", 6) ||
			    !strncmp(p, "&#39;", 5));
	buf_reset(&out);
	html_addf(&out, "%s=%d", "</td>\xe2\x80\xae", 7);
	assert_string_equal(buf_str(&out), "&lt;/td&gt;\\342\\200\\256=7");
	buf_free(&out);
}

static void test_pool(void **state)
{
	struct pool p = { 0 };
	char text[32];

	(void)state;
	for (unsigned int round = 0; round < 2; round++)
		for (unsigned int i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "text %u", i);
			assert_int_equal(pool_add(&p, text), i);
		}
	assert_int_equal(p.n, 5000);
	assert_string_equal(pool_get(&p, 4321), "text 4321");
	assert_string_equal(pool_get(&p, pool_add(&p, "")), "");
	pool_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_pool),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
