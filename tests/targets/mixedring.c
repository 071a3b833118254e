/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Several events with a sample_type each of their own write into one ring.
 * Every event watches a variable of its own, so that a sample's address tells
 * whose it is, and how many there are is known beforehand.
 *
 * usage: mixedring identifier | id | none
 *
 * identifier: all have PERF_SAMPLE_IDENTIFIER; id: all have PERF_SAMPLE_ID, and
 * the same before it; none: no record says whose it is.  Prints
 *
 *	event ID ADDRESS SAMPLES SAMPLE_TYPE
 *	comm ID RECORDS
 *	ring BYTES TAIL
 *
 * where BYTES is data_head at the end.  Exits with 77 where there are no
 * hardware breakpoints.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
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

enum { EVENTS = 3, NAMES = 4, DATA_PAGES = 8, SKIP = 77 };

static volatile long watched[EVENTS] __attribute__((aligned(64)));

static const uint64_t more[EVENTS] = {
	0,
	PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_READ,
};

static int event_open(struct perf_event_attr *attr)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		int error = errno;

		perror("mixedring: perf_event_open");
		exit(error == ENODEV || error == ENOENT ||
		     error == EOPNOTSUPP || error == EACCES ||
		     error == EPERM ? SKIP : 1);
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

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "identifier";
	uint64_t which = !strcmp(how, "identifier") ? PERF_SAMPLE_IDENTIFIER :
			 !strcmp(how, "id") ? PERF_SAMPLE_ID : 0;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	uint64_t types[EVENTS];
	int fds[EVENTS], names;

	for (int i = 0; i < EVENTS; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_BREAKPOINT,
			.size = sizeof(attr),
			.bp_type = HW_BREAKPOINT_W,
			.bp_addr = (uintptr_t)&watched[i],
			.bp_len = sizeof(watched[i]),
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |
				       which | more[i],
			.read_format = PERF_FORMAT_ID,
			.exclude_kernel = 1,
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

	for (int i = 0; i < EVENTS; i++)
		ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0);
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < EVENTS; i++)
			for (int n = 0; n <= i; n++)
				watched[i]++;
	for (int i = 0; i < NAMES; i++)
		prctl(PR_SET_NAME, i % 2 ? "odd" : "even");
	for (int i = 0; i < EVENTS; i++)
		ioctl(fds[i], PERF_EVENT_IOC_DISABLE, 0);

	for (int i = 0; i < EVENTS; i++)
		printf("event %" PRIu64 " %#" PRIxPTR " %d %#" PRIx64 "\n",
		       id_of(fds[i]), (uintptr_t)&watched[i], 5 * (i + 1),
		       types[i]);
	printf("comm %" PRIu64 " %d\n", id_of(names), NAMES);
	printf("ring %llu %llu\n", (unsigned long long)page->data_head,
	       (unsigned long long)page->data_tail);
	return 0;
}
