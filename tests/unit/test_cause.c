// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The search for causes against a kernel that is made up: it refuses unless some
 * members have other values, and the rules know some of that or nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "core/judge/cause.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { PLACES = 20, FLAWS = 6 };

/* Each flaw is past when its member is changed to value. */
struct kernel {
	struct change list[3 * PLACES];
	struct change_list changes;
	struct {
		unsigned int place;
		uint64_t value;
		bool known;	/* to the rules */
	} flaws[FLAWS];
	size_t nflaws;
	unsigned int asked;
};

static bool has(const struct change *const *set, size_t n, unsigned int place, uint64_t value)
{
	for (size_t i = 0; i < n; i++)
		if (set[i]->arg == place && set[i]->value == value)
			return true;
	return false;
}

static int fake_open(void *ctx, const struct change *const *set, size_t n)
{
	struct kernel *k = ctx;

	k->asked++;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			assert_false(change_same_place(set[i], set[j]));
	for (size_t i = 0; i < k->nflaws; i++)
		if (!has(set, n, k->flaws[i].place, k->flaws[i].value))
			return EINVAL;
	return 0;
}

/* A flaw's rule is the one of its number; those that are not known are foreseen by none. */
static void fake_judge(void *ctx, const struct change *const *set, size_t n,
		       struct rule_verdict *v)
{
	const struct kernel *k = ctx;

	*v = (struct rule_verdict){ .rule = NULL };
	for (size_t i = 0; i < k->nflaws && !v->rule; i++) {
		if (!k->flaws[i].known || has(set, n, k->flaws[i].place, k->flaws[i].value))
			continue;
		v->rule = &rule_descs[RULE_RESERVED_BITS + i];
		v->error = EINVAL;
	}
}

static const struct cause_ops ops = { .open = fake_open, .judge = fake_judge };

/* Places that can be changed to one of three values each. */
static void make(struct kernel *k, size_t nflaws, bool known)
{
	*k = (struct kernel){ .nflaws = nflaws, .changes.list = k->list };
	for (unsigned int i = 0; i < PLACES; i++)
		for (unsigned int v = 1; v <= 3; v++)
			k->list[k->changes.n++] = (struct change){
				.arg = i, .value = v, .how = v == 1 ? CHANGE_FIX : CHANGE_DROP,
				.distance = v,
			};
	for (size_t i = 0; i < nflaws; i++) {
		k->flaws[i].place = (unsigned int)(i * 3 + 1);
		k->flaws[i].value = known ? 1 + i % 3 : 1;
		k->flaws[i].known = known;
	}
}

/* Arguments beyond those of the call have no name here, so that fields are used. */
static void name_places(struct kernel *k)
{
	for (size_t i = 0; i < k->changes.n; i++)
		k->list[i].field = &layout_perf_event_attr.fields[ATTR_PINNED + k->list[i].arg];
}

static void run(struct kernel *k, struct cause *c)
{
	name_places(k);
	cause_find(&ops, k, &k->changes, c);
	assert_int_equal(c->trials, k->asked);
	assert_true(c->trials <= CAUSE_TRIALS + FLAWS + 2);
}

static void test_every_number_of_flaws(void **state)
{
	struct kernel k;
	struct cause c;

	(void)state;
	for (int known = 0; known < 2; known++) {
		for (size_t n = 1; n <= FLAWS; n++) {
			make(&k, n, known);
			run(&k, &c);
			assert_int_equal(c.n, n);
			assert_int_equal(fake_open(&k, c.changes, c.n), 0);
			assert_int_equal(c.nfaults, n);
			for (size_t i = 0; known && i < n; i++) {
				assert_int_equal(c.faults[i].rule->id, RULE_RESERVED_BITS + i);
				assert_int_equal(c.faults[i].npast, 1);
				assert_int_equal(c.faults[i].past[0]->arg, k.flaws[i].place);
			}
		}
	}
}

static void test_opens(void **state)
{
	struct kernel k;
	struct cause c;

	(void)state;
	make(&k, 0, true);
	run(&k, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.trials, 1);
	assert_int_equal(c.nfaults, 0);
}

/* Nothing helps: it ends all the same, and says what refuses. */
static void test_nothing_helps(void **state)
{
	struct kernel k;
	struct cause c;

	(void)state;
	for (int known = 0; known < 2; known++) {
		make(&k, 1, known);
		k.flaws[0].value = 9;
		run(&k, &c);
		assert_int_equal(c.n, 0);
		assert_int_equal(c.error, EINVAL);
		assert_int_equal(c.nfaults, 1);
		assert_int_equal(c.faults[0].npast, 0);
		assert_ptr_equal(c.faults[0].rule, known ? &rule_descs[RULE_RESERVED_BITS] : NULL);
	}
}

/* The nearest of several, and the others that would do. */
static void test_nearest(void **state)
{
	struct kernel k;
	struct cause c;

	(void)state;
	make(&k, 0, true);
	/* two changes to other places, and to an event of another kind, help alike */
	k.nflaws = 1;
	k.flaws[0].place = 5;
	k.flaws[0].value = 3;
	k.list[0] = (struct change){ .arg = 5, .value = 3, .how = CHANGE_KIND };
	run(&k, &c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.changes[0]->how, CHANGE_DROP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_number_of_flaws),
		cmocka_unit_test(test_opens),
		cmocka_unit_test(test_nothing_helps),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
