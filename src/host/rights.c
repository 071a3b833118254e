// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/rights.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/sysfile.h"
#include "xlat/constants.h"

long rights_sysctl(const char *name, long otherwise)
{
	char path[128];
	int64_t v;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return sysfile_number(AT_FDCWD, path, &v) ? (long)v : otherwise;
}

/* perf_event_open ignores capabilities in another user namespace (a container's). */
static bool in_first_user_namespace(void)
{
	unsigned long long inside, outside, n;
	char text[128];

	/* without the file the kernel has no user namespaces */
	return !sysfile_read(AT_FDCWD, "/proc/self/uid_map", text, sizeof(text)) ||
	       (sscanf(text, "%llu %llu %llu", &inside, &outside, &n) == 3 && !inside &&
		!outside && n == UINT32_MAX);
}

uint64_t rights_effective(void)
{
	static const char key[] = "\nCapEff:";
	char text[4096];
	const char *line;

	if (!sysfile_read(AT_FDCWD, "/proc/self/status", text, sizeof(text)))
		return 0;
	line = strstr(text, key);
	return line ? strtoull(line + strlen(key), NULL, 16) : 0;
}

bool rights_perfmon(void)
{
	uint64_t wanted = 1ULL << ABI_CAP_PERFMON | 1ULL << ABI_CAP_SYS_ADMIN;

	return rights_effective() & wanted && in_first_user_namespace();
}
