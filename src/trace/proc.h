/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What /proc says of a task. */
#ifndef PEVTRACE_TRACE_PROC_H
#define PEVTRACE_TRACE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The number behind "key:" in /proc/TID/status (the first of several), or -1. */
long proc_status(pid_t tid, const char *key);

/* The number of the call that the task sleeps in, or -1. */
long proc_syscall(pid_t tid);

/* The command name; "?" if it cannot be read. */
void proc_name(pid_t tid, char *name, size_t size);

/* Is it a thread of the kernel? */
bool proc_is_kernel(pid_t tid);

/* Has it ended, but for being waited for? */
bool proc_is_zombie(pid_t tid);

#endif
