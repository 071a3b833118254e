/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a trace is written: standard error, a file, or a file for each task. */
#ifndef PEVTRACE_LIB_OUTPUT_H
#define PEVTRACE_LIB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output;

/*
 * Open path, or standard (STDOUT_FILENO or STDERR_FILENO, the latter unbuffered) where
 * path is NULL.  separate: write to PATH.TID for each task.  Return NULL after a warn()
 * if the file cannot be created.
 */
struct output *output_open(const char *path, int standard, bool separate);

/* Write whole lines of that task. */
void output_write(struct output *o, pid_t tid, const char *text, size_t len);

/* Close the file of a task that has ended. */
void output_done(struct output *o, pid_t tid);

/* Flush, so that others can read what was written. */
void output_flush(struct output *o);

bool output_is_terminal(const struct output *o);

/*
 * Flush, close and free.  Return false if anything could not be written; the first
 * failure was reported by a warn().
 */
bool output_close(struct output *o);

#endif
