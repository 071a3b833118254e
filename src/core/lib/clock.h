/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* Return CLOCK_MONOTONIC in nanoseconds. */
uint64_t clock_ns(void);
