/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples with counts (PERF_SAMPLE_READ) and no ids: of page faults, each of which is a sample.
 *
 * usage: readsamples single|group READ_FORMAT [beside [later]]
 *
 * READ_FORMAT is a mask.  group: a second event counts faults that were minor, without samples and
 * ring; a third one is between them in the order of opening and closed before the samples.
 * beside: a context switch counter with a ring of its own, with other samples, is opened first;
 * later: some samples and a byte of standard input before the others.
 * Prints for each event with samples, or whose count is in them
 *
 *	NAME SAMPLES COUNT
 *
 * where COUNT is that in the last sample, or the number of samples, at the end of standard input.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FAULTS = 50, DATA_PAGES = 8 };

struct ring {
	struct perf_event_mmap_page *page;
	uint64_t samples, last[2];
};

static long page_size;

static int event_open(uint64_t config, uint64_t type, uint64_t format, int group)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = type ? 1 : 0,
		.sample_type = type,
		.read_format = format,
		.disabled = group < 0,
		.exclude_kernel = config != PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		perror("readsamples: perf_event_open");
		exit(1);
	}
	return fd;
}

static void ring_map(struct ring *r, int fd)
{
	r->page = mmap(NULL, (size_t)((1 + DATA_PAGES) * page_size), PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, 0);
	if (r->page == MAP_FAILED) {
		perror("readsamples: mmap");
		exit(1);
	}
}

/* Count the samples, and keep the two counts of the last one, at these words of it. */
static void ring_read(struct ring *r, size_t first, size_t second)
{
	const char *data = (const char *)r->page + page_size;

	for (uint64_t at = 0; at < r->page->data_head;) {
		const uint64_t *words = (const uint64_t *)(data + at);
		const struct perf_event_header *h = (const struct perf_event_header *)words;

		if (h->type == PERF_RECORD_SAMPLE) {
			r->samples++;
			r->last[0] = words[first];
			r->last[1] = words[second];
		}
		at += h->size;
	}
}

int main(int argc, char **argv)
{
	const uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ;
	int group = argc > 2 && !strcmp(argv[1], "group"), beside = argc > 3, other = -1, fd;
	uint64_t format = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	size_t times = (size_t)__builtin_popcountll(format & (PERF_FORMAT_TOTAL_TIME_ENABLED |
							      PERF_FORMAT_TOTAL_TIME_RUNNING));
	size_t more = (size_t)__builtin_popcountll(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
	struct ring faults = { 0 }, switches = { 0 };
	volatile char *memory;
	char byte;

	page_size = sysconf(_SC_PAGESIZE);
	if (beside) {
		other = event_open(PERF_COUNT_SW_CONTEXT_SWITCHES,
				   PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, 0, -1);
		ring_map(&switches, other);
		if (argc > 4) {
			ioctl(other, PERF_EVENT_IOC_ENABLE, 0);
			for (int i = 0; i < 5; i++)
				usleep(1);
			if (read(STDIN_FILENO, &byte, 1) != 1)
				return 1;
		}
	}
	fd = event_open(PERF_COUNT_SW_PAGE_FAULTS, type, format | (group ? PERF_FORMAT_GROUP : 0),
			-1);
	if (group) {
		int closed = event_open(PERF_COUNT_SW_ALIGNMENT_FAULTS, 0, 0, fd);

		event_open(PERF_COUNT_SW_PAGE_FAULTS_MIN, 0, 0, fd);
		close(closed);
	}
	ring_map(&faults, fd);
	memory = mmap(NULL, (size_t)(FAULTS * page_size), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)memory, (size_t)(FAULTS * page_size), MADV_NOHUGEPAGE);
	if (beside)
		ioctl(other, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	for (int i = 0; i < FAULTS; i++) {
		memory[i * page_size] = 1;
		if (beside && i % 10 == 0)
			usleep(1);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	if (beside)
		ioctl(other, PERF_EVENT_IOC_DISABLE, 0);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	/* header, ip, tid, time; then nr and the times, or the count first */
	if (group)
		ring_read(&faults, 5 + times, 6 + times + more);
	else
		ring_read(&faults, 4, 4);
	printf("page-faults %llu %llu\n", (unsigned long long)faults.samples,
	       (unsigned long long)faults.last[0]);
	if (group)
		printf("minor-faults %llu %llu\n", (unsigned long long)faults.samples,
		       (unsigned long long)faults.last[1]);
	if (beside) {
		ring_read(&switches, 0, 0);
		printf("context-switches %llu %llu\n", (unsigned long long)switches.samples,
		       (unsigned long long)switches.samples);
	}
	return 0;
}
