/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that processes map. */
#pragma once

#include <sys/types.h>

#include "core/lib/buf.h"

/* Return a descriptor of path if it is a regular file, else -1. */
int mapped_file_open_regular(const char *path);

/*
 * Open a regular file by its absolute path in the root directory of a process, which may be in a
 * container, or in ours if that has ended or is not accessible.  proc: "/proc".  Return -1 if there
 * is no such file; set name to the path that was tried.
 */
int mapped_file_open(const char *proc, pid_t pid, const char *path, struct buf *name);
