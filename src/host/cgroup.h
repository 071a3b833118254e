/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cgroups that perf events know, by name. */
#ifndef PEVTRACE_HOST_CGROUP_H
#define PEVTRACE_HOST_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"

/*
 * Where the hierarchy is mounted that perf events know: that of version 1 with the
 * controller perf_event, else version 2.  False: nowhere.
 */
bool cgroup_mount(char *path, size_t size);

/*
 * Opens the directory of a cgroup, named as perf does, below the mount ("/" is the
 * uppermost one), or by its whole path.  A descriptor, or -1 and why, in words.
 */
int cgroup_open(const char *name, struct buf *why);

#endif
