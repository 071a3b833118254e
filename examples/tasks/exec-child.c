/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task exec-child of pevtrace learn: count what a program does from its first instruction on. */
#include <err.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	struct perf_event_attr attr;
	uint64_t faults;
	int go[2], fd;
	pid_t child;
	char byte;

	if (pipe(go))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		/* wait for the event */
		if (read(go[0], &byte, 1) != 1)
			_exit(127);
		execlp("true", "true", (char *)NULL);
		_exit(127);
	}
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.disabled = 1;
	attr.enable_on_exec = 1;
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, child, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		err(1, "perf_event_open");
	if (write(go[1], "", 1) != 1)
		err(1, "write");
	waitpid(child, NULL, 0);
	if (read(fd, &faults, sizeof(faults)) != sizeof(faults))
		err(1, "read");
	printf("%llu page faults\n", (unsigned long long)faults);
	return 0;
}
