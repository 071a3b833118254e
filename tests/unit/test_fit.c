// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines of a trace that are shortened to a width: what they keep, and that like lines look alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "formats/text/text_fit.h"
#include "xlat/tables.h"

#define OPEN "[pid 12345] perf_event_open({type=PERF_TYPE_SOFTWARE, size=PERF_ATTR_SIZE_VER8, " \
	     "config=PERF_COUNT_SW_CPU_CLOCK, sample_freq=4000, " \
	     "sample_type=PERF_SAMPLE_IP|PERF_SAMPLE_TID|PERF_SAMPLE_TIME, read_format=PERF_FORMAT_ID, " \
	     "disabled=1, inherit=1, freq=1}, "
/* Return the line shortened and with its rows joined; the caller frees it. */
static char *fitted(const char *text, const char *call, const char *rule, size_t width)
{
	const struct rule_desc *guilty = NULL;
	struct buf line = { 0 };
	char *out;

	for (size_t i = 0; rule && i < RULE_COUNT; i++)
		if (!strcmp(rule_descs[i].name, rule))
			guilty = &rule_descs[i];
	assert_true(!rule || guilty);
	buf_adds(&line, text);
	text_fit(&line, call ? call_by_name(call) : NULL, guilty, width);
	out = strdup(buf_str(&line));
	for (char *p = out, *end; *p; p = *end ? end + 1 : end) {
		end = p + strcspn(p, "\n");
		assert_true((size_t)(end - p) <= width);
	}
	for (char *p; (p = strstr(out, "\n    "));) {
		bool mask = p[-1] == '|';

		memmove(p + !mask, p + 5, strlen(p + 5) + 1);
		*p = mask ? *p : ' ';
	}
	buf_free(&line);
	return out;
}

static void keeps(const char *text, const char *call, const char *rule, size_t width,
		  const char *const *parts)
{
	char *line = fitted(text, call, rule, width);

	for (; *parts; parts++)
		if (!strstr(line, *parts))
			fail_msg("'%s' is missing at %zu columns: %s", *parts, width, line);
	free(line);
}

/* Whatever is omitted, an open has its config, frequency, pid, CPU and result. */
static void test_kept(void **state)
{
	static const char *const parts[] = {
		"config=CPU_CLOCK", "sample_freq=4000", "}, 777, 3, ", ") = 5", NULL,
	};

	(void)state;
	for (size_t width = 60; width < 300; width++)
		keeps(OPEN "777, 3, -1, PERF_FLAG_FD_CLOEXEC) = 5", "perf_event_open", NULL, width,
		      width < 280 ? parts : parts + 4);
}

/* A refused one has the members that are to blame, and ends in the reason. */
static void test_refused(void **state)
{
	static const char reason[] = ") = -1 EINVAL /* why it was refused */";
	static const char *const members[] = { "inherit=1", "sample_type=IP|TID|TIME", reason, NULL };
	static const char *const group[] = { "777, 3, 9, ", reason, NULL };
	static const char *const flags[] = { "FD_CLOEXEC", reason, NULL };
	char text[1024];

	(void)state;
	snprintf(text, sizeof(text), OPEN "777, 3, 9, PERF_FLAG_FD_CLOEXEC%s", reason);
	for (size_t width = 60; width < 200; width++) {
		keeps(text, "perf_event_open", "inherit_read", width, members);
		keeps(text, "perf_event_open", "group_not_event", width, group);
		keeps(text, "perf_event_open", "flags_unknown", width, flags);
	}
}

