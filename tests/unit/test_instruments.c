// SPDX-License-Identifier: LGPL-2.1-or-later
/* Whether instruments work: verdicts of results made up here, and of this machine. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/abi/layout.h"
#include "engine/rings/ring.h"
#include "experiment/experiment.h"
#include "experiment/instruments.h"
#include "experiment/trial.h"
#include "machine.h"
#include "tree.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { STAND_IN_TYPE = 77, WRITES = 3 };

/* What the next runs of an experiment find; the last one is repeated.  NULL: run the real one. */
static const struct observed *scripted;
static size_t nscripted, runs;

bool __real_experiment_run(const struct experiment *x, struct observed *out);
bool __wrap_experiment_run(const struct experiment *x, struct observed *out);

bool __wrap_experiment_run(const struct experiment *x, struct observed *out)
{
	if (!scripted)
		return __real_experiment_run(x, out);
	*out = scripted[runs < nscripted ? runs : nscripted - 1];
	runs++;
	return true;
}

static const struct instrument_result *find(struct instruments *is, enum instrument i,
					    const struct observed *o, size_t n)
{
	const struct instrument_result *r;

	scripted = o;
	nscripted = n;
	runs = 0;
	r = instrument_find(is, i);
	scripted = NULL;
	return r;
}

static void test_tries(void **state)
{
	const struct observed zero = { .ring = true }, full = { .error = ENOSPC };
	const struct observed late[] = { zero, { .count = WRITES } }, odd = { .count = 2 };
	struct instruments is[5] = { { .host = NULL } };

	(void)state;
	assert_int_equal(find(&is[0], INSTRUMENT_BREAKPOINT_DATA, late, 2)->verdict,
			 INSTRUMENT_WORKS);
	assert_int_equal(runs, 2);
	assert_int_equal(find(&is[1], INSTRUMENT_BREAKPOINT_DATA, &zero, 1)->verdict,
			 INSTRUMENT_DEAD);
	assert_int_equal(runs, 3);
	find(&is[1], INSTRUMENT_BREAKPOINT_DATA, &zero, 1);
	assert_int_equal(runs, 0);
	/* another process has all breakpoints */
	assert_int_equal(find(&is[2], INSTRUMENT_BREAKPOINT_DATA, &full, 1)->verdict,
			 INSTRUMENT_ABSENT);
	assert_int_equal(is[2].results[INSTRUMENT_BREAKPOINT_DATA].error, ENOSPC);
	assert_string_equal(instrument_reason(&is[2].results[INSTRUMENT_BREAKPOINT_DATA]),
			    "all breakpoints are in use");
	assert_int_equal(find(&is[3], INSTRUMENT_BREAKPOINT_DATA, &odd, 1)->verdict,
			 INSTRUMENT_IMPLAUSIBLE);
	assert_int_equal(find(&is[4], INSTRUMENT_CLOCK_SAMPLES, &zero, 1)->verdict,
			 INSTRUMENT_DEAD);
	assert_true(instrument_fails(&is[1], INSTRUMENT_BREAKPOINT_DATA));
	assert_false(instrument_fails(&is[2], INSTRUMENT_BREAKPOINT_DATA));
}

static void test_judge(void **state)
{
	(void)state;
	assert_int_equal(instrument_judge(0, 0, 10, 20).verdict, INSTRUMENT_DEAD);
	/* frozen, too slow, too fast, running backwards */
	assert_int_equal(instrument_judge(15, 0, 10, 20).verdict, INSTRUMENT_IMPLAUSIBLE);
	assert_int_equal(instrument_judge(9, 9, 10, 20).verdict, INSTRUMENT_IMPLAUSIBLE);
	assert_int_equal(instrument_judge(21, 21, 10, 20).verdict, INSTRUMENT_IMPLAUSIBLE);
	assert_int_equal(instrument_judge(1, -1ULL, 10, 20).verdict, INSTRUMENT_IMPLAUSIBLE);
	assert_int_equal(instrument_judge(12, 12, 10, 20).verdict, INSTRUMENT_WORKS);
	assert_int_equal(instrument_judge(20, 20, 10, 20).counted, 20);
}

