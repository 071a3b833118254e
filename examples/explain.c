/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Explain why the kernel refuses an event of one's own.
 *
 * cc explain.c -o explain $(pkg-config --cflags --libs libpevtrace)
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pevtrace.h>

int main(void)
{
	struct perf_event_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.freq = 1;
	attr.sample_freq = 100000000;

	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0) {
		struct pevtrace_open call = {
			.size = sizeof(call), .attr = &attr, .attr_len = sizeof(attr),
			.cpu = -1, .group_fd = -1,
		};
		char why[256];

		if (pevtrace_explain(&call, errno, why, sizeof(why)) > 0)
			fprintf(stderr, "perf_event_open: %s\n", why);
		return 1;
	}
	puts("the event opened");
	close((int)fd);
	return 0;
}
