/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processes hold events of a kind, in words: the ones that are in the way of another. */
#pragma once

#include "core/abi/call.h"
#include "core/lib/buf.h"

struct events;

/* An event that others may be in the way of. */
struct holders_of {
	uint32_t type;		/* of attr */
	/*
	 * With PERF_TYPE_BREAKPOINT: the thread and the CPU that it measures, as in the arguments
	 * of perf_event_open(2) but with the thread's number for 0; -1: any.
	 */
	int32_t tid, cpu;
};

/*
 * Append the processes other than this one that hold events of the PMU that the event is for,
 * each with its first one: "gdb[12] (mem:0x601040/8:w and 3 more), perf[13] (mem:0x601048/1:x)".
 * Breakpoints of other threads and CPUs are in nobody's way: each thread and CPU has as many.
 * Append nothing without such processes, or without BPF iterators (engine/rings/events.h).
 */
void holders_add(const struct holders_of *of, const struct names *names, struct buf *out);

/* The same of a list that was read. */
void holders_add_of(const struct events *events, const struct holders_of *of,
		    const struct names *names, struct buf *out);
