// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/rights.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/sysfile.h"
#include "xlat/constants.h"

/* The inode of the first user namespace (PROC_USER_INIT_INO of the kernel). */
#define FIRST_USER_NS "user:[4026531837]"

long rights_sysctl(const char *name, long otherwise)
{
	char path[128];
	int64_t v;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return sysfile_number(AT_FDCWD, path, &v) ? (long)v : otherwise;
}

bool rights_in_first_user_ns(void)
{
	char link[64];
	ssize_t n = readlink("/proc/self/ns/user", link, sizeof(link) - 1);

	link[n < 0 ? 0 : n] = '\0';
	/* no file: a kernel without user namespaces */
	return n < 0 || !strcmp(link, FIRST_USER_NS);
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

	return rights_effective() & wanted && rights_in_first_user_ns();
}
