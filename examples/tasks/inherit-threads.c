/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task inherit-threads of pevtrace learn: count the work of two threads with one event. */
#include <err.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *work(void *unused)
{
	for (volatile int i = 0; i < 1000000; i++)
		;
	return unused;
}

int main(void)
{
	struct perf_event_attr attr;
	pthread_t threads[2];
	uint64_t ns;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.inherit = 1;
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		err(1, "perf_event_open");
	/* only threads that are created after the open have the event */
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			errx(1, "pthread_create failed");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (read(fd, &ns, sizeof(ns)) != sizeof(ns))
		err(1, "read");
	printf("%llu ns\n", (unsigned long long)ns);
	return 0;
}
