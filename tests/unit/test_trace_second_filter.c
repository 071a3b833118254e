// SPDX-License-Identifier: LGPL-2.1-or-later
/* The second filter: how often tasks stop with it. */
#include "trace_run.h"
#include "machine.h"
#include "engine/ptrace/regs.h"

#include <sys/resource.h>

/* Wait statuses that the engine has handled (see -Wl,--wrap). */
static size_t reports;

void __real_stop_handle(struct tracer *t, pid_t tid, int status);
void __wrap_stop_handle(struct tracer *t, pid_t tid, int status);

void __wrap_stop_handle(struct tracer *t, pid_t tid, int status)
{
	reports++;
	__real_stop_handle(t, tid, status);
}

static size_t run_quiet(const char *rounds, bool second_filter, size_t *calls)
{
	struct run r = make_run(false);

	r.second_filter = second_filter;
	r.near = !second_filter;
	reports = 0;
	launch(&r, "filtered", "quiet", rounds);
	assert_exit(&r, 0);
	assert_sane(&r);
	*calls = count(&r, EXIT, ANY);
	done(&r);
	return reports;
}

/*
 * Calls on other descriptors do not stop the program.  It stops for its exec, twice each for
 * opening, reading and closing the counter, once for exit_group, and at its end.
 */
static void test_exact(void **state)
{
	enum { STOPS = 1 + 3 * 2 + 1 + 1 };
	size_t calls;

	(void)state;
	need_events();
	if (!regs_known(arch_native()))
		skip();
	assert_int_equal(run_quiet("1", true, &calls), STOPS);
	assert_int_equal(calls, 3);
	assert_int_equal(run_quiet("700", true, &calls), STOPS);
	assert_int_equal(calls, 3);
	/* without the second filter, every call stops it twice */
	assert_true(run_quiet("700", false, &calls) > 700 * 5 * 2);
	assert_true(calls > 700 * 4);
}

/* With many descriptors no call is missed, and there are few filters. */
static void test_many(void **state)
{
	const bool all = getenv("LONG") && strcmp(getenv("LONG"), "0");
	const size_t n = all ? 3000 : 1000;
	struct rlimit files;
	struct run r = make_run(false);
	size_t seen[CALL_COUNT] = { 0 };

	(void)state;
	need_events();
	if (!regs_known(arch_native()))
		skip();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < n + 10)
		skip();
	r.second_filter = true;
	reports = 0;
	launch(&r, "filtered", "many", all ? "3000" : "1000");
	assert_exit(&r, 0);
	for (size_t i = 0; i < r.n; i++)
		if (r.events[i].what == EXIT)
			seen[r.events[i].id]++;
	assert_int_equal(seen[CALL_PERF_EVENT_OPEN], n);
	assert_int_equal(seen[CALL_READ], n);
	assert_int_equal(seen[CALL_CLOSE], n);
	/* its few munmap()s stop it, too */
	assert_true(reports >= 3 * 2 * n && reports <= 3 * 2 * n + 20);
	done(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_many),
	};

	return run_traced(tests);
}
