/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creating the output files that users name. */
#pragma once

#include <sys/types.h>

/* The modes of files: CREATE_PRIVATE where they may have what tasks have in memory. */
enum { CREATE_PUBLIC = 0666, CREATE_PRIVATE = 0600 };

/*
 * Open a file for writing with O_TRUNC or O_APPEND; create it with that mode if it does not exist.
 * In a directory that other users may write to, such as /tmp or another user's, do not
 * follow their symbolic links or write to their files, except to a regular file of
 * the directory's owner, whatever fs.protected_symlinks and fs.protected_regular are.
 * Print a line before waiting for the reader of a pipe.
 * Return a descriptor, or -1 with errno; EPERM: the file belongs to another user.
 */
int create_file(const char *path, int flags, mode_t mode);

/* Return the reason of a failure with a remedy; for most errors strerror(). */
const char *create_error(int error);
