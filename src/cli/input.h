/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file that a verb was given to read: a dump, perf.data, an expectation. */
#ifndef PEVTRACE_CLI_INPUT_H
#define PEVTRACE_CLI_INPUT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Opens it, or takes standard input for "-"; dies where it cannot be read.  *name is
 * what messages call it: it lives as long as path.
 */
FILE *input_open(const char *path, const char **name);
void input_close(FILE *f);

/* Whether there are calls in it; false after a warn() where it is a perf.data file. */
bool input_has_calls(FILE *f, const char *name);

#endif
