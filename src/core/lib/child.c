// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

int child_wait(pid_t pid)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int child_run(void (*body)(const void *ctx, void *out), const void *ctx, void *out, size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	memset(out, 0, size);
	if (shared == MAP_FAILED)
		return -1;
	pid = fork();
	if (!pid) {
		body(ctx, shared);
		_exit(0);
	}
	status = child_wait(pid);
	memcpy(out, shared, size);
	munmap(shared, size);
	return status;
}

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/*
 * Bytes of data: above what the debug information of the largest programs requires, but
 * below the shadow memory of the sanitizers.
 */
#ifdef SANITIZED
static const rlim_t max_memory = RLIM_INFINITY;
#else
static const rlim_t max_memory = (rlim_t)3 << 30;
#endif

void helper_seclude(const char *name, int socket)
{
	sigset_t all;

	setsid();
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_DUMPABLE, 0);
	signal(SIGALRM, SIG_DFL);
	signal(SIGPROF, SIG_DFL);
	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	sigdelset(&all, SIGPROF);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setrlimit(RLIMIT_DATA, &(struct rlimit){ max_memory, max_memory });
	if (dup2(socket, HELPER_SOCKET) < 0 || dup2(HELPER_SOCKET, HELPER_FILE) < 0)
		_exit(1);
	syscall(SYS_close_range, HELPER_DESCRIPTORS, ~0U, 0);
}

void helper_limit(time_t cpu, time_t all)
{
	setitimer(ITIMER_PROF, &(struct itimerval){ .it_value.tv_sec = cpu }, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_sec = all }, NULL);
}
