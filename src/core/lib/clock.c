// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/clock.h"

#include <time.h>

uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
