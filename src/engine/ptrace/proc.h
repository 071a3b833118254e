/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a task, from /proc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Return the first number after "key:" in /proc/TID/status, or -1. */
long proc_status(pid_t tid, const char *key);

/* Return whether a signal that was sent to the process is pending. */
bool proc_is_pending(pid_t pid, int sig);

/* Return the number of the call that the task sleeps in, or -1. */
long proc_syscall(pid_t tid);

/* Store the command name, or "?". */
void proc_name(pid_t tid, char *name, size_t size);

/* Return whether the task is a kernel thread. */
bool proc_is_kernel(pid_t tid);

/* Return whether the task is a zombie. */
bool proc_is_zombie(pid_t tid);

/* Return the inode of pevtrace's PID namespace, 0 for the initial one (PROC_PID_INIT_INO). */
uint32_t proc_pid_namespace(void);
