/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attr of a perf_event_open as rows of an HTML table, with meanings. */
#ifndef PEVTRACE_REPORT_ATTR_ROWS_H
#define PEVTRACE_REPORT_ATTR_ROWS_H

#include "abi/call.h"
#include "lib/buf.h"

/* Appends a row for each member: name, value, meaning; class "zero" where unset. */
void attr_rows(const struct call *c, const struct names *n, struct buf *out);

/* Appends the number of unset rows among what attr_rows() wrote, and of others. */
void attr_rows_count(const char *rows, size_t *set, size_t *unset);

#endif
