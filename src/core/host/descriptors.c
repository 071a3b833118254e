// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 256 };

static bool are_free(size_t n)
{
	int fds[MOST];
	size_t got = 0;

	if (n > MOST)
		n = MOST;
	while (got < n && (fds[got] = open("/", O_PATH | O_CLOEXEC)) >= 0)
		got++;
	for (size_t i = 0; i < got; i++)
		close(fds[i]);
	return got == n;
}

bool descriptors_want(size_t n)
{
	struct rlimit limit;

	if (are_free(n))
		return true;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &limit) && are_free(n);
}
