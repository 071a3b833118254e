/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task as its tracer sees it: ptrace requests, its state from /proc, its memory. */
#pragma once

#include <linux/ptrace.h>
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/call.h"

/* Make a request without the argument types of libc; return its result, or -1 and errno. */
long ptrace_do(unsigned int request, pid_t tid, uintptr_t addr, uintptr_t data);

/*
 * Make a request whose failure would leave a tracee in its stop, or harm it.  Return
 * false if the tracee was killed (ESRCH): wait4(2) reports its end.  Die of any other
 * failure: the kernel then detaches attached tracees and kills launched ones.
 */
bool ptrace_must(unsigned int request, pid_t tid, uintptr_t addr, uintptr_t data);

/* PTRACE_SEIZE a task with the options that the engine needs; return 0 or an errno. */
int ptrace_seize(pid_t tid, bool launched, bool filtered);

/*
 * Read what system call stop the tracee is in.  info->op is PTRACE_SYSCALL_INFO_NONE
 * if it is in none, or was killed.  Die where the kernel lacks the request.
 */
void ptrace_syscall_info(pid_t tid, struct ptrace_syscall_info *info);

/* Return the first number after "key:" in /proc/TID/status, or -1. */
long proc_status(pid_t tid, const char *key);

/* Return whether a signal is pending: of "SigPnd" the thread's, of "ShdPnd" its process's. */
bool proc_is_pending(pid_t tid, const char *key, int sig);

/* Return the number of the call that the task sleeps in, or -1. */
long proc_syscall(pid_t tid);

/* Store the command name, or "?". */
void proc_name(pid_t tid, char *name, size_t size);

/* Return whether the task is a kernel thread. */
bool proc_is_kernel(pid_t tid);

/* Return whether the task is a zombie. */
bool proc_is_zombie(pid_t tid);

/* Open the list of a process's threads for proc_next_thread() and closedir(3); NULL: none. */
DIR *proc_threads(pid_t pid);

/* Return the next tid, or 0 at the end, or if dir is NULL. */
pid_t proc_next_thread(DIR *dir);

/* Return the inode of pevtrace's PID namespace, 0 for the initial one (PROC_PID_INIT_INO). */
uint32_t proc_pid_namespace(void);

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
