// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/rdpmc.lesson */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "lessons/lessons.h"
#include "verbs/learn/arch/user_counter.h"
#include "verbs/learn/learn.h"

enum { READS = 10000, TIME_AT = 8 };

/* A consistent copy of members of the page. */
struct page_view {
	uint32_t lock, index, mult;
	uint16_t shift;
	uint64_t offset, zero;
	bool rdpmc, time, time_zero;
	unsigned int looks;	/* attempts until lock was unchanged */
};

static uint64_t page_member(const uint8_t *page, unsigned int index)
{
	return layout_get(&layout_perf_event_mmap_page, index, page, RING_PAGE_BYTES);
}

static uint32_t page_lock(const uint8_t *page)
{
	page += layout_perf_event_mmap_page.fields[PERF_EVENT_MMAP_PAGE_LOCK].offset;
	return __atomic_load_n((const uint32_t *)page, __ATOMIC_ACQUIRE);
}

static struct page_view read_page(struct learn *l, const char *event)
{
	const uint8_t *page = steps_event(&l->steps, event)->ring;
	struct page_view v = { .looks = 0 };

	do {
		v.looks++;
		v.lock = page_lock(page);
		v.index = (uint32_t)page_member(page, PERF_EVENT_MMAP_PAGE_INDEX);
		v.offset = page_member(page, PERF_EVENT_MMAP_PAGE_OFFSET);
		v.rdpmc = page_member(page, PERF_EVENT_MMAP_PAGE_CAP_USER_RDPMC);
		v.time = page_member(page, PERF_EVENT_MMAP_PAGE_CAP_USER_TIME);
		v.time_zero = page_member(page, PERF_EVENT_MMAP_PAGE_CAP_USER_TIME_ZERO);
		v.shift = (uint16_t)page_member(page, PERF_EVENT_MMAP_PAGE_TIME_SHIFT);
		v.mult = (uint32_t)page_member(page, PERF_EVENT_MMAP_PAGE_TIME_MULT);
		v.zero = page_member(page, PERF_EVENT_MMAP_PAGE_TIME_ZERO);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((v.lock & 1) || page_lock(page) != v.lock);
	return v;
}

bool learn_rdpmc_open(struct learn *l)
{
	char step[128];

	learn_set(l, "instruction", "%s", user_counter.instruction);
	learn_set(l, "clock", "%s", user_counter.clock_instruction);
	learn_set(l, "permission", "%s", user_counter.permission);
	snprintf(step, sizeof(step), "open a %s\n", learn_get(l, "hardware") ? user_counter.event :
		 "task-clock:u");
	return learn_steps(l, step);
}

bool learn_rdpmc_reads(struct learn *l)
{
	int fd = steps_event(&l->steps, "a")->fd;
	struct timespec from, to;
	uint64_t count;
	double ns;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < READS; i++)
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			return learn_fail(l, "cannot read the event");
	clock_gettime(CLOCK_MONOTONIC, &to);
	ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
	learn_say(l, "%d reads: %.0f ns each", READS, ns / READS);
	return true;
}

bool learn_rdpmc_page(struct learn *l)
{
	struct page_view v = read_page(l, "a");

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
	struct page_view v = read_page(l, "a");
	unsigned int width = (unsigned int)page_member(steps_event(&l->steps, "a")->ring,
						PERF_EVENT_MMAP_PAGE_PMC_WIDTH);

	if (user_counter.read && v.index && v.rdpmc && width && width <= 64)
		learn_say(l, "%s: %llu", user_counter.instruction, (unsigned long long)
			  user_count(v.offset, user_counter.read(v.index - 1), width));
	return learn_steps(l, "read a\n");
}

bool learn_rdpmc_lock(struct learn *l)
{
	struct page_view before = read_page(l, "a"), after;

	if (!learn_steps(l, "ioctl a DISABLE\nioctl a ENABLE\n"))
		return false;
	after = read_page(l, "a");
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

	v = read_page(l, "b");
	before = page_time_now(&v);
	if (!learn_steps(l, "task fault 1\n"))
		return false;
	after = page_time_now(&v);
	learn_say(l, "before: %llu ns", (unsigned long long)before);
	learn_look(l, steps_event(&l->steps, "b"), keep_sample_time, &sample);
	learn_say(l, "after:  %llu ns", (unsigned long long)after);
	learn_set(l, "between", "%s", before <= sample && sample <= after ? "yes" : "no");
	learn_set(l, "mult", "%u", v.mult);
	learn_set(l, "shift", "%u", v.shift);
	learn_set(l, "mhz", "%.0f", 1000 / ((double)v.mult / (double)(1ULL << v.shift)));
	return true;
}
