// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/open_event.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "engine/rings/ring.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static int sys_perf_event_open(const void *attr, int32_t pid, int32_t cpu, int32_t group_fd,
			       uint64_t flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
			  (unsigned long)flags);

	return fd < 0 ? -errno : (int)fd;
}

int open_event(uint8_t *attr, size_t len, int32_t pid, int32_t cpu, int32_t group_fd,
	       uint64_t flags)
{
	struct fence f;
	uint8_t *copy;
	int fd, error;

	if (!attr)
		return sys_perf_event_open(NULL, pid, cpu, group_fd, flags);
	error = fence_make(&f, len);
	/* callers would mistake an errno for the result of perf_event_open() */
	if (error)
		die("cannot map memory for an attr: %s", strerror(-error));
	copy = fence_put(&f, attr, len);
	fd = sys_perf_event_open(copy, pid, cpu, group_fd, flags);
	memcpy(attr, copy, len);
	fence_free(&f);
	return fd;
}

void attr_put(uint8_t *attr, unsigned int index, uint64_t v)
{
	field_set(&layout_perf_event_attr.fields[index], v, attr);
}
