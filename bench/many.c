// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Many events at once: opens N counters, reads each, closes them, and prints
 * what each of the three took in ns per call, and for the opens also of the
 * first and the last tenth, so that what grows with N is seen.
 *
 * They measure a child that sleeps, or with "self" this program: the kernel looks
 * through all events of a task whenever it is switched to, which at each stop costs a
 * traced program more than all else.
 *
 *	many N [self]
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TROUBLE = 2, SPARE = 64 };	/* descriptors for other things */

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "many: %s: %s\n", what, strerror(errno));
	exit(TROUBLE);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void allow(long n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		fail("getrlimit");
	limit.rlim_cur = (rlim_t)n + SPARE;
	if (limit.rlim_max < limit.rlim_cur)
		limit.rlim_max = limit.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		fail("no leave for so many descriptors");
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static int open_counter(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		fail("perf_event_open");
	return (int)fd;
}

static void print(const char *what, double from, double to, long n)
{
	printf("  %-16s %9.0f ns\n", what, n ? (to - from) / (double)n : 0);
}

int main(int argc, char **argv)
{
	bool self = argc == 3 && !strcmp(argv[2], "self");
	long n = argc == 2 || self ? atol(argv[1]) : 0;
	double start, first, last, opened, was_read, closed;
	uint64_t value;
	pid_t pid;
	int *fds;

	if (n < 10) {
		fputs("usage: many N [self] (N: 10 or more)\n", stderr);
		return TROUBLE;
	}
	allow(n);
	fds = calloc((size_t)n, sizeof(*fds));
	if (!fds)
		fail("memory");

	pid = self ? 0 : sleeper();
	start = first = last = now();
	for (long i = 0; i < n; i++) {
		if (i == n / 10)
			first = now();
		if (i == n - n / 10)
			last = now();
		fds[i] = open_counter(pid);
	}
	opened = now();
	for (long i = 0; i < n; i++)
		if (read(fds[i], &value, sizeof(value)) != sizeof(value))
			fail("read");
	was_read = now();
	for (long i = 0; i < n; i++)
		close(fds[i]);
	closed = now();
	free(fds);
	if (pid) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}

	printf("%ld events\n", n);
	print("open", start, opened, n);
	print("  first tenth", start, first, n / 10);
	print("  last tenth", last, opened, n / 10);
	print("read", opened, was_read, n);
	print("close", was_read, closed, n);
	return 0;
}
