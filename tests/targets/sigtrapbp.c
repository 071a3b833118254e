/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A breakpoint whose event sends SIGTRAP to the thread that hits it.
 *
 * usage: sigtrapbp [HITS]
 *
 * Prints "hits SEEN of MADE, data right N, address ADDRESS", as the signal
 * handler saw it.  Exits with 77 where the kernel does not know sigtrap or
 * there are no breakpoints.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SKIP = 77, PERF_CODE = 6 };	/* TRAP_PERF */

static const uint64_t cookie = 0x5eed1234abcd0042;
static volatile long watched;
static volatile sig_atomic_t seen, right;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	uint64_t data;

	(void)sig;
	(void)context;
	/* si_perf_data: behind si_addr, and unnamed in older C libraries */
	memcpy(&data, (char *)&info->si_addr + sizeof(void *), sizeof(data));
	seen++;
	right += info->si_code == PERF_CODE && info->si_addr == &watched &&
		 data == cookie;
}

int main(int argc, char **argv)
{
	struct sigaction act = {
		.sa_sigaction = on_trap,
		.sa_flags = SA_SIGINFO,
	};
	int hits = argc > 1 ? atoi(argv[1]) : 7;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = sizeof(watched),
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.sig_data = cookie,
		.disabled = 1,
	};
	uint64_t count = 0;
	int fd;

	sigaction(SIGTRAP, &act, NULL);
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		perror("sigtrapbp: perf_event_open");
		return SKIP;
	}
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < hits; i++)
		watched++;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		perror("sigtrapbp: read");
	close(fd);
	printf("hits %d of %d, data right %d, address %#lx, count %llu\n",
	       (int)seen, hits, (int)right, (unsigned long)&watched,
	       (unsigned long long)count);
	return 0;
}
