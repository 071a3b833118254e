/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Several events with a sample_type each of their own write into one ring.
 * Each event counts the faults of a page of its own, so that a sample's address
 * tells whose it is, and how many there are is known beforehand.
 *
 * usage: mixedring identifier | id | none
 *
 * identifier: all have PERF_SAMPLE_IDENTIFIER; id: all have PERF_SAMPLE_ID, and
 * the same before it; none: no record says whose it is.  Prints
 *
 *	event ID ADDRESS SAMPLES SAMPLE_TYPE NAME
 *	comm ID RECORDS
 *	ring BYTES TAIL
 *
 * where NAME is perf's name of the event, and BYTES is data_head at the end.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EVENTS = 3, NAMES = 4, DATA_PAGES = 8 };

static const struct {
	uint64_t config, more;	/* more: bits of sample_type */
	unsigned int exclude_hv : 1;
	const char *name;
} kinds[EVENTS] = {
	{ PERF_COUNT_SW_PAGE_FAULTS, 0, 0, "page-faults:uh" },
	{ PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD, 0, "minor-faults:uh" },
	{ PERF_COUNT_SW_PAGE_FAULTS, PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_READ, 1, "page-faults:u" },
};

static int event_open(struct perf_event_attr *attr)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		perror("mixedring: perf_event_open");
		exit(1);
	}
	return fd;
}

static uint64_t id_of(int fd)
{
	uint64_t id = 0;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		perror("mixedring: PERF_EVENT_IOC_ID");
	return id;
}

static void lead_into(int fd, int ring)
{
	if (!ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring))
		return;
	perror("mixedring: PERF_EVENT_IOC_SET_OUTPUT");
	exit(1);
}

/* Cause faults of a page while an event is enabled. */
static void fault(int fd, volatile char *page, size_t size, int times)
{
	for (int i = 0; i < times; i++) {
		madvise((void *)page, size, MADV_DONTNEED);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		*page = 1;
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "identifier";
	uint64_t which = !strcmp(how, "identifier") ? PERF_SAMPLE_IDENTIFIER :
			 !strcmp(how, "id") ? PERF_SAMPLE_ID : 0;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	uint64_t types[EVENTS];
	volatile char *faulted = mmap(NULL, EVENTS * page_size, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fds[EVENTS], names;

	if (faulted == MAP_FAILED) {
		perror("mixedring: mmap");
		return 1;
	}

	for (int i = 0; i < EVENTS; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(attr),
			.config = kinds[i].config,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |
				       which | kinds[i].more,
			.read_format = PERF_FORMAT_ID,
			.exclude_kernel = 1,
			.exclude_hv = kinds[i].exclude_hv,
			.sample_id_all = 1,
			.disabled = 1,
		};

		types[i] = attr.sample_type;
		fds[i] = event_open(&attr);
	}
	page = mmap(NULL, (1 + DATA_PAGES) * page_size, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fds[0], 0);
	if (page == MAP_FAILED) {
		perror("mixedring: mmap");
		return 1;
	}
	for (int i = 1; i < EVENTS; i++)
		lead_into(fds[i], fds[0]);
	names = event_open(&(struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | which,
		.comm = 1,
		.sample_id_all = 1,
		.exclude_kernel = 1,
	});
	lead_into(names, fds[0]);

	for (int round = 0; round < 5; round++)
		for (int i = 0; i < EVENTS; i++)
			fault(fds[i], faulted + (size_t)i * page_size, page_size, i + 1);
	for (int i = 0; i < NAMES; i++)
		prctl(PR_SET_NAME, i % 2 ? "odd" : "even");

	for (int i = 0; i < EVENTS; i++)
		printf("event %" PRIu64 " %#" PRIxPTR " %d %#" PRIx64 " %s\n",
		       id_of(fds[i]), (uintptr_t)(faulted + (size_t)i * page_size), 5 * (i + 1),
		       types[i], kinds[i].name);
	printf("comm %" PRIu64 " %d\n", id_of(names), NAMES);
	printf("ring %llu %llu\n", (unsigned long long)page->data_head,
	       (unsigned long long)page->data_tail);
	return 0;
}
