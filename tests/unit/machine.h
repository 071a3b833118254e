/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What this machine can do, found by trying it; a test that lacks something is skipped. */
#ifndef PEVTRACE_TESTS_UNIT_MACHINE_H
#define PEVTRACE_TESTS_UNIT_MACHINE_H

#include <errno.h>
#include <grp.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Return whether an event of this process that excludes the kernel opens; set errno if not. */
static inline bool events_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static inline void need_events(void)
{
	if (!events_open()) {
		print_message("no perf event can be opened here: %s\n", strerror(errno));
		skip();
	}
}

/* Skip the test where this process cannot become nobody, as in some user namespaces. */
static inline void need_another_user(void)
{
	enum { NOBODY = 65534 };
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		      setresuid(NOBODY, NOBODY, NOBODY));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status) {
		print_message("needs root, to become another user\n");
		skip();
	}
}

/* Skip the test where a breakpoint does not open, or opens and does not fire. */
static inline void need_breakpoints(void)
{
	static volatile uint32_t variable;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .exclude_kernel = 1,
		.bp_type = HW_BREAKPOINT_W, .bp_addr = (uintptr_t)&variable,
		.bp_len = HW_BREAKPOINT_LEN_4,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t count = 0;

	if (fd < 0) {
		print_message("breakpoints cannot be opened on this machine: %s\n",
			      strerror(errno));
		skip();
	}
	variable = 1;
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		fail_msg("cannot read the count of a breakpoint");
	close(fd);
	if (!count) {
		print_message("breakpoints do not fire on this machine\n");
		skip();
	}
}

/* Skip the test where the kernel does not execute a program of 32 bits. */
static inline void need_program(const char *path)
{
	pid_t pid;
	int status;

	if (access(path, X_OK)) {
		print_message("%s is not built\n", path);
		skip();
	}
	pid = fork();
	if (!pid) {
		close(1);
		execl(path, path, (char *)NULL);
		_exit(errno == ENOEXEC ? 126 : 127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 126) {
		print_message("%s: this kernel does not run 32-bit programs\n", path);
		skip();
	}
}

#endif
