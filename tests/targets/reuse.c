/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors of events that come to stand for other events: one number for
 * three events in turn, one number for two events in two processes, dup2 over
 * a living one, close-on-exec, and what a child inherits.  Each event is then
 * reset by an ioctl, and before each of these a line is printed:
 *
 *	PID FD KIND
 *
 * which says what the descriptor stands for: the name of its software event,
 * or "none" where there is nothing any more.
 *
 * usage: reuse [hold]
 *
 * hold: prints "ready PID" when the events are open, and waits for a byte on
 * standard input before it goes on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIP = 77 };

static const struct kind {
	const char *name;
	unsigned long long config;
} clocks = { "task-clock", PERF_COUNT_SW_TASK_CLOCK },
  faults = { "page-faults", PERF_COUNT_SW_PAGE_FAULTS },
  switches = { "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES },
  moves = { "cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
  none = { "none", 0 };

static int open_as(const struct kind *kind, int want, bool cloexec)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = kind->config,
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			      cloexec ? PERF_FLAG_FD_CLOEXEC : 0);

	if (fd < 0) {
		perror("reuse: perf_event_open");
		exit(SKIP);
	}
	if (want >= 0 && fd != want) {
		fprintf(stderr, "reuse: got %d, not %d\n", fd, want);
		exit(1);
	}
	return fd;
}

static void use(int fd, const struct kind *kind)
{
	int failed;

	printf("%d %d %s\n", (int)getpid(), fd, kind->name);
	fflush(stdout);
	failed = ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	if (failed != (kind == &none ? -1 : 0)) {
		fprintf(stderr, "reuse: %s on %d: %s\n", kind->name, fd,
			failed ? strerror(errno) : "there");
		exit(1);
	}
}

static void join(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status)) {
		fprintf(stderr, "reuse: the child failed\n");
		exit(1);
	}
}

/* What is left after exec: kept is inherited, cut was close-on-exec. */
static int after_exec(char **argv)
{
	int kept = atoi(argv[2]), cut = atoi(argv[3]);

	use(kept, &moves);
	use(cut, &none);
	close(kept);
	return 0;
}

static void exec_self(int kept, int cut)
{
	char a[16], b[16];
	pid_t pid = fork();

	if (!pid) {
		snprintf(a, sizeof(a), "%d", kept);
		snprintf(b, sizeof(b), "%d", cut);
		execl("/proc/self/exe", "reuse", "exec", a, b, NULL);
		_exit(1);
	}
	join(pid);
}

int main(int argc, char **argv)
{
	const struct kind *turns[] = { &clocks, &faults, &switches };
	int fd = -1, other, kept, cut;
	pid_t pid;
	char c;

	if (argc == 4)
		return after_exec(argv);
	/* one number, three events in turn; the last one stays */
	for (int i = 0; i < 3; i++) {
		if (fd >= 0)
			close(fd);
		fd = open_as(turns[i], fd, true);
		use(fd, turns[i]);
	}
	kept = open_as(&moves, -1, false);
	if (argc > 1) {
		printf("ready %d\n", (int)getpid());
		fflush(stdout);
		if (read(0, &c, 1) != 1)
			return 1;
	}
	use(fd, &switches);
	use(kept, &moves);

	/* one number, two processes; then what the child still shares */
	pid = fork();
	if (!pid) {
		use(fd, &switches);
		close(fd);
		use(open_as(&faults, fd, true), &faults);
		use(kept, &moves);
		_exit(0);
	}
	join(pid);
	use(fd, &switches);

	/* a new event over a living one; the old one lives on elsewhere */
	other = open_as(&clocks, -1, true);
	cut = fcntl(fd, F_DUPFD_CLOEXEC, 50);
	use(cut, &switches);
	dup2(other, fd);
	close(other);
	use(fd, &clocks);
	use(cut, &switches);
	use(other, &none);
	/* not an event any more */
	dup2(1, fd);
	printf("%d %d none\n", (int)getpid(), fd);
	fflush(stdout);
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);

	exec_self(kept, cut);
	use(kept, &moves);
	return 0;
}
