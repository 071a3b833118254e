/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a trace is written: standard error, a file, or a file for each task. */
#ifndef PEVTRACE_LIB_OUTPUT_H
#define PEVTRACE_LIB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output;

/*
 * path NULL: standard, a descriptor, 1 or 2; what goes to the latter is written
 * at once.  separate: PATH.TID for each task.  NULL after a warn() when the file
 * cannot be made.
 */
struct output *output_open(const char *path, int standard, bool separate);

/* Writes whole lines of that task. */
void output_write(struct output *o, pid_t tid, const char *text, size_t len);

/* The task has ended: no more lines of it, unless its number comes again. */
void output_done(struct output *o, pid_t tid);

/* Makes sure that what was written can be seen by others. */
void output_flush(struct output *o);

bool output_is_terminal(const struct output *o);

/*
 * Flushes, closes, frees.  False when anything could not be written: that was
 * said once, with the reason, when it happened.
 */
bool output_close(struct output *o);

#endif
