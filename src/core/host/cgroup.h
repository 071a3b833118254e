/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cgroups of perf events, by name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/lib/buf.h"

/*
 * Find where the hierarchy of perf events is mounted: version 1 with the controller
 * perf_event, else version 2.  Return false if neither is, or others are mounted over them.
 */
bool cgroup_mount(char *path, size_t size);

/*
 * Open the directory of a cgroup, by its path below the mount, as for perf ("/" is the
 * root cgroup), or by its whole path.  Return a descriptor, or -1 and why, in words.
 */
int cgroup_open(const char *name, struct buf *why);

/*
 * Open the directory of a cgroup of version 2, by its path.  Return a descriptor, or -1 and
 * why, in words.
 */
int cgroup2_open(const char *path, struct buf *why);

/*
 * Return whether the process is in a cgroup of version 2 or one below it; dir: a descriptor of
 * the cgroup's directory.  False if /proc does not tell (cgroups(7), /proc/PID/cgroup).
 */
bool cgroup_has(int dir, pid_t pid);
