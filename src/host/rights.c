// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/rights.h"

#include <fcntl.h>
#include <stdint.h>
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

/* Capabilities of another user namespace (a container's) are none to perf. */
static bool in_first_user_namespace(void)
{
	unsigned long long inside, outside, n;
	char text[128];

	/* no file: no such namespaces */
	return !sysfile_read(AT_FDCWD, "/proc/self/uid_map", text, sizeof(text)) ||
	       (sscanf(text, "%llu %llu %llu", &inside, &outside, &n) == 3 && !inside &&
		!outside && n == UINT32_MAX);
}

bool rights_perfmon(void)
{
	uint64_t wanted = 1ULL << ABI_CAP_PERFMON | 1ULL << ABI_CAP_SYS_ADMIN, have = 0;
	char text[4096];
	const char *line;

	if (!sysfile_read(AT_FDCWD, "/proc/self/status", text, sizeof(text)))
		return false;
	line = strstr(text, "\nCapEff:");
	if (line)
		have = strtoull(line + strlen("\nCapEff:"), NULL, 16);
	return have & wanted && in_first_user_namespace();
}
