// SPDX-License-Identifier: LGPL-2.1-or-later
/* The normal form: which calls share a form, and which events they keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "formats/diff/normal.h"
#include "fake.h"

static struct normal_forms *forms;
static struct normal *normal;

static int setup(void **state)
{
	(void)state;
	forms = normal_forms_new();
	normal = normal_new(forms);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	normal_free(normal);
	normal_forms_free(forms);
	return 0;
}

static struct normal_task *task(void)
{
	static const struct activity_task b = { .tid = 7, .pid = 7 };

	return normal_task_new(normal, &b);
}

/* Adds close(fd = EVENT ",EVENT") = result, about the first. */
static void add(struct normal_task *t, struct normal_event *first,
		const struct normal_event *second, const char *result)
{
	struct normal_draft *d = calloc(1, sizeof(*d));
	char value[32];

	draft_begin(d, call_by_name("close"));
	d->subject = first;
	snprintf(value, sizeof(value), "%c%u%c", REF_START, first->index, REF_END);
	draft_add(d, "fd", value);
	snprintf(value, sizeof(value), "%c%u%c", REF_START, second->index, REF_END);
	draft_add(d, "fd", value);
	draft_add(d, "result", result);
	normal_item_add(normal, t, d);
	draft_free(d);
}

static void assert_line(const struct normal_task *t, size_t i, const char *wanted)
{
	struct buf line = { 0 };

	normal_line(normal, t, &t->items[i], NULL, &line);
	assert_string_equal(buf_str(&line), wanted);
	buf_free(&line);
}

static void test_nothing(void **state)
{
	(void)state;
	normal_seal(normal);
	assert_int_equal(normal->ntasks, 0);
}

static void test_forms(void **state)
{
	struct normal_task *t = task();
	struct normal_event *a = normal_event_new(normal, t, "a");
	struct normal_event *b = normal_event_new(normal, t, "b");

	(void)state;
	add(t, a, b, "0");
	add(t, b, a, "0");	/* other events: the same form */
	add(t, b, b, "0");	/* one event in both places: another */
	add(t, a, b, "EBADF");	/* another value: another */
	normal_seal(normal);
	assert_int_equal(t->items[0].form, t->items[1].form);
	assert_int_not_equal(t->items[0].form, t->items[2].form);
	assert_int_not_equal(t->items[0].form, t->items[3].form);
	assert_line(t, 0, "task1 close fd=a,b result=0");
	assert_line(t, 1, "task1 close fd=b,a result=0");
	assert_line(t, 2, "task1 close fd=b,b result=0");
	assert_line(t, 3, "task1 close fd=a,b result=EBADF");
	assert_ptr_equal(normal_subject(normal, &t->items[1]), b);
}

/* Events stay where they are, however many come after them. */
static void test_many_events(void **state)
{
	struct normal_task *t = task();
	struct normal_event *first = normal_event_new(normal, t, "e"), *last = first;

	(void)state;
	for (int i = 1; i < 1000; i++)
		last = normal_event_new(normal, t, "e");
	assert_ptr_equal(normal_event_at(normal, 0), first);
	assert_ptr_equal(normal_event_at(normal, 999), last);
	assert_ptr_equal(first->base, last->base);
}

static void test_form_with(void **state)
{
	struct normal_task *t = task();
	struct normal_event *e = normal_event_new(normal, t, "e");
	const struct normal_form *f, *g;

	(void)state;
	add(t, e, e, "0");
	f = normal_form(normal, &t->items[0]);
	g = normal_form_with(forms, f, "result", "EBADF");
	assert_string_equal(normal_get(g, "result"), "EBADF");
	assert_string_equal(normal_get(f, "result"), "0");
	assert_ptr_equal(normal_form_with(forms, g, "result", "0"), f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forms, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_form_with, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
