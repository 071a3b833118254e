/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of a trace that fit a terminal. */
#pragma once

#include "core/abi/call.h"
#include "core/abi/rules.h"

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
 * Of an open, what is guilty, type and config, period, pid and cpu are kept, if need be on two
 * lines.  What is omitted depends on the line alone.  If that is not enough, break the line.
 * desc: of a call; NULL: it is none, or of attrs.  rule: that refused an open: its members are
 * guilty; or NULL.
 */
void text_fit(struct buf *line, const struct call_desc *desc, const struct rule_desc *rule,
	      size_t width);

/* Return the columns of a line, in which colours have none. */
size_t text_columns(const char *line);
