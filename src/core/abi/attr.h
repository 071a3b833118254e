/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* struct perf_event_attr as a target passes it: of any size, from any header. */
#pragma once

#include "core/abi/call.h"
#include "core/abi/layout.h"

/*
 * Return how many bytes to copy of an attr with this size member: as many as the kernel
 * reads (perf_copy_attr in kernel/events/core.c), or, if it refuses the size, those
 * that the caller may have filled in.
 */
size_t attr_wanted(uint32_t size);

/* Copy the attr at addr and the strings that it points to; at the exit what the kernel wrote. */
void attr_capture(struct call *c, enum call_phase phase, uint64_t addr,
		  const struct mem *m, const struct names *n);

/*
 * Write the attr that the call captured at addr to the sink as an object; if there is
 * none, the address and the reason.
 */
void attr_emit(const struct call *c, enum call_phase phase, const char *key,
	       uint64_t addr, const struct names *n, struct sink *s);

/*
 * Append which members beyond the len bytes that the kernel reads are not zero, of the have bytes
 * there are, and what that means; certain: the caller's struct is that long.  Return false if none is.
 */
bool attr_beyond(const uint8_t *bytes, size_t len, size_t have, bool certain, struct buf *out);

/* Note the size that the kernel wrote into a refused attr. */
void attr_note_size(const struct call *c, uint64_t addr, struct sink *s);
