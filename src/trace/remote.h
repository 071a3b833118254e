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

/* A reader of tid's memory, by remote_read_warily(); lives as long as the caller keeps it. */
struct remote remote_of(pid_t tid);

/*
 * Copies len bytes at addr; returns how many could be had before the first
 * that is not mapped.
 */
size_t remote_read(pid_t tid, uint64_t addr, void *dst, size_t len);

/*
 * The same where a thread of the target that has to provide what is not there yet
 * may be waiting for us: what is not had within a fifth of a second is told as
 * not mapped.  Costs one call more.
 */
size_t remote_read_warily(pid_t tid, uint64_t addr, void *dst, size_t len);

#endif
