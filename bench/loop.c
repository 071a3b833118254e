// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes the calls that a tracer of perf has to tell apart: poll, ioctl, mmap,
 * munmap and read, N times each.
 *
 *	loop [--perf] N
 *
 * Without --perf none of them concerns perf.  With it, a counter with a ring is
 * opened first, and poll, ioctl and read go to that.  (The ring is mapped only
 * once: to unmap one, the kernel waits for milliseconds.)
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "loop: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		fail("perf_event_open");
	if (mmap(NULL, 2 * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		 MAP_SHARED, (int)fd, 0) == MAP_FAILED)
		fail("mmap of the ring");
	return (int)fd;
}

int main(int argc, char **argv)
{
	bool perf = argc == 3 && !strcmp(argv[1], "--perf");
	long n = argc > 1 ? atol(argv[argc - 1]) : 0;
	int pipes[2], fd;
	size_t size;

	if (argc != 2 + perf || n < 1) {
		fputs("usage: loop [--perf] N\n", stderr);
		return 2;
	}
	if (pipe(pipes))
		fail("pipe");
	fd = perf ? open_counter() : pipes[0];
	size = (size_t)sysconf(_SC_PAGESIZE);

	for (long i = 0; i < n; i++) {
		struct pollfd waits = { .fd = fd, .events = POLLIN };
		uint64_t value = 1;
		int waiting;
		void *map;

		if (poll(&waits, 1, 0) < 0)
			fail("poll");
		if (perf ? ioctl(fd, PERF_EVENT_IOC_RESET, 0)
			 : ioctl(fd, FIONREAD, &waiting))
			fail("ioctl");
		map = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (map == MAP_FAILED)
			fail("mmap");
		munmap(map, size);
		if (!perf && write(pipes[1], &value, sizeof(value)) < 0)
			fail("write");
		if (read(fd, &value, sizeof(value)) < 0)
			fail("read");
	}
	return 0;
}
