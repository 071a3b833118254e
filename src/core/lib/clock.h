/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <time.h>

/* Return a clock in nanoseconds; 0 if there is none with that number. */
static inline uint64_t clock_ns_of(clockid_t clock)
{
	struct timespec now = { 0, 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Return CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t clock_ns(void)
{
	return clock_ns_of(CLOCK_MONOTONIC);
}
