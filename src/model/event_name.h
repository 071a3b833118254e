/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Short names for events, close to those that perf takes. */
#ifndef PEVTRACE_MODEL_EVENT_NAME_H
#define PEVTRACE_MODEL_EVENT_NAME_H

#include "abi/call.h"
#include "lib/buf.h"

/*
 * Appends the name of an attr of len bytes: "cpu-clock:u", "sched:sched_switch",
 * "L1D:READ:MISS", "mem:0x601040/8:rw", "msr/tsc/"; "event with an unreadable attr".
 */
void event_name(const uint8_t *attr, size_t len, const struct names *n,
		struct buf *out);

/*
 * So much of an attr could be read that what is not there is not set.  Without its
 * size it is none: nobody knows type and config, and zeros there would have a name.
 */
bool event_name_knows(size_t len);

#endif
