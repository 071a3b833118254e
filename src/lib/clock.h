/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PEVTRACE_LIB_CLOCK_H
#define PEVTRACE_LIB_CLOCK_H

#include <stdint.h>

/* Return CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_ns(void);

#endif
