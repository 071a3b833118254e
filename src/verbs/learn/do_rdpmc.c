// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/rdpmc.lesson */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verbs/learn/arch/user_counter.h"
#include "verbs/learn/learn.h"
#include "lessons/lessons.h"

enum { READS = 10000, COUNTER = 0, TSC, SAMPLER, TIME_AT = 8 };

/* A consistent copy of members of the page. */
struct page_view {
	uint32_t lock, index, mult;
	uint16_t shift;
	uint64_t offset, zero;
	bool rdpmc, time, time_zero;
	unsigned int looks;	/* attempts until lock was unchanged */
};

static uint64_t page_member(const struct learn *l, unsigned int index)
{
	const struct field *f = &layout_perf_event_mmap_page.fields[index];
	const uint8_t *at = (const uint8_t *)l->stream.rings[0].at;

	return field_get(f, at, RING_PAGE_BYTES);
}

static uint32_t page_lock(const struct learn *l)
{
	const uint8_t *at = (const uint8_t *)l->stream.rings[0].at +
			    layout_perf_event_mmap_page.fields[PERF_EVENT_MMAP_PAGE_LOCK].offset;

	return __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
}

static struct page_view read_page(const struct learn *l)
{
	struct page_view v = { .looks = 0 };

	do {
		v.looks++;
		v.lock = page_lock(l);
		v.index = (uint32_t)page_member(l, PERF_EVENT_MMAP_PAGE_INDEX);
		v.offset = page_member(l, PERF_EVENT_MMAP_PAGE_OFFSET);
		v.rdpmc = page_member(l, PERF_EVENT_MMAP_PAGE_CAP_USER_RDPMC);
		v.time = page_member(l, PERF_EVENT_MMAP_PAGE_CAP_USER_TIME);
		v.time_zero = page_member(l, PERF_EVENT_MMAP_PAGE_CAP_USER_TIME_ZERO);
		v.shift = (uint16_t)page_member(l, PERF_EVENT_MMAP_PAGE_TIME_SHIFT);
		v.mult = (uint32_t)page_member(l, PERF_EVENT_MMAP_PAGE_TIME_MULT);
		v.zero = page_member(l, PERF_EVENT_MMAP_PAGE_TIME_ZERO);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((v.lock & 1) || page_lock(l) != v.lock);
	return v;
}

bool learn_rdpmc_open(struct learn *l)
{
	learn_set(l, "instruction", "%s", user_counter.instruction);
	learn_set(l, "clock", "%s", user_counter.clock_instruction);
	learn_set(l, "permission", "%s", user_counter.permission);
	return learn_open(l, COUNTER, learn_get(l, "hardware") ? user_counter.event :
			  "task-clock:u", 0, -1, -1);
}

bool learn_rdpmc_reads(struct learn *l)
{
	struct timespec from, to;
	uint64_t count;
	double ns;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < READS; i++)
		if (read(l->fds[COUNTER], &count, sizeof(count)) != sizeof(count))
			return learn_fail(l, "cannot read the event");
	clock_gettime(CLOCK_MONOTONIC, &to);
	ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
	learn_say(l, "%d reads: %.0f ns each", READS, ns / READS);
	return true;
}

bool learn_rdpmc_page(struct learn *l)
{
	static const unsigned int members[] = {
		PERF_EVENT_MMAP_PAGE_LOCK, PERF_EVENT_MMAP_PAGE_INDEX,
		PERF_EVENT_MMAP_PAGE_OFFSET, PERF_EVENT_MMAP_PAGE_CAP_USER_RDPMC,
		PERF_EVENT_MMAP_PAGE_CAP_USER_TIME, PERF_EVENT_MMAP_PAGE_CAP_USER_TIME_ZERO,
		PERF_EVENT_MMAP_PAGE_PMC_WIDTH, PERF_EVENT_MMAP_PAGE_TIME_SHIFT,
		PERF_EVENT_MMAP_PAGE_TIME_MULT, PERF_EVENT_MMAP_PAGE_TIME_ZERO,
	};
	struct page_view v;

	if (!learn_map(l, l->fds[COUNTER], 0))
		return false;
	learn_page(l, &l->stream.rings[0], members, sizeof(members) / sizeof(*members));
	v = read_page(l);
	learn_set(l, "index", "%u", v.index);
	learn_set(l, "may", "%s", v.index && v.rdpmc ? "yes" : "no");
	learn_set(l, "reason", "%s", v.index ? "the event has a register now" :
		  !learn_get(l, "hardware") ? "software events have no register" :
		  "the kernel gives this event no register that programs may read");
	if (user_counter.clock && v.time && v.time_zero && v.shift < 64)
		learn_set(l, "usertime", "yes");
	return true;
}

