/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The perf ioctls: requests and their arguments. */
#pragma once

#include "core/abi/call.h"
#include "xlat/constants.h"

/* Return the description of the ioctl call's request; NULL if it is not perf's. */
const struct ioctl_desc *ioctl_of(const struct call *c);

void ioctl_capture(struct call *c, enum call_phase phase, uint64_t arg,
		   const struct mem *m, const struct names *n);

/*
 * Return a request of the tables as programs of that ABI pass it, and the other way round: on
 * POWER, the direction has three bits and other values.
 */
uint32_t ioctl_native(const struct arch *arch, uint32_t request);
uint32_t ioctl_generic(const struct arch *arch, uint32_t request);

/* Return whether a request has the type of perf's ioctls, whichever it is. */
static inline bool ioctl_is_perf(uint64_t request)
{
	return (request & 0xff00) == (PERF_EVENT_IOC_ENABLE & 0xff00);
}

/* Write the request, by name if known. */
void ioctl_emit_request(const struct call *c, const char *key, struct sink *s);

/* Write the argument of a call that has returned. */
void ioctl_emit_arg(const struct call *c, const char *key, uint64_t arg,
		    const struct names *n, struct sink *s);

/* Write the notes that follow the result. */
void ioctl_result_notes(const struct call *c, struct sink *s);