static void test_complaints(void **state)
{
	const struct observed zero = { .ring = true }, odd = { .count = 2 };
	struct instruments is = { .host = NULL };
	struct buf text = { 0 };

	(void)state;
	find(&is, INSTRUMENT_BREAKPOINT_CODE, &zero, 1);
	assert_true(instrument_complain(&is, INSTRUMENT_BREAKPOINT_CODE, &text));
	assert_non_null(strstr(buf_str(&text), "opens, but does not count on this machine: "
			       "hardware breakpoints do not fire"));
	assert_non_null(strstr(buf_str(&text), "(gdb's would not either)"));
	buf_reset(&text);
	find(&is, INSTRUMENT_BREAKPOINT_DATA, &odd, 1);
	assert_true(instrument_complain(&is, INSTRUMENT_BREAKPOINT_DATA, &text));
	assert_non_null(strstr(buf_str(&text), "3 to 3 writes of a known loop were counted as 2"));
	buf_reset(&text);
	is.results[INSTRUMENT_BREAKPOINT_DATA].verdict = INSTRUMENT_ABSENT;
	assert_false(instrument_complain(&is, INSTRUMENT_BREAKPOINT_DATA, &text));
	assert_int_equal(text.len, 0);
	/* samples of a counter that does not advance */
	is.tried[INSTRUMENT_HARDWARE] = is.tried[INSTRUMENT_HARDWARE_SAMPLES] = true;
	is.results[INSTRUMENT_HARDWARE].verdict = INSTRUMENT_DEAD;
	is.results[INSTRUMENT_HARDWARE_SAMPLES].verdict = INSTRUMENT_DEAD;
	instrument_complain(&is, INSTRUMENT_HARDWARE_SAMPLES, &text);
	assert_non_null(strstr(buf_str(&text), "do not advance"));
	buf_free(&text);
}

static int of(struct host *host, struct perf_event_attr attr)
{
	enum instrument i;

	return instrument_of(host, (const uint8_t *)&attr, sizeof(attr), &i) ? (int)i : -1;
}

static char root[TREE_PATH];

static void test_of(void **state)
{
	struct host *h = host_new(root, root);

	(void)state;
	assert_int_equal(of(h, (struct perf_event_attr){ .type = 5, .bp_type = 2 }),
			 INSTRUMENT_BREAKPOINT_DATA);
	assert_int_equal(of(h, (struct perf_event_attr){ .type = 5, .bp_type = 4 }),
			 INSTRUMENT_BREAKPOINT_CODE);
	assert_int_equal(of(NULL, (struct perf_event_attr){ .type = 0 }), INSTRUMENT_HARDWARE);
	assert_int_equal(of(h, (struct perf_event_attr){ .type = 3, .sample_period = 1 }),
			 INSTRUMENT_HARDWARE_SAMPLES);
	assert_int_equal(of(h, (struct perf_event_attr){ .type = 4, .config = 0x3c }),
			 INSTRUMENT_HARDWARE);
	assert_int_equal(of(h, (struct perf_event_attr){ .type = 1, .config = 1 }),
			 INSTRUMENT_CLOCK);
	assert_int_equal(of(h, (struct perf_event_attr){ .type = 1, .config = 2 }),
			 INSTRUMENT_PAGE_FAULTS);
	assert_int_equal(of(h, (struct perf_event_attr){ .type = 1, .config = 9 }), -1);
	assert_int_equal(of(h, (struct perf_event_attr){ .type = 8 }), INSTRUMENT_UPROBE);
	assert_int_equal(of(h, (struct perf_event_attr){ .type = 10 }), INSTRUMENT_HARDWARE);
	assert_int_equal(of(h, (struct perf_event_attr){ .type = 99 }), -1);
	assert_int_equal(of(NULL, (struct perf_event_attr){ .type = 8 }), -1);
	host_free(h);
}

/* AUX, by a stand-in: an event without an AUX area, and an area that this test makes up. */

static uint64_t standin_bytes;	/* written before the area is read */
static bool standin_zeros;

