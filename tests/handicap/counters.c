// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A library for LD_PRELOAD: the counts of hardware events are not those of the machine, as under
 * hypervisors that emulate counters badly.  COUNTERS is zero, frozen (the first count that is not
 * 0 is repeated), absurd (a thousand times as much), or silent (no overflow, and so no sample).
 * They are real events of the machine, whose counts are changed when they are read.
 */
#include "preload.h"

#include <stdlib.h>
#include <string.h>

enum { FDS = 1024, ABSURD = 1000 };

static bool hardware[FDS];
static uint64_t frozen[FDS];

static bool mode(const char *word)
{
	const char *is = getenv("COUNTERS");

	return is && !strcmp(is, word);
}

static void change(int fd, uint64_t *count)
{
	if (!frozen[fd])
		frozen[fd] = *count;
	if (mode("zero"))
		*count = 0;
	else if (mode("frozen"))
		*count = frozen[fd];
	else if (mode("absurd"))
		*count *= ABSURD;
}

static long open_event(const long *a)
{
	char *attr = (char *)a[0];
	uint64_t *place = (uint64_t *)(attr + offsetof(struct perf_event_attr, sample_period));
	const uint64_t never = 1ULL << 40;
	uint64_t period;
	uint32_t type;
	bool is = copy(SYS_process_vm_readv, &type, attr, sizeof(type)) &&
		  type == PERF_TYPE_HARDWARE;
	bool silent = is && mode("silent") &&
		      copy(SYS_process_vm_readv, &period, place, sizeof(period)) && period &&
		      copy(SYS_process_vm_writev, (void *)&never, place, sizeof(never));
	long fd = call(SYS_perf_event_open, a);

	if (silent)
		copy(SYS_process_vm_writev, &period, place, sizeof(period));
	if (fd >= 0 && fd < FDS) {
		hardware[fd] = is;
		frozen[fd] = 0;
	}
	return fd;
}

static long read_event(const long *a)
{
	long n = call(SYS_read, a);
	int fd = (int)a[0];

	if (n >= (long)sizeof(uint64_t) && fd >= 0 && fd < FDS && hardware[fd])
		change(fd, (uint64_t *)a[1]);
	return n;
}

static long preload_call(long nr, const long *a)
{
	return nr == SYS_perf_event_open ? open_event(a) :
	       nr == SYS_read ? read_event(a) : call(nr, a);
}

ssize_t read(int fd, void *buf, size_t size)
{
	return result(read_event((const long[6]){ fd, (long)buf, (long)size }));
}
