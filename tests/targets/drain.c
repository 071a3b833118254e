/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profiler that consumes its records as they come, without any call at which a tracer could
 * read them: it samples its own page faults in a ring buffer that is filled many times over.
 * It prints how many samples it read, and how many the kernel dropped.
 *
 * usage: drain FAULTS [SIZE OF THE ATTR [SAMPLE_TYPE [CPU]]]
 *
 * With a CPU, the event measures that one only, and child processes, too.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 8, PAGE = 4096, EACH_NS = 100000 };

static struct perf_event_mmap_page *ring;
static unsigned long samples, lost;

static void drain(void)
{
	const char *data = (const char *)ring + PAGE;
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = ring->data_tail;

	while (at < head) {
		const struct perf_event_header *h =
			(const void *)(data + at % (PAGES * PAGE));

		samples += h->type == PERF_RECORD_SAMPLE;
		lost += h->type == PERF_RECORD_LOST;
		at += h->size;
	}
	__atomic_store_n(&ring->data_tail, at, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr[2] = { {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(*attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
		.exclude_kernel = 1,
	} };
	int n = argc > 1 ? atoi(argv[1]) : 1;
	const struct timespec each = { .tv_nsec = EACH_NS };
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	if (argc > 2)
		attr->size = (uint32_t)atoi(argv[2]);
	if (argc > 3)
		attr->sample_type = strtoull(argv[3], NULL, 0);
	attr->inherit = argc > 4;
	fd = (int)syscall(SYS_perf_event_open, attr, 0, argc > 4 ? atoi(argv[4]) : -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	ring = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || ring == MAP_FAILED || page == MAP_FAILED) {
		perror("drain");
		return 1;
	}
	for (int i = 0; i < n; i++) {
		madvise(page, PAGE, MADV_DONTNEED);
		*(volatile char *)page = 1;
		drain();
		/* never faster to catch up: a late target would overrun a tracer that is in time */
		nanosleep(&each, NULL);
	}
	printf("%lu samples, %lu lost\n", samples, lost);
	return 0;
}
