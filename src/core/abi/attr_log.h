/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arguments and results of perf_event_open(2) in logs of strace, perf trace, perf -vv. */
#pragma once

#include "core/abi/attr_text.h"

/* Return the brace of the attr in the next call of a log, or NULL. */
const char *attr_log_find(const char *from, const char *end);

/*
 * Read ", pid, cpu, group_fd, flags) = result" behind an attr, if that is there.  start: of the
 * text, in which the line of an unfinished call has the caller.
 */
void attr_log_call(struct text_cursor *c, const char *start, struct attr_text_call *call);

/* Find the next ioctl(2) of perf in a log, read it, and move behind it; false: there is none. */
bool attr_log_ioctl(struct text_cursor *c, struct attr_text_ioctl *out);

/* Read the next line of perf -vv's "sys_perf_event_open: pid 1  cpu 0 ...", and the result. */
bool attr_log_columns(struct text_cursor *c, struct attr_text_call *call);
