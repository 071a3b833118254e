/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task scale-times of pevtrace learn: scale a count by the times that it was enabled and running. */
#include <err.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct perf_event_attr attr;
	struct {
		uint64_t value, enabled, running;
	} count;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		err(1, "perf_event_open");
	for (volatile int i = 0; i < 1000000; i++)
		;
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		err(1, "read");
	if (!count.running)
		errx(1, "the event was never on its counter");
	printf("%.0f ns, counted during %.1f %% of the time\n",
	       (double)count.value * (double)count.enabled / (double)count.running,
	       100.0 * (double)count.running / (double)count.enabled);
	return 0;
}
