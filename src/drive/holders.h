/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processes hold events of a kind, in words: the ones that are in the way of another. */
#ifndef PEVTRACE_DRIVE_HOLDERS_H
#define PEVTRACE_DRIVE_HOLDERS_H

#include "abi/call.h"
#include "lib/buf.h"

struct events;

/*
 * Append the processes other than this one that hold events of the PMU that events of this type
 * (of attr) are for, each with its first one: "gdb[12] (mem:0x601040/8:w and 3 more),
 * perf[13] (mem:0x601048/1:x)".  Append nothing without such processes, or without BPF
 * iterators (drive/events.h).
 */
void holders_add(uint32_t type, const struct names *names, struct buf *out);

/* The same of a list that was read. */
void holders_add_of(const struct events *events, uint32_t type, const struct names *names,
		    struct buf *out);

#endif
