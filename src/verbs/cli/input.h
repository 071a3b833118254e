/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a verb reads: a dump, perf.data, an expectation, an attr. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "core/abi/attr_text.h"
#include "core/lib/buf.h"

/*
 * Open the file, or return stdin for "-"; die where that fails.  *name is its name for
 * messages, valid as long as path.
 */
FILE *input_open(const char *path, const char **name);
void input_close(FILE *f);

/* Return whether a path means standard input and that is a terminal, which a pager reads, too. */
bool input_is_terminal(const char *path);

/* Return false after a warn() if it is a perf.data file, which has no calls. */
bool input_has_calls(FILE *f, const char *name);

/* Return whether it is a regular file with calls as strace writes them, and no dump. */
bool input_is_log(const char *path);

/*
 * Read an argument: the file of @FILE, standard input for -, else arg itself.  Return false
 * after a warn(), which names the option.
 */
bool input_text(const char *arg, const char *option, struct buf *text);

/* Return whether the bytes are not text. */
bool input_is_binary(const struct buf *text);

/* Read the one attr of an argument.  Return false after a warn(). */
bool input_attr(const char *arg, const char *option, struct attr_text *out);

/* Warn that the option's argument is no attr, and return false. */
bool input_bad_attr(const char *option, const char *why);