int __real_open_event(uint8_t *attr, size_t len, int32_t pid, int32_t cpu, int32_t group_fd,
		      uint64_t flags);
int __wrap_open_event(uint8_t *attr, size_t len, int32_t pid, int32_t cpu, int32_t group_fd,
		      uint64_t flags);
int __wrap_aux_map(struct aux_area *a, struct own_calls *calls, int fd, void *page,
		   size_t ring_len, size_t size, bool snapshot);

int __wrap_open_event(uint8_t *attr, size_t len, int32_t pid, int32_t cpu, int32_t group_fd,
		      uint64_t flags)
{
	if (layout_get(&layout_perf_event_attr, ATTR_TYPE, attr, len) == STAND_IN_TYPE) {
		attr_put(attr, ATTR_TYPE, PERF_TYPE_SOFTWARE);
		attr_put(attr, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	}
	return __real_open_event(attr, len, pid, cpu, group_fd, flags);
}

int __wrap_aux_map(struct aux_area *a, struct own_calls *calls, int fd, void *page,
		   size_t ring_len, size_t size, bool snapshot)
{
	uint8_t *bytes = calloc(1, size);

	(void)calls;
	(void)fd;
	(void)ring_len;
	if (!bytes)
		return ENOMEM;
	memset(bytes, standin_zeros ? 0 : 0xa5, standin_bytes);
	((struct perf_event_mmap_page *)page)->aux_head = standin_bytes;
	*a = (struct aux_area){ .page = page, .bytes = bytes, .size = size,
				.snapshot = snapshot };
	return 0;
}

static enum instrument_verdict aux_of(const char *sysfs, uint64_t bytes, bool zeros)
{
	struct instruments is = { .host = host_new(sysfs, sysfs) };
	enum instrument_verdict v;

	standin_bytes = bytes;
	standin_zeros = zeros;
	v = instrument_find(&is, INSTRUMENT_AUX)->verdict;
	host_free(is.host);
	return v;
}

static void test_aux_stand_in(void **state)
{
	(void)state;
	need_events();
	assert_int_equal(aux_of(root, 64, false), INSTRUMENT_WORKS);
	assert_int_equal(aux_of(root, 0, false), INSTRUMENT_DEAD);
	assert_int_equal(aux_of(root, 64, true), INSTRUMENT_IMPLAUSIBLE);
	assert_int_equal(aux_of("/nonexistent", 64, false), INSTRUMENT_UNKNOWN);
}

/* On this machine: against events that this test opens itself. */

static bool can_open(struct perf_event_attr attr)
{
	int fd;

	attr.size = sizeof(attr);
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void test_here(void **state)
{
	struct instruments is = { .host = NULL };

	(void)state;
	if (can_open((struct perf_event_attr){ .type = 1, .config = 2 })) {
		assert_int_equal(instrument_find(&is, INSTRUMENT_PAGE_FAULTS)->verdict,
				 INSTRUMENT_WORKS);
		assert_int_equal(instrument_find(&is, INSTRUMENT_CLOCK)->verdict,
				 INSTRUMENT_WORKS);
	}
	assert_int_equal(instrument_find(&is, INSTRUMENT_HARDWARE)->verdict == INSTRUMENT_ABSENT,
			 !can_open((struct perf_event_attr){ .type = 0, .config = 1 }));
	for (int i = 0; i < INSTRUMENTS; i++) {
		assert_non_null(instrument_name(i));
		assert_true(instrument_find(&is, i) == &is.results[i] && is.tried[i]);
	}
}

static int setup(void **state)
{
	(void)state;
	tree_new(root, "instruments");
	tree_put(root, DEVICES "stand_in/type", "77\n");
	tree_put(root, DEVICES "uprobe/type", "8\n");
	tree_put(root, DEVICES "cpu_atom/type", "10\n");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return tree_remove(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tries), cmocka_unit_test(test_judge),
		cmocka_unit_test(test_complaints), cmocka_unit_test(test_of),
		cmocka_unit_test(test_aux_stand_in), cmocka_unit_test(test_here),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
