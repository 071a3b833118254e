/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The privileges of this process for perf events. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/rules.h"

/* Return a number of /proc/sys/kernel, or otherwise if it cannot be read. */
long rights_sysctl(const char *name, long otherwise);

/* Return the effective capabilities of this process, 1 << CAP_*; see capget(2). */
uint64_t rights_effective(void);

/*
 * Return whether pevtrace is in the first user namespace: capabilities in another one, such
 * as a container's, do not count for perf events.  Without /proc, that is known since Linux 6.11.
 */
enum fact rights_user_ns_is_first(void);

/*
 * Return whether this process has CAP_PERFMON, or CAP_SYS_ADMIN, which includes it; false if its
 * user namespace is not known.
 */
bool rights_perfmon(void);
