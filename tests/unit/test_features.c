// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace features: what a set of features adds up to, on kernels made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/features/features.h"

static const struct feature_kind dated = { .name = "attr", .dated = true };
static const struct feature_kind undated = { .name = "clockid" };

struct row {
	uint32_t since;
	enum fact known;
};

static struct features_release release_of(const struct row *rows, size_t n, uint32_t here,
					  bool *fits)
{
	struct feature list[8] = { { .kind = NULL } };
	struct features fs = { .list = list, .n = n };
	struct features_release r;

	for (size_t i = 0; i < n; i++) {
		list[i].kind = &dated;
		list[i].since = rows[i].since;
		list[i].known = rows[i].known;
	}
	/* what is of no release of perf has no say */
	list[n].kind = &undated;
	list[n].since = KVER(2, 6, 39);
	list[n].known = FACT_NO;
	fs.n++;
	fs.facts.rules.machine.release = here;
	features_release(&fs, &r);
	*fits = features_release_fits(&fs, &r);
	return r;
}

static void test_between(void **state)
{
	const struct row rows[] = {
		{ KVER(2, 6, 31), FACT_YES }, { KVER(6, 13, 0), FACT_NO },
		{ KVER(5, 13, 0), FACT_YES }, { KVER(6, 0, 0), FACT_UNKNOWN },
		{ KVER(6, 19, 0), FACT_NO },
	};
	struct features_release r;
	bool fits;

	(void)state;
	r = release_of(rows, 5, KVER(5, 15, 190), &fits);
	assert_int_equal(r.from, KVER(5, 13, 0));
	assert_int_equal(r.before, KVER(6, 13, 0));
	assert_int_equal(r.undecided, 1);
	assert_true(fits);
	release_of(rows, 5, KVER(6, 13, 0), &fits);
	assert_false(fits);
	release_of(rows, 5, KVER(5, 12, 3), &fits);
	assert_false(fits);
}

/* A vendor's kernel: something newer is there, and something older is not. */
static void test_hole(void **state)
{
	const struct row rows[] = {
		{ KVER(4, 18, 0), FACT_YES }, { KVER(5, 1, 0), FACT_NO },
		{ KVER(5, 4, 0), FACT_YES },
	};
	struct features_release r;
	bool fits;

	(void)state;
	r = release_of(rows, 3, KVER(4, 18, 0), &fits);
	assert_int_equal(r.from, KVER(4, 18, 0));
	assert_int_equal(r.before, KVER(5, 1, 0));
	assert_true(fits);
}

static void test_all(void **state)
{
	const struct row rows[] = { { KVER(5, 1, 0), FACT_YES }, { KVER(6, 19, 0), FACT_YES } };
	struct features_release r;
	bool fits;

	(void)state;
	r = release_of(rows, 2, KVER(7, 3, 0), &fits);
	assert_int_equal(r.from, KVER(6, 19, 0));
	assert_int_equal(r.before, 0);
	assert_true(fits);
}

static void test_found(void **state)
{
	struct feature f = { .kind = &dated };

	(void)state;
	assert_true(features_found(&f, FEATURE_UNTRIED, NULL, "first"));
	assert_false(features_found(&f, FEATURE_UNTRIED, NULL, "second"));
	assert_string_equal(buf_str(&f.why), "first");
	assert_true(features_found(&f, FEATURE_ACCEPTED, "a", NULL));
	assert_int_equal(f.known, FACT_YES);
	assert_false(features_found(&f, FEATURE_NO, "b", "worse"));
	assert_string_equal(f.on, "a");
	assert_true(features_found(&f, FEATURE_YES, "c", NULL));
	assert_string_equal(f.on, "c");
	assert_string_equal(buf_str(&f.why), "");
	buf_free(&f.why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_between), cmocka_unit_test(test_hole),
		cmocka_unit_test(test_all), cmocka_unit_test(test_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
