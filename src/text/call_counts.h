/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls, errors and time of each system call (-c). */
#ifndef PEVTRACE_TEXT_CALL_COUNTS_H
#define PEVTRACE_TEXT_CALL_COUNTS_H

#include "abi/call.h"
#include "lib/buf.h"

struct call_count {
	uint64_t calls, errors, ns;
};

struct call_counts {
	struct call_count of[CALL_COUNT];
};

/* Count a call that returned, with the time from entry to exit. */
void call_counts_add(struct call_counts *k, const struct call *c);

/* Append the table, sorted by time, and the total. */
void call_counts_print(const struct call_counts *k, struct buf *out);

#endif
