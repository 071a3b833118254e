/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of a trace that fit a terminal. */
#pragma once

#include <stddef.h>

#include "core/lib/buf.h"

/*
 * Append one paragraph behind that many columns of a line, with breaks at blanks and in masks, so
 * that lines have up to width columns where that is possible.  hang: columns before further lines.
 */
void text_fill(struct buf *out, const char *text, size_t len, size_t column, size_t hang,
	       size_t width);

/*
 * Break the lines of a text in the same way.  What follows is indented more than the line, or, in
 * a table, as far as its last column.
 */
void text_wrap(struct buf *text, size_t width);

/*
 * Shorten a line to at most width columns: omit the prefixes of constants (PERF_COUNT_HW_), then
 * members, arguments and comments, those first that tell the least, and put "..." in their place.
 * If that is not enough, break the line.  usual: a line of the same kind from before, whose members
 * tell less when they come again, or "".
 */
void text_fit(struct buf *line, const char *usual, size_t width);

/* Return the columns of a line, in which colours have none. */
size_t text_columns(const char *line);
