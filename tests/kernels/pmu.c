// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Does what hardware counters are compared with:
 *
 *   pmu loop N              N rounds of a loop of two instructions
 *   pmu getppid N [beside]  times N calls of getppid, beside an open event
 *   pmu pinned N            opens N pinned events, and reads each
 *   pmu user N CONFIG1      reads an event's counter N times without a system call,
 *                           each time between two of read(2)
 *   pmu same N              counts a loop with N events of one kind, and prints each count
 *   pmu samples N PERIOD    N rounds of the loop, sampled each PERIOD cycles; prints how many
 *                           records of a type there are
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void loop(uint64_t rounds)
{
#if defined(__x86_64__)
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#elif defined(__riscv)
	__asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(rounds));
#else
	while (rounds--)
		__asm__ volatile("");
#endif
}

static int open_event(struct perf_event_attr attr)
{
	long fd;

	attr.size = sizeof(attr);
	attr.exclude_kernel = 1;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);

	if (fd < 0) {
		fprintf(stderr, "pmu: perf_event_open: %s\n", strerror(errno));
		exit(1);
	}
	return (int)fd;
}

static uint64_t nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int time_getppid(uint64_t n, int beside)
{
	uint64_t start;

	if (beside)
		open_event((struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
						     .config = PERF_COUNT_SW_PAGE_FAULTS });
	start = nanoseconds();
	for (uint64_t i = 0; i < n; i++)
		syscall(SYS_getppid);
	printf("%llu\n", (unsigned long long)((nanoseconds() - start) / n));
	return 0;
}

/* Read the counter of the index that the event's page holds. */
#if defined(__x86_64__)
static uint64_t counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
	return (uint64_t)high << 32 | low;
}
#elif defined(__aarch64__)
static uint64_t counter(uint32_t index)
{
	uint64_t v = 0;

#define READ(n) case n + 1: __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(v)); break
	switch (index) {
	READ(0); READ(1); READ(2); READ(3); READ(4); READ(5); READ(6); READ(7);
	case 32:
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(v));
	}
	return v;
}
#elif defined(__riscv)
static uint64_t counter(uint32_t index)
{
	uint64_t v = 0;

#define READ(n) case n + 1: __asm__ volatile("csrr %0, " #n " + 0xc00" : "=r"(v)); break
	switch (index) {
	READ(0); READ(1); READ(2); READ(3); READ(4); READ(5); READ(6); READ(7); READ(8);
	READ(9); READ(10); READ(11); READ(12); READ(13); READ(14); READ(15); READ(16); READ(17);
	READ(18);
	}
	return v;
}
#else
static uint64_t counter(uint32_t index)
{
	return index;
}
#endif

static int read_in_user_space(uint64_t n, uint64_t config1)
{
	int fd = open_event((struct perf_event_attr){ .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS, .config1 = config1 });
	volatile struct perf_event_mmap_page *page;
	uint64_t before, after, own = 0, wrong = 0;
	uint32_t seq, index = 0;

	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		perror("pmu: mmap");
		return 1;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (read(fd, &before, sizeof(before)) != sizeof(before))
			return 1;
		do {
			seq = page->lock;
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
			index = page->index;
			own = page->offset;
			if (!page->cap_user_rdpmc || !index) {
				printf("cap_user_rdpmc=%d index=%u\n", (int)page->cap_user_rdpmc, index);
				return 1;
			}
			own += (uint64_t)((int64_t)(counter(index) << (64 - page->pmc_width)) >>
					  (64 - page->pmc_width));
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
		} while (page->lock != seq);
		if (read(fd, &after, sizeof(after)) != sizeof(after))
			return 1;
		wrong += own <= before || own >= after;
		loop(100);
	}
	printf("index=%u width=%u wrong=%llu\n", index, page->pmc_width, (unsigned long long)wrong);
	return wrong != 0;
}

static int read_pinned(unsigned int n)
{
	unsigned int failed = 0;
	uint64_t count;

	for (unsigned int i = 0; i < n; i++) {
		int fd = open_event((struct perf_event_attr){ .type = PERF_TYPE_HARDWARE,
			.config = PERF_COUNT_HW_INSTRUCTIONS, .pinned = 1 });

		failed += read(fd, &count, sizeof(count)) == 0;
	}
	printf("%u of %u in error state\n", failed, n);
	return 0;
}

static int count_the_same(unsigned int n)
{
	int fds[64];
	uint64_t count;

	if (n > 64)
		return 2;
	for (unsigned int i = 0; i < n; i++)
		fds[i] = open_event((struct perf_event_attr){ .type = PERF_TYPE_HARDWARE,
			.config = PERF_COUNT_HW_INSTRUCTIONS });
	loop(1000000);
	for (unsigned int i = 0; i < n && read(fds[i], &count, sizeof(count)) > 0; i++)
		printf("%llu\n", (unsigned long long)count);
	return 0;
}

static int count_records(uint64_t rounds, uint64_t period)
{
	enum { PAGES = 64 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open_event((struct perf_event_attr){ .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES, .sample_period = period,
		.sample_type = PERF_SAMPLE_IP });
	char *area = mmap(NULL, (1 + PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned int types[PERF_RECORD_SAMPLE + 1] = { 0 };
	struct perf_event_header h;

	if (area == MAP_FAILED) {
		perror("pmu: mmap");
		return 1;
	}
	loop(rounds);
	for (uint64_t at = 0; at < ((struct perf_event_mmap_page *)area)->data_head; at += h.size) {
		memcpy(&h, area + page + at, sizeof(h));
		if (h.type <= PERF_RECORD_SAMPLE)
			types[h.type]++;
	}
	printf("samples=%u lost=%u throttle=%u unthrottle=%u\n", types[PERF_RECORD_SAMPLE],
	       types[PERF_RECORD_LOST], types[PERF_RECORD_THROTTLE],
	       types[PERF_RECORD_UNTHROTTLE]);
	return 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc < 3 ? "" : argv[1];
	uint64_t n = argc < 3 ? 0 : strtoull(argv[2], NULL, 0);

	if (!strcmp(verb, "loop")) {
		loop(n);
		return 0;
	}
	if (!strcmp(verb, "getppid") && n)
		return time_getppid(n, argc > 3);
	if (!strcmp(verb, "pinned"))
		return read_pinned((unsigned int)n);
	if (!strcmp(verb, "user") && argc > 3)
		return read_in_user_space(n, strtoull(argv[3], NULL, 0));
	if (!strcmp(verb, "same"))
		return count_the_same((unsigned int)n);
	if (!strcmp(verb, "samples") && argc > 3)
		return count_records(n, strtoull(argv[3], NULL, 0));
	fprintf(stderr, "usage: pmu loop|getppid|pinned|user|same|samples N [...]\n");
	return 2;
}
