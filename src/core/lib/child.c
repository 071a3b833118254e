// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/child.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
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
