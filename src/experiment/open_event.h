/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One perf_event_open(2), with an attr of any bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Call perf_event_open(2) with an attr of exactly len readable bytes, or with a null
 * pointer if attr is NULL.  What the kernel writes to the attr (its size, with E2BIG) is
 * copied back.  Return a descriptor, which the caller closes, or a negative errno.
 */
int open_event(uint8_t *attr, size_t len, int32_t pid, int32_t cpu, int32_t group_fd,
	       uint64_t flags);

/* Set a member (ATTR_*) of an attr. */
void attr_put(uint8_t *attr, unsigned int index, uint64_t v);
