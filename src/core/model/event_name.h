/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Short names of events, similar to those that perf accepts. */
#pragma once

#include "core/abi/call.h"
#include "core/lib/buf.h"

/*
 * Append the name of an attr of len bytes: "cpu-clock:u", "sched:sched_switch",
 * "L1D:READ:MISS", "mem:0x601040/8:rw", "msr/tsc/"; "event with an unreadable attr".
 */
void event_name(const uint8_t *attr, size_t len, const struct names *n,
		struct buf *out);

/*
 * Append the name of an event that probes the code of the given path or function:
 * "uprobe:libc.so.6+0x2f0a0:u", "kretprobe:vfs_read"; probed NULL: event_name().
 */
void event_name_probed(const uint8_t *attr, size_t len, const struct names *n,
		       const char *probed, struct buf *out);

/*
 * Append the name that perf gives an attr (tools/perf/util/evsel.c, evsel__name()): "cycles",
 * "minor-faults:uh", "L1-dcache-load-misses", "mem:0x601040:rw".  Events of a PMU and those that
 * perf calls unknown are named as by event_name().
 */
void event_name_perf(const uint8_t *attr, size_t len, const struct names *n, struct buf *out);

/*
 * Return whether len bytes of an attr are enough for a name: they must include type, size
 * and config.
 */
bool event_name_knows(size_t len);