/* Opens that differ in pid, CPU, group and descriptor show the same members. */
static void test_twins(void **state)
{
	static const char *const twins[] = {
		OPEN "777, 3, -1, PERF_FLAG_FD_CLOEXEC) = 5", OPEN "777, 13, -1, PERF_FLAG_FD_CLOEXEC) = 5",
		OPEN "777, 4, -1, PERF_FLAG_FD_CLOEXEC) = 17", OPEN "777, 21, -1, PERF_FLAG_FD_CLOEXEC) = 18",
	};

	(void)state;
	for (size_t width = 60; width < 300; width++) {
		char *first = fitted(twins[0], "perf_event_open", NULL, width);

		for (size_t i = 1; i < sizeof(twins) / sizeof(*twins); i++) {
			char *line = fitted(twins[i], "perf_event_open", NULL, width);
			size_t members = strcspn(first, "}");

			assert_int_equal(strcspn(line, "}"), members);
			assert_memory_equal(line, first, members);
			/* as many arguments, with or without dots */
			assert_string_equal(strrchr(line, '-') ? "group" : "dots",
					    strrchr(first, '-') ? "group" : "dots");
			free(line);
		}
		free(first);
	}
}

/* A line uses the rows that it needs anyway; what is left out depends on its values alone. */
static void test_rows(void **state)
{
	char *line = fitted(OPEN "777, 3, -1, PERF_FLAG_FD_CLOEXEC) = 5", "perf_event_open", NULL, 80);

	(void)state;
	assert_string_equal(line, "[pid 12345] perf_event_open({config=CPU_CLOCK, sample_freq=4000, "
			    "sample_type=IP|TID|TIME, read_format=ID, disabled=1, inherit=1, ...}, "
			    "777, 3, ...) = 5");
	free(line);
}

/* Of a mapping, PROT and flags go first, and its descriptor stays. */
static void test_mmap(void **state)
{
	char *line = fitted("[pid 12345] mmap(NULL, 528384, PROT_READ|PROT_WRITE, MAP_SHARED, 5, 0) = "
			    "0x7f0c5ff56000 /* 1+128 pages: ring of 512 KiB */", "mmap", NULL, 80);

	(void)state;
	assert_string_equal(line, "[pid 12345] mmap(..., 5, 0) = 0x7f0c5ff56000 "
			    "/* 1+128 pages: ring of 512 KiB */");
	free(line);
}

/* Of a record, the name of the file or task, ip and symbol stay. */
static void test_record(void **state)
{
	static const char *const sample[] = { "type=SAMPLE", "ip=0x7f1d628d3645 /* main+0x25 (a.out) */", NULL };
	static const char *const mapping[] = { "type=MMAP2", "filename=\"/usr/lib/libc.so.6\"", NULL };
	static const char *const task[] = { "type=COMM", "comm=\"true\"", NULL };

	(void)state;
	for (size_t width = 60; width < 120; width++) {
		keeps("[pid 12345] ring 1: <cpu-clock cpu0> {type=PERF_RECORD_SAMPLE, misc=PERF_RECORD_MISC_USER, "
		      "size=40, identifier=15, ip=0x7f1d628d3645 /* main+0x25 (a.out) */, pid=7862, tid=7862, "
		      "time=854051891659, period=250000}", NULL, NULL, width, sample);
		keeps("ring 1: <cpu-clock cpu0> {type=PERF_RECORD_MMAP2, misc=PERF_RECORD_MISC_USER, size=144, "
		      "pid=1, tid=1, addr=0x7f1d628d3000, len=0x1000, pgoff=0, prot=PROT_READ|PROT_EXEC, "
		      "flags=MAP_PRIVATE, filename=\"/usr/lib/libc.so.6\"}", NULL, NULL, width, mapping);
		keeps("ring 1: <cpu-clock cpu0> {type=PERF_RECORD_COMM, misc=PERF_RECORD_MISC_COMM_EXEC, size=40, "
		      "pid=7862, tid=7862, comm=\"true\", sample_id={pid=7862, tid=7862}}", NULL, NULL, width, task);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept), cmocka_unit_test(test_refused), cmocka_unit_test(test_twins),
		cmocka_unit_test(test_rows), cmocka_unit_test(test_mmap), cmocka_unit_test(test_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
