/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The privileges of this process for perf events. */
#ifndef PEVTRACE_HOST_RIGHTS_H
#define PEVTRACE_HOST_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/* Return a number of /proc/sys/kernel, or otherwise if it cannot be read. */
long rights_sysctl(const char *name, long otherwise);

/* Return the effective capabilities of this process, CapEff of /proc/self/status; or 0. */
uint64_t rights_effective(void);

/*
 * Return whether pevtrace is in the first user namespace: capabilities in another one, such
 * as a container's, do not count for perf events.
 */
bool rights_in_first_user_ns(void);

/* Return whether this process has CAP_PERFMON, or CAP_SYS_ADMIN, which includes it. */
bool rights_perfmon(void);

#endif
