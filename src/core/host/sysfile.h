/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small files of sysfs and tracefs. */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Read the file name below dirfd into text, NUL-terminated, without the final newline,
 * and truncated to fit.  Return false on failure.
 */
bool sysfile_read(int dirfd, const char *name, char *text, size_t size);

/*
 * Read a file of procfs, sysfs or securityfs, as sysfile_read(); return false if it is of another
 * file system, as those are that lxcfs or a bind mount puts in their place.
 */
bool sysfile_read_kernel(const char *path, char *text, size_t size);

/* Read a file that is one decimal number; return false where it is not. */
bool sysfile_number(int dirfd, const char *name, int64_t *v);

/* Open a directory below dirfd for reading its entries; return NULL on failure. */
DIR *sysfile_dir(int dirfd, const char *name);

/* Return the next entry that does not begin with a dot, or NULL. */
const char *sysfile_next(DIR *d);
