/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory of a tracee. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/call.h"

struct remote {
	struct mem mem;
	pid_t tid;
};

/* Return a reader of tid's memory that uses remote_read_timeout(). */
struct remote remote_of(pid_t tid);

/*
 * As remote_read(), but treat as unmapped what is not available within 200 ms.
 * Costs a system call more.
 */
size_t remote_read_timeout(pid_t tid, uint64_t addr, void *dst, size_t len);

/* Copy len bytes from addr; return how many could be read before the first unmapped page. */
size_t remote_read(pid_t tid, uint64_t addr, void *dst, size_t len);
