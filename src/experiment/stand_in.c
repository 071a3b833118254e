// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/stand_in.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/lib/program.h"

/* The number is the same on every architecture; older C libraries lack it. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Close all descriptors, which would keep events open, and sleep until killed. */
static _Noreturn void sleep_on(pid_t parent, int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	dup2(ready, 0);
	/* close_range(2) requires Linux 5.9 */
	if (syscall(SYS_close_range, 1, ~0U, 0))
		for (int fd = (int)sysconf(_SC_OPEN_MAX); fd > 0; fd--)
			close(fd);
	close(0);
	for (;;)
		pause();
}

static void stand_in_end(pid_t child)
{
	kill(child, SIGKILL);
	child_wait(child);
}

/* Fork a child; it is ready when the pipe has no writer left. */
static pid_t stand_in_start(void)
{
	pid_t parent = getpid(), child;
	int ends[2], error;
	char none;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	child = fork();
	error = errno;
	if (!child)
		sleep_on(parent, ends[1]);
	close(ends[1]);
	while (child > 0 && read(ends[0], &none, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return child < 0 ? -error : child;
}

pid_t stand_in_for(struct stand_ins *s, pid_t pid)
{
	pid_t child = (pid_t)(intptr_t)map_get(&s->children, (uint64_t)pid);

	if (child)
		return child;
	if (s->children.len >= STAND_INS_MAX)
		return -EAGAIN;
	child = stand_in_start();
	if (child > 0)
		map_set(&s->children, (uint64_t)pid, (void *)(intptr_t)child);
	return child;
}

pid_t stand_in_nobody(struct stand_ins *s)
{
	pid_t child;

	if (s->nobody && kill(s->nobody, 0) && errno == ESRCH)
		return s->nobody;
	child = stand_in_start();
	if (child < 0)
		return child;
	stand_in_end(child);
	return s->nobody = child;
}

void stand_ins_end(struct stand_ins *s)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&s->children, &at)))
		stand_in_end((pid_t)(intptr_t)slot->value);
	map_free(&s->children);
}
