/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creating files, and where a trace is written: standard error, a file, or one for each task. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* The modes of files: CREATE_PRIVATE where they may have what tasks have in memory. */
enum { CREATE_PUBLIC = 0666, CREATE_PRIVATE = 0600 };

/*
 * Open a file for writing with O_TRUNC or O_APPEND; create it with that mode if it does not exist.
 * In a directory that other users may write to, such as /tmp or another user's, open no
 * symbolic link, no file of others but a regular one of the directory's owner, and none with
 * several names, whatever fs.protected_symlinks and its like are.
 * Print a line before waiting for the reader of a pipe.
 * Return a descriptor, or -1 with errno; EMLINK: it is such a file.
 */
int create_file(const char *path, int flags, mode_t mode);

/* Create a file for a stream, or return stdout where path is NULL.  Return NULL with errno. */
FILE *create_stream(const char *path);

/*
 * Rename a regular file that is not empty to PATH.old, if create_file() would open it.  Return
 * false with errno if another file has that name which create_file() would not open.
 */
bool create_backup(const char *path);

/* Return the reason of a failure with a remedy; for most errors strerror(). */
const char *create_error(int error);

struct output;

enum output_kind {
	OUTPUT_ONE,		/* one file, made empty */
	OUTPUT_APPEND,		/* one file, appended to */
	OUTPUT_SEPARATE,	/* PATH.TID for each task */
};

/*
 * Open path, or standard (STDOUT_FILENO or STDERR_FILENO, the latter unbuffered) where
 * path is NULL.  A path of |COMMAND or !COMMAND is a command for the shell that reads the
 * output.  mode: of files that are created.  Return NULL after a warn() if the file cannot be
 * created.
 */
struct output *output_open(const char *path, int standard, enum output_kind kind, mode_t mode);

/* Return whether the path means a command. */
static inline bool output_is_command(const char *path)
{
	return *path == '|' || *path == '!';
}

/* Write whole lines of that task. */
void output_write(struct output *o, pid_t tid, const char *text, size_t len);

/* Close the file of a task that has ended. */
void output_done(struct output *o, pid_t tid);

/* Let a regular file of OUTPUT_ONE be cut after so many bytes, or as many as its head has. */
void output_limit(struct output *o, size_t max);

/* Return whether that is so, at the end of a line: output_next() goes on in PATH.1, PATH.2 ... */
bool output_is_full(const struct output *o);
void output_next(struct output *o);

/* The head of a file ends here. */
void output_end_head(struct output *o);

/* Flush, so that others can read what was written. */
void output_flush(struct output *o);

bool output_is_terminal(const struct output *o);

/* Return the columns that the terminal has now; 0: the output is none. */
unsigned int output_columns(const struct output *o);

/* Return whether a write failed: nothing is written any more. */
bool output_has_failed(const struct output *o);

/*
 * Flush, close, wait for a command that reads the output, and free.  Return false if anything could
 * not be written; the first failure was reported by a warn().
 */
bool output_close(struct output *o);
