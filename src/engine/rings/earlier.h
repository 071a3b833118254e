/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events that a task had before it was followed: what the kernel tells of them, from the list
 * of all events of the machine (engine/rings/events.h).
 */
#pragma once

#include "core/abi/call.h"
#include "core/lib/buf.h"
#include "core/session/session.h"

struct events;

/* Which processes hold events of a kind: the ones that are in the way of another. */

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

struct earlier;

/* The session must outlive it. */
struct earlier *earlier_new(struct session *s);
void earlier_free(struct earlier *l);

/*
 * Identify the events of tid's descriptors that the model does not know yet, and describe them
 * to the session if BPF iterators can be used (ACTIVITY_DESCRIBED).
 */
void earlier_describe(struct earlier *l, pid_t pid, pid_t tid);

/* Call hook for each process that holds an event. */
void earlier_each_holder(struct earlier *l, void (*hook)(void *ctx, pid_t pid), void *ctx);

/* Report the rings that tid's process has mapped, after earlier_describe(). */
void earlier_rings(struct earlier *l, pid_t tid);