/* Show the count by the instruction and by read(). */
bool learn_rdpmc_counter(struct learn *l)
{
	uint64_t count;
	struct page_view v = read_page(l);
	unsigned int width = (unsigned int)page_member(l, PERF_EVENT_MMAP_PAGE_PMC_WIDTH);

	if (user_counter.read && v.index && v.rdpmc && width && width <= 64)
		learn_say(l, "%s: %llu", user_counter.instruction, (unsigned long long)
			  user_count(v.offset, user_counter.read(v.index - 1), width));
	return learn_read(l, l->fds[COUNTER], &count);
}

bool learn_rdpmc_lock(struct learn *l)
{
	struct page_view before = read_page(l), after;

	learn_ioctl(l, l->fds[COUNTER], PERF_EVENT_IOC_DISABLE, 0);
	learn_ioctl(l, l->fds[COUNTER], PERF_EVENT_IOC_ENABLE, 0);
	after = read_page(l);
	learn_set(l, "lock", "%u", before.lock);
	learn_set(l, "lock_after", "%u", after.lock);
	learn_set(l, "looks", "%u", before.looks + after.looks);
	learn_set(l, "again", "%u", before.looks + after.looks - 2);
	return true;
}

/* Return the time of samples from the page alone; in parts, as the product overflows. */
static uint64_t page_time_now(const struct page_view *v)
{
	uint64_t cycles = user_counter.clock(), rest = cycles & ((1ULL << v->shift) - 1);

	return v->zero + (cycles >> v->shift) * v->mult + (rest * v->mult >> v->shift);
}

static bool keep_sample_time(void *ctx, const struct learn_record *r)
{
	if (r->type == PERF_RECORD_SAMPLE && r->len >= TIME_AT + 8)
		*(uint64_t *)ctx = load_uint(r->bytes + TIME_AT, 8);
	return true;
}

bool learn_rdpmc_time(struct learn *l)
{
	uint64_t before, sample = 0, after;
	struct page_view v;

	learn_unmap(l);
	if (!learn_start_child(l, child_touch, 1))
		return false;
	if (!learn_open(l, SAMPLER, "page-faults:u,sample_period=1,sample_type=TIME",
			l->child_pid, -1, -1) ||
	    !learn_map(l, l->fds[SAMPLER], 1))
		return false;
	v = read_page(l);
	before = page_time_now(&v);
	if (!learn_run_child(l))
		return false;
	after = page_time_now(&v);
	learn_say(l, "before: %llu ns", (unsigned long long)before);
	learn_look(l, keep_sample_time, &sample);
	learn_say(l, "after:  %llu ns", (unsigned long long)after);
	learn_unmap(l);
	learn_set(l, "between", "%s", before <= sample && sample <= after ? "yes" : "no");
	learn_set(l, "mult", "%u", v.mult);
	learn_set(l, "shift", "%u", v.shift);
	learn_set(l, "mhz", "%.0f", 1000 / ((double)v.mult / (double)(1ULL << v.shift)));
	return true;
}

bool learn_rdpmc_tsc(struct learn *l)
{
	uint64_t first, second;

	if (l->stream.n)
		learn_unmap(l);
	l->fds[TSC] = learn_try_open(l, "msr/tsc/", 0, -1, -1);
	if (l->fds[TSC] < 0)
		return true;
	if (!learn_read(l, l->fds[TSC], &first) || !learn_read(l, l->fds[TSC], &second))
		return false;
	learn_set(l, "tsc", "yes");
	learn_set_number(l, "cycles", second - first);
	return true;
}
