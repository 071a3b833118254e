/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory of a traced task. */
#ifndef PEVTRACE_TRACE_REMOTE_H
#define PEVTRACE_TRACE_REMOTE_H

#include <sys/types.h>

#include "abi/call.h"

struct remote {
	struct mem mem;
	pid_t tid;
};

/* A reader of tid's memory; lives as long as the caller keeps it. */
struct remote remote_of(pid_t tid);

/*
 * Copies len bytes at addr; returns how many could be had before the first
 * that is not mapped.
 */
size_t remote_read(pid_t tid, uint64_t addr, void *dst, size_t len);

#endif
