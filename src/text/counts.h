/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How often each call was made, how often it failed, how long it took. */
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

/* Counts a call that returned; time is from its entry to its exit. */
void counts_add(struct counts *k, const struct call *c);

/* Appends the table: the calls that took longest first, then the total. */
void counts_print(const struct counts *k, struct buf *out);

#endif
