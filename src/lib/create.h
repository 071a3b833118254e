/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making the files that users name for output. */
#ifndef PEVTRACE_LIB_CREATE_H
#define PEVTRACE_LIB_CREATE_H

/*
 * Opens a file to write to, with the flags O_TRUNC or O_APPEND; makes it if it is
 * not there.  In a directory where others may make files, such as /tmp and that of
 * another user, what they have put under that name is not written to: no link of
 * theirs is followed and no file of theirs taken, but a plain one of the owner of
 * the directory, whatever fs.protected_symlinks and fs.protected_regular say.
 * Says that it waits, where it has to, for the reader of a pipe.
 * Returns a descriptor; -1 and errno: EPERM for what belongs to somebody else.
 */
int create_file(const char *path, int flags);

/* The reason of a failure in words that say what to do: strerror() of most. */
const char *create_error(int error);

#endif
