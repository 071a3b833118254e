// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace list --tried: what a set of features adds up to, on kernels made up. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "experiment/work.h"
#include "verbs/list/features.h"

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

/* Verdicts on runs of experiments made up here ------------------------------------------- */

/*
 * The count that each run finds, of the event with the feature (which has WORK_SPIN) and without
 * it; FULL: another process has all breakpoints.
 */
enum { COUNTS = 16, FULL = 99 };

struct script {
	unsigned int counts[2][COUNTS];
	size_t n[2];
};

static struct script *script;

bool __wrap_experimenter_run(struct experimenter *e, const struct experiment *x,
			     struct observed *out);

bool __wrap_experimenter_run(struct experimenter *e, const struct experiment *x,
			     struct observed *out)
{
	size_t with = x->work & WORK_SPIN, n = script->n[with]++;
	unsigned int count;

	(void)e;
	assert_in_range(n, 0, COUNTS - 1);
	count = script->counts[with][n];
	*out = (struct observed){ .error = count == FULL ? ENOSPC : 0, .count = count };
	return true;
}

static enum features_verdict verdict(struct features *fs, struct script *s)
{
	const uint8_t attr[8] = { 0 };
	const struct experiment y = { .attr = attr, .len = sizeof(attr) };
	struct experiment x = y;

	x.work = WORK_SPIN;
	script = s;
	return features_differ(fs, &x, &y, true, false);
}

static void test_differ(void **state)
{
	static const struct {
		unsigned int with[COUNTS], without[COUNTS];
		enum features_verdict want;
		size_t runs;
	} rows[] = {
		{ { 3, 3 }, { 0, 0 }, FEATURES_DIFFERENT, 2 },
		{ { 3, 3 }, { 3, 3 }, FEATURES_SAME, 2 },
		/* a sample is lost, in a run with or without the feature */
		{ { 0, 3, 3, 3 }, { 0, 0, 0, 0 }, FEATURES_DIFFERENT, 4 },
		{ { 3, 3, 3, 3 }, { 3, 2, 3, 3 }, FEATURES_SAME, 4 },
		{ { FULL, 3, FULL, 3 }, { 0, 0, 0, 0 }, FEATURES_DIFFERENT, 4 },
		/* no answer is ever ahead */
		{ { 3, 0, 3, 0, 3, 0, 3, 0, 3, 0, 3, 0 }, { 0 }, FEATURES_UNSTEADY, 12 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct features fs = { .n = 0 };
		struct script s = { .n = { 0, 0 } };

		memcpy(s.counts[1], rows[i].with, sizeof(rows[i].with));
		memcpy(s.counts[0], rows[i].without, sizeof(rows[i].without));
		assert_int_equal(verdict(&fs, &s), rows[i].want);
		assert_int_equal(s.n[1], rows[i].runs);
		assert_int_equal(s.n[0], rows[i].runs);
		/* what was run is not run again */
		assert_int_equal(verdict(&fs, &s), rows[i].want);
		assert_int_equal(s.n[1], rows[i].runs);
		features_runs_free(&fs);
	}
}

static void test_judge(void **state)
{
	struct feature f = { .kind = &dated };

	(void)state;
	assert_false(features_judge(&f, FEATURES_SAME, "a", NULL, "nothing"));
	assert_int_equal(f.result, FEATURE_ACCEPTED);
	assert_null(f.on);
	assert_string_equal(buf_str(&f.why), "nothing");
	assert_false(features_judge(&f, FEATURES_UNSTEADY, "b", NULL, "nothing"));
	assert_int_equal(f.result, FEATURE_ACCEPTED);
	assert_string_equal(f.on, "b");
	assert_string_equal(buf_str(&f.why), "its effect was observed in some runs only");
	assert_false(features_judge(&f, FEATURES_SAME, "c", NULL, "nothing"));
	assert_string_equal(f.on, "b");
	assert_true(features_judge(&f, FEATURES_DIFFERENT, "d", NULL, NULL));
	assert_int_equal(f.result, FEATURE_YES);
	assert_false(features_judge(&f, FEATURES_UNSTEADY, "e", NULL, "nothing"));
	assert_string_equal(f.on, "d");
	buf_free(&f.why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_between), cmocka_unit_test(test_hole),
		cmocka_unit_test(test_all), cmocka_unit_test(test_found),
		cmocka_unit_test(test_differ), cmocka_unit_test(test_judge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
