/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* struct perf_event_attr as a target passes it: of any size, from any header. */
#ifndef PEVTRACE_ABI_ATTR_H
#define PEVTRACE_ABI_ATTR_H

#include "abi/call.h"
#include "abi/layout.h"

/*
 * How many bytes of an attr that declares this size are worth copying: what
 * the kernel reads (perf_copy_attr in kernel/events/core.c), and where it
 * refuses the size unread, what the caller may have filled in.
 */
size_t attr_wanted(uint32_t size);

/* Copies the attr at addr and the strings that it points to. */
void attr_capture(struct call *c, enum call_phase phase, uint64_t addr,
		  const struct mem *m, const struct names *n);

/*
 * Hands the attr that the call captured at addr to the sink as an object, or
 * the bare address and why there is no more.
 */
void attr_emit(const struct call *c, enum call_phase phase, const char *key,
	       uint64_t addr, const struct names *n, struct sink *s);

/* Notes the size that the kernel wrote back over an attr that it refused. */
void attr_note_size(const struct call *c, uint64_t addr, struct sink *s);

#endif
