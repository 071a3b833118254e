/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task overflow-signal of pevtrace learn: a signal at each overflow, three times. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FAULTS = 8 };

static volatile sig_atomic_t overflows;

static void on_overflow(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	/* POLL_IN: an overflow, POLL_HUP: the last one that IOC_REFRESH allowed */
	if (info->si_code == POLL_IN || info->si_code == POLL_HUP)
		overflows++;
}

int main(void)
{
	const struct sigaction action = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO };
	struct f_owner_ex owner = { .type = F_OWNER_TID };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr;
	char *fresh;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_period = 1;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		err(1, "perf_event_open");
	fresh = mmap(NULL, FAULTS * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED)
		err(1, "mmap");
	madvise(fresh, FAULTS * page, MADV_NOHUGEPAGE);
	sigaction(SIGRTMIN, &action, NULL);
	owner.pid = (pid_t)syscall(SYS_gettid);
	fcntl(fd, F_SETOWN_EX, &owner);
	fcntl(fd, F_SETSIG, SIGRTMIN);	/* a signal with si_fd, and each of its own */
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
	ioctl(fd, PERF_EVENT_IOC_REFRESH, 3);
	for (size_t i = 0; i < FAULTS; i++)
		fresh[i * page] = 1;
	printf("%d overflows\n", (int)overflows);
	return 0;
}
