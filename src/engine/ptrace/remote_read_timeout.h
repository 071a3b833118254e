/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory of a tracee, read with a time limit.  Reading a page that is not present
 * waits for the process that provides it: with userfaultfd(2), or behind a FUSE file system,
 * that may be a tracee in a ptrace stop.  Only SIGKILL ends such a wait.
 */
#pragma once

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
