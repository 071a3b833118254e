// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Who is in the way of an event.  The list is what pevtrace ps -j wrote in an emulated 64-bit
 * ARM machine, where the number of the CPU's PMU is 8 and that of breakpoints 5: events of
 * perf stat by generic type, one by the PMU's number, a breakpoint and a clock.  And that signals
 * do not keep the list from being read.
 */
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <cmocka.h>

#include "engine/rings/earlier.h"
#include "engine/rings/events.h"
#include "xlat/constants.h"

enum { CPU_PMU = 8, CLOCK_PMU = 6 };

static const struct {
	uint32_t type, pmu;
	uint64_t config;
	uint32_t pid;
	const char *comm;
} recorded[] = {
	{ PERF_TYPE_SOFTWARE, CLOCK_PMU, PERF_COUNT_SW_CPU_CLOCK, 80, "clocks" },
	{ PERF_TYPE_HARDWARE, CPU_PMU, PERF_COUNT_HW_INSTRUCTIONS, 87, "perf" },
	{ PERF_TYPE_HARDWARE, CPU_PMU, PERF_COUNT_HW_CPU_CYCLES, 87, "perf" },
	{ PERF_TYPE_BREAKPOINT, PERF_TYPE_BREAKPOINT, 0, 91, "gdb" },
	{ CPU_PMU, CPU_PMU, 0x11, 90, "agent" },
	{ PERF_TYPE_RAW, CPU_PMU, 0x8, 90, "agent" },
};

enum { N = sizeof(recorded) / sizeof(recorded[0]) };

struct list {
	struct events_event events[N], *places[N];
	struct events_holder holders[N];
	struct events all;
};

static const char *pmu_name(const struct names *n, uint32_t type)
{
	(void)n;
	return type == CPU_PMU ? "armv8_pmuv3" : NULL;
}

static const struct names names = { .pmu = pmu_name };

static int fill(void **state)
{
	static const struct {
		uint32_t wakeup_events, bp_type;
		uint64_t bp_addr, bp_len;
	} at = { 0, HW_BREAKPOINT_X, 0x601040, 8 };
	struct list *l = calloc(1, sizeof(*l));

	for (size_t i = 0; i < N; i++) {
		struct events_facts *f = &l->events[i].facts;
		struct events_holder *h = &l->holders[i];

		f->id = i + 1;
		f->type = recorded[i].type;
		f->pmu = recorded[i].pmu;
		f->attr_len = 128;
		memcpy(f->attr, &recorded[i].type, sizeof(recorded[i].type));
		memcpy(f->attr + 8, &recorded[i].config, sizeof(recorded[i].config));
		if (f->type == PERF_TYPE_BREAKPOINT)
			memcpy(f->attr + 48, &at, sizeof(at));
		h->pid = h->tid = recorded[i].pid;
		strcpy(h->comm, recorded[i].comm);
		l->events[i].holders = h;
		l->events[i].nholders = 1;
		l->places[i] = &l->events[i];
	}
	l->all = (struct events){ .list = l->places, .n = N, .bpf = true };
	*state = l;
	return 0;
}

static int empty(void **state)
{
	free(*state);
	return 0;
}

static void expect_of(void **state, struct holders_of of, const char *words)
{
	const struct list *l = *state;
	struct buf out = { 0 };

	holders_add_of(&l->all, &of, &names, &out);
	assert_string_equal(buf_str(&out), words);
	buf_free(&out);
}

static void expect(void **state, uint32_t type, const char *words)
{
	expect_of(state, (struct holders_of){ type, -1, -1 }, words);
}

static void test_counters(void **state)
{
	static const char words[] = "perf[87] (instructions and 1 more), "
				    "agent[90] (armv8_pmuv3/0x11/ and 1 more)";

	/* all of them are for the counters of the CPU, whatever type was passed */
	expect(state, PERF_TYPE_HARDWARE, words);
	expect(state, PERF_TYPE_HW_CACHE, words);
	expect(state, PERF_TYPE_RAW, words);
	expect(state, CPU_PMU, words);
}

static void test_others(void **state)
{
	expect(state, PERF_TYPE_BREAKPOINT, "gdb[91] (mem:0x601040/8:x)");
	expect(state, PERF_TYPE_SOFTWARE, "clocks[80] (cpu-clock)");
	expect(state, PERF_TYPE_TRACEPOINT, "");
}

/* Only breakpoints of the same thread and CPU are in the way. */
static void test_breakpoints(void **state)
{
	static const char words[] = "gdb[91] (mem:0x601040/8:x)";
	struct list *l = *state;
	struct events_facts *f = &l->events[3].facts;

	f->target = 200;
	f->cpu = -1;
	expect_of(state, (struct holders_of){ PERF_TYPE_BREAKPOINT, 200, -1 }, words);
	expect_of(state, (struct holders_of){ PERF_TYPE_BREAKPOINT, 201, -1 }, "");
	expect_of(state, (struct holders_of){ PERF_TYPE_BREAKPOINT, -1, 1 }, words);
	f->target = 0;
	f->cpu = 1;
	expect_of(state, (struct holders_of){ PERF_TYPE_BREAKPOINT, 200, -1 }, words);
	expect_of(state, (struct holders_of){ PERF_TYPE_BREAKPOINT, 200, 1 }, words);
	expect_of(state, (struct holders_of){ PERF_TYPE_BREAKPOINT, -1, 0 }, "");
}

static bool can_read(void)
{
	struct events events;
	bool can;

	events_open(&events);
	can = events.programs;
	events_close(&events);
	return can;
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void test_signals(void **state)
{
	const struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { 0 };
	bool can = can_read();

	(void)state;
	if (!can)
		skip();
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	can = can_read();
	setitimer(ITIMER_REAL, &never, NULL);
	assert_true(can);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counters, fill, empty),
		cmocka_unit_test_setup_teardown(test_others, fill, empty),
		cmocka_unit_test_setup_teardown(test_breakpoints, fill, empty),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
