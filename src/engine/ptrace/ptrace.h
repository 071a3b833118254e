/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ptrace(2) requests and what to do when one fails. */
#pragma once

#include <linux/ptrace.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
