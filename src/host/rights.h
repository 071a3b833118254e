/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What this user may do with perf events here. */
#ifndef PEVTRACE_HOST_RIGHTS_H
#define PEVTRACE_HOST_RIGHTS_H

#include <stdbool.h>

/* A number of /proc/sys/kernel, or otherwise when it cannot be read. */
long rights_sysctl(const char *name, long otherwise);

/* We have CAP_PERFMON, or CAP_SYS_ADMIN which comes to the same. */
bool rights_perfmon(void);

#endif
