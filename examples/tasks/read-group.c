/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task read-group of pevtrace learn: read two events of a group with one read. */
#include <err.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile char fresh[1 << 20];

static int open_event(uint64_t config, int leader)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = config;
	attr.read_format = PERF_FORMAT_GROUP;
	attr.disabled = leader < 0;	/* the others are enabled with their leader */
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		err(1, "perf_event_open");
	return fd;
}

int main(void)
{
	struct {
		uint64_t nr, clock, faults;
	} counts = { 0 };
	int leader = open_event(PERF_COUNT_SW_TASK_CLOCK, -1);

	open_event(PERF_COUNT_SW_PAGE_FAULTS, leader);
	ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	for (size_t i = 0; i < sizeof(fresh); i += 4096)
		fresh[i] = 1;
	ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	if (read(leader, &counts, sizeof(counts)) != sizeof(counts))
		err(1, "read");
	printf("%llu ns, %llu page faults\n", (unsigned long long)counts.clock,
	       (unsigned long long)counts.faults);
	return 0;
}
