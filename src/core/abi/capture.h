/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copying a tracee's memory into a call. */
#pragma once

#include "core/abi/call.h"

enum {
	CAPTURE_MAX = 64 * 1024,	/* bytes of one run */
	CAPTURE_STRING_MAX = 4096,	/* PATH_MAX, and more than a filter may have */
};

/* Copy want bytes (at most CAPTURE_MAX) from addr; return how many were readable. */
size_t capture_bytes(struct call *c, enum call_phase phase, uint64_t addr,
		     uint64_t want, const struct mem *m);

/* Copy the string at addr with its NUL, at most CAPTURE_STRING_MAX bytes. */
void capture_string(struct call *c, enum call_phase phase, uint64_t addr,
		    const struct mem *m);
