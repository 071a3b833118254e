/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One perf_event_open(2), with an attr of any bytes. */
#ifndef PEVTRACE_DRIVE_OPEN_EVENT_H
#define PEVTRACE_DRIVE_OPEN_EVENT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Makes the call with an attr of which len bytes can be read, and not one more;
 * attr NULL passes the null pointer.  What the kernel writes into the attr (its
 * size, with E2BIG) is in attr afterwards.  Returns a descriptor, which is the
 * caller's to close, or a negative errno.
 */
int open_event(uint8_t *attr, size_t len, int32_t pid, int32_t cpu, int32_t group_fd,
	       uint64_t flags);

#endif
