/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a trace is written: standard error, a file, or a file for each task. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output;

enum output_kind {
	OUTPUT_ONE,		/* one file, made empty */
	OUTPUT_APPEND,		/* one file, appended to */
	OUTPUT_SEPARATE,	/* PATH.TID for each task */
};

/*
 * Open path, or standard (STDOUT_FILENO or STDERR_FILENO, the latter unbuffered) where
 * path is NULL.  A path of |COMMAND or !COMMAND is a command for the shell that reads the
 * output.  mode: of files that are created (core/lib/create.h).  Return NULL after a warn() if the file
 * cannot be created.
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
