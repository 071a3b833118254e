/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory of a traced task. */
#ifndef PEVTRACE_TRACE_REMOTE_H
#define PEVTRACE_TRACE_REMOTE_H

#include <stdbool.h>
#include <sys/types.h>

#include "abi/call.h"

struct remote {
	struct mem mem;
	pid_t tid;
	bool warily;
};

/*
 * A reader of tid's memory; lives as long as the caller keeps it.  Warily: see
 * remote_read_warily().
 */
struct remote remote_of(pid_t tid, bool warily);

/*
 * Copies len bytes at addr; returns how many could be had before the first
 * that is not mapped.
 */
size_t remote_read(pid_t tid, uint64_t addr, void *dst, size_t len);

/*
 * The same where other threads of the target are kept waiting for us, one of which
 * may have to provide what is not there yet: what is not had within a fifth
 * of a second is told as not mapped.  Costs one call more.
 */
size_t remote_read_warily(pid_t tid, uint64_t addr, void *dst, size_t len);

#endif
