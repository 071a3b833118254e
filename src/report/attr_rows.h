/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attr of a perf_event_open as rows of an HTML table. */
#ifndef PEVTRACE_REPORT_ATTR_ROWS_H
#define PEVTRACE_REPORT_ATTR_ROWS_H

#include "abi/call.h"
#include "lib/buf.h"

/* Append a row with name, value and meaning of each member; class "zero" if it is 0. */
void attr_rows(const struct call *c, const struct names *n, struct buf *out);

/* Count the members that are set, and those that are not, in the text of attr_rows(). */
void attr_rows_count(const char *rows, size_t *set, size_t *unset);

#endif
