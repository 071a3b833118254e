/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The part of cmocka that unit tests use, printing TAP: for processors and C libraries whose
 * cmocka is not installed (tests/cross.bats).
 */
#ifndef PEVTRACE_TESTS_CROSS_CMOCKA_H
#define PEVTRACE_TESTS_CROSS_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
	const char *name;
	CMUnitTestFunction run;
	CMFixtureFunction setup, teardown;
};

enum { TEST_FAILED = 1, TEST_SKIPPED };
static jmp_buf test_end;

#define cmocka_unit_test(f) { #f, f, NULL, NULL }
#define cmocka_unit_test_setup_teardown(f, s, t) { #f, f, s, t }
#define cmocka_set_message_output(how) ((void)0)
#define print_message printf

#define skip() longjmp(test_end, TEST_SKIPPED)
#define fail_msg(...) ((void)printf("# %s:%d: ", __FILE__, __LINE__), (void)printf(__VA_ARGS__), \
		       (void)putchar('\n'), longjmp(test_end, TEST_FAILED))
#define assert_true(c) ((c) ? (void)0 : fail_msg("%s", #c))
#define assert_false(c) assert_true(!(c))
#define assert_null(p) assert_true(!(p))
#define assert_non_null(p) assert_true(p)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b) assert_true((const void *)(a) != (const void *)(b))
#define assert_memory_equal(a, b, n) assert_true(!memcmp(a, b, n))
#define assert_int_not_equal(a, b) assert_true((a) != (b))
#define assert_string_not_equal(a, b) assert_true(strcmp(a, b))
#define assert_int_equal(a, b) assert_same_int((uintmax_t)(a), (uintmax_t)(b), __FILE__, __LINE__)
#define assert_string_equal(a, b) assert_same_text(a, b, __FILE__, __LINE__)

static inline void assert_same_int(uintmax_t a, uintmax_t b, const char *file, int line)
{
	if (a == b)
		return;
	printf("# %s:%d: 0x%jx is not 0x%jx\n", file, line, a, b);
	longjmp(test_end, TEST_FAILED);
}

static inline void assert_same_text(const char *a, const char *b, const char *file, int line)
{
	if (!strcmp(a, b))
		return;
	printf("# %s:%d: \"%s\" is not \"%s\"\n", file, line, a, b);
	longjmp(test_end, TEST_FAILED);
}

/* Return how the test ended: 0 if it passed. */
static inline int run_test(const struct CMUnitTest *t, void **state)
{
	int how = setjmp(test_end);

	if (how)
		return how;
	if (t->setup && t->setup(state))
		return TEST_FAILED;
	t->run(state);
	return 0;
}

static inline int run_tests(const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
			    CMFixtureFunction teardown)
{
	void *common = NULL;
	int failed = 0;

	printf("1..%zu\n", n);
	if (setup && setup(&common))
		return 1;
	for (size_t i = 0; i < n; i++) {
		void *state = common;
		int how = run_test(&tests[i], &state);

		if (tests[i].teardown && tests[i].teardown(&state))
			how = TEST_FAILED;
		failed += how == TEST_FAILED;
		printf("%s %zu - %s%s\n", how == TEST_FAILED ? "not ok" : "ok", i + 1,
		       tests[i].name, how == TEST_SKIPPED ? " # SKIP" : "");
		fflush(stdout);
	}
	return (teardown && teardown(&common)) || failed;
}

#define cmocka_run_group_tests(tests, setup, teardown) \
	run_tests(tests, sizeof(tests) / sizeof(*(tests)), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
	cmocka_run_group_tests(tests, setup, teardown)

#endif
