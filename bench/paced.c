// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opens, resets, reads and closes a counter at a steady rate, and prints how many of the
 * first three calls it made, and in how many ns.
 *
 *	paced RATE MS [PROCESSES]
 *
 * RATE: calls a second of all processes together; 0: as many as they can.  MS: for how
 * long.  One that is slowed down makes fewer calls: it does not run longer.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 3, PAUSE_NS = 200 * 1000 };

/* What a process did. */
struct done {
	uint64_t calls, ns;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "paced: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1000000000ULL * (uint64_t)t.tv_sec + (uint64_t)t.tv_nsec;
}

static void once(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	uint64_t value;

	if (fd < 0)
		fail("perf_event_open");
	if (ioctl(fd, PERF_EVENT_IOC_RESET, 0))
		fail("ioctl");
	if (read(fd, &value, sizeof(value)) != sizeof(value))
		fail("read");
	close(fd);
}

static void run(double rate, uint64_t ns, struct done *done)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	uint64_t start = now(), t = start;

	while (t - start < ns) {
		if (rate > 0 && (double)done->calls >= rate * (double)(t - start) / 1e9) {
			nanosleep(&pause, NULL);
		} else {
			once();
			done->calls += CALLS;
		}
		t = now();
	}
	done->ns = t - start;
}

int main(int argc, char **argv)
{
	double rate = argc > 2 ? atof(argv[1]) : -1;
	uint64_t ns = argc > 2 ? 1000000ULL * (uint64_t)atol(argv[2]) : 0, calls = 0, longest = 0;
	int n = argc > 3 ? atoi(argv[3]) : 1;
	struct done *done;

	if (rate < 0 || n < 1 || argc > 4) {
		fputs("usage: paced RATE MS [PROCESSES]\n", stderr);
		return 2;
	}
	done = mmap(NULL, (size_t)n * sizeof(*done), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED)
		fail("mmap");
	for (int i = 1; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (!pid) {
			run(rate / n, ns, &done[i]);
			_exit(0);
		}
	}
	run(rate / n, ns, &done[0]);
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < n; i++) {
		calls += done[i].calls;
		longest = done[i].ns > longest ? done[i].ns : longest;
	}
	printf("%llu %llu\n", (unsigned long long)calls, (unsigned long long)longest);
	return 0;
}
