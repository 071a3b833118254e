// SPDX-License-Identifier: LGPL-2.1-or-later
/* Instruments that are tried by a child that measures itself. */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/layout.h"
#include "core/lib/clock.h"
#include "core/lib/program.h"
#include "engine/rings/bpf.h"
#include "experiment/instruments_internal.h"
#include "experiment/open_event.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum {
	ATTR_MAX = 256,
	LIMIT_S = 20,			/* seconds after which SIGALRM ends the child */
	ROUNDS = 500000,		/* of a loop, of ... */
	ROUND_LEAST = 1, ROUND_MOST = 16, /* ... so many instructions each */
	SPIN_NS = 1000000,
};

/* Return the time of the CPU that the calling thread has used. */
static uint64_t cpu_ns(void)
{
	struct timespec t = { 0, 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void loop(void)
{
	for (unsigned int n = ROUNDS; n; n--)
		__asm__ volatile("" : "+r"(n));
}

void instrument_spin(void)
{
	const uint64_t until = cpu_ns() + SPIN_NS;

	while (cpu_ns() < until)
		;
}

void instrument_begin_child(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIMIT_S);
}

struct instrument_result instrument_judge(uint64_t value, uint64_t counted, uint64_t least,
					  uint64_t most)
{
	return (struct instrument_result){
		.verdict = counted >= least && counted <= most ? INSTRUMENT_WORKS :
			   value ? INSTRUMENT_IMPLAUSIBLE : INSTRUMENT_DEAD,
		.counted = counted, .least = least, .most = most,
	};
}

struct instrument_result instrument_absent(int error)
{
	return (struct instrument_result){ .verdict = INSTRUMENT_ABSENT, .error = error };
}

int instrument_open(uint32_t type, uint64_t config, uint8_t *attr)
{
	attr_put(attr, ATTR_TYPE, type);
	attr_put(attr, ATTR_SIZE, layout_perf_event_attr.size);
	attr_put(attr, ATTR_CONFIG, config);
	attr_put(attr, ATTR_EXCLUDE_KERNEL, 1);
	return open_event(attr, layout_perf_event_attr.size, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

const char *instrument_in_use(const uint8_t *attr, size_t len, int error)
{
	return (error == ENOSPC || error == EBUSY) &&
	       layout_get(&layout_perf_event_attr, ATTR_TYPE, attr, len) == PERF_TYPE_BREAKPOINT ?
	       "all breakpoints are in use" : NULL;
}

/* Counters --------------------------------------------------------------------------- */

/* In the order of read(2), with these read_formats. */
struct reading {
	uint64_t count, enabled, running;
};

/*
 * Measure one step.  It says nothing if the event was not on its PMU all the time: another event
 * has the counter, or a hybrid CPU ran the task where the PMU does not count.
 */
static struct instrument_result measure_step(int fd, bool clock)
{
	const struct instrument_result unknown = {
		.why = "its event had no counter all the time",
	};
	struct reading a, b;
	uint64_t start = clock_ns();

	if (read(fd, &a, sizeof(a)) != sizeof(a))
		return unknown;
	clock ? instrument_spin() : loop();
	if (read(fd, &b, sizeof(b)) != sizeof(b) || b.running == a.running ||
	    b.running != b.enabled)
		return unknown;
	if (clock)
		return instrument_judge(b.count, b.count - a.count, SPIN_NS / 2,
					2 * (clock_ns() - start));
	return instrument_judge(b.count, b.count - a.count, ROUNDS * ROUND_LEAST,
				ROUNDS * ROUND_MOST);
}

/* As a counter may freeze, two steps must both be counted. */
static void measure_self(const void *ctx, void *out)
{
	bool clock = *(const enum instrument *)ctx == INSTRUMENT_CLOCK;
	struct instrument_result *r = out;
	uint8_t attr[ATTR_MAX] = { 0 };
	int fd;

	instrument_begin_child();
	attr_put(attr, ATTR_READ_FORMAT,
		 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	attr_put(attr, ATTR_PINNED, !clock);
	fd = clock ? instrument_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, attr) :
	     instrument_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, attr);
	if (fd < 0) {
		*r = instrument_absent(-fd);
		return;
	}
	*r = measure_step(fd, clock);
	if (r->verdict == INSTRUMENT_WORKS)
		*r = measure_step(fd, clock);
}

void instrument_try_self(enum instrument i, struct instrument_result *r)
{
	child_run(measure_self, &i, r, sizeof(*r));
}

void instrument_try_bpf(struct instrument_result *r)
{
	int fd = bpf_load(BPF_PROG_TYPE_PERF_EVENT, 0);

	*r = fd < 0 ? instrument_absent(-fd) : (struct instrument_result){ .verdict = INSTRUMENT_WORKS };
	if (fd >= 0)
		close(fd);
}
