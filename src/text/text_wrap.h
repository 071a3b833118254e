/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PEVTRACE_TEXT_TEXT_WRAP_H
#define PEVTRACE_TEXT_TEXT_WRAP_H

#include <stddef.h>

#include "lib/buf.h"

/*
 * Break the lines of a text at blanks, so that they have up to width columns where that is
 * possible.  What follows is indented more than the line, or, in a table, as far as its last column.
 */
void text_wrap(struct buf *text, size_t width);

#endif
