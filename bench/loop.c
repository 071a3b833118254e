// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes the calls that a tracer of perf has to tell apart, N times each.
 *
 *	loop N		poll, ioctl, mmap, munmap and read, on a pipe
 *	loop --beside N	the same, while a counter with a ring is open
 *	loop --perf N	poll, ioctl and read on the counter
 *	loop --storm N	perf_event_open, ioctl, read and close of a counter
 *	loop --spin N	no calls: N million multiplications
 *
 * (The ring is mapped only once: to unmap one, the kernel waits for
 * milliseconds.)
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
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
	return (int)fd;
}

static int open_ring(void)
{
	int fd = open_counter();

	if (mmap(NULL, 2 * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		 MAP_SHARED, fd, 0) == MAP_FAILED)
		fail("mmap of the ring");
	return fd;
}

/* counter: the descriptor that is used, or -1: a pipe. */
static void mixed(long n, int counter)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int pipes[2], fd = counter;

	if (pipe(pipes))
		fail("pipe");
	if (counter < 0)
		fd = pipes[0];
	for (long i = 0; i < n; i++) {
		struct pollfd waits = { .fd = fd, .events = POLLIN };
		uint64_t value = 1;
		int waiting;
		void *map;

		if (poll(&waits, 1, 0) < 0)
			fail("poll");
		if (counter < 0 ? ioctl(fd, FIONREAD, &waiting)
				: ioctl(fd, PERF_EVENT_IOC_RESET, 0))
			fail("ioctl");
		map = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (map == MAP_FAILED)
			fail("mmap");
		munmap(map, size);
		if (counter < 0 && write(pipes[1], &value, sizeof(value)) < 0)
			fail("write");
		if (read(fd, &value, sizeof(value)) < 0)
			fail("read");
	}
}

static void storm(long n)
{
	for (long i = 0; i < n; i++) {
		int fd = open_counter();
		uint64_t value;

		if (ioctl(fd, PERF_EVENT_IOC_RESET, 0))
			fail("ioctl");
		if (read(fd, &value, sizeof(value)) < 0)
			fail("read");
		close(fd);
	}
}

static void spin(long n)
{
	volatile uint64_t x = 1;

	for (long i = 0; i < n * 1000000; i++)
		x = x * 6364136223846793005ULL + 1;
}

int main(int argc, char **argv)
{
	const char *how = argc == 3 ? argv[1] : "";
	long n = argc > 1 ? atol(argv[argc - 1]) : 0;

	if (n < 1 || argc > 3)
		how = "?";
	if (!*how) {
		mixed(n, -1);
	} else if (!strcmp(how, "--beside")) {
		open_ring();
		mixed(n, -1);
	} else if (!strcmp(how, "--perf")) {
		mixed(n, open_ring());
	} else if (!strcmp(how, "--storm")) {
		storm(n);
	} else if (!strcmp(how, "--spin")) {
		spin(n);
	} else {
		fputs("usage: loop [--beside | --perf | --storm | --spin] N\n", stderr);
		return 2;
	}
	return 0;
}
