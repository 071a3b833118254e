// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drive/open_event.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/die.h"

static int call(const void *attr, int32_t pid, int32_t cpu, int32_t group_fd,
		uint64_t flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
			  (unsigned long)flags);

	return fd < 0 ? -errno : (int)fd;
}

int open_event(uint8_t *attr, size_t len, int32_t pid, int32_t cpu, int32_t group_fd,
	       uint64_t flags)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (len + page - 1) / page * page;
	uint8_t *map, *copy;
	int fd;

	if (!attr)
		return call(NULL, pid, cpu, group_fd, flags);
	/* its end is the end of what is mapped to read */
	map = mmap(NULL, room + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* not to be taken for what the kernel says to the call */
	if (map == MAP_FAILED || mprotect(map, room, PROT_READ | PROT_WRITE))
		die("cannot map memory for an attr: %s", strerror(errno));
	copy = map + room - len;
	memcpy(copy, attr, len);
	fd = call(copy, pid, cpu, group_fd, flags);
	memcpy(attr, copy, len);
	munmap(map, room + page);
	return fd;
}
