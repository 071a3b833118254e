/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls, errors and time of each system call (-c). */
#ifndef PEVTRACE_TEXT_COUNTS_H
#define PEVTRACE_TEXT_COUNTS_H

#include "abi/call.h"
#include "lib/buf.h"

struct call_count {
	uint64_t calls, errors, ns;
};

struct counts {
	struct call_count of[CALL_COUNT];
};

/* Count a call that returned, with the time from entry to exit. */
void counts_add(struct counts *k, const struct call *c);

/* Append the table, sorted by time, and the total. */
void counts_print(const struct counts *k, struct buf *out);

#endif
