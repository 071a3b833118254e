/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copying a descriptor of another process (pidfd_open(2), pidfd_getfd(2)): the only access
 * to its counters and ring buffers that does not involve the process itself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Return a close-on-exec copy of descriptor fd of thread tid in process pid (its thread
 * group id).  The caller must close it soon: it keeps the event, its ring buffer and its
 * hardware, such as a breakpoint register, in use after the process closed them.
 *
 * For a thread with its own descriptor table (unshare(2), CLONE_FILES), Linux 6.9 is
 * required (PIDFD_THREAD); before, return -EOPNOTSUPP if kcmp(2) reports such a table.
 *
 * Otherwise return a negative errno: -EBADF no such descriptor, -ESRCH no such process,
 * -EPERM not allowed (the rules of ptrace(2) apply), -ENOSYS before Linux 5.6.  A failure
 * that affects every process (see borrow_refusal()) is cached.
 */
int borrow_fd(pid_t pid, pid_t tid, int fd);

/*
 * Return why no descriptor can be borrowed on this machine, for a message, or NULL.  The
 * first call tries it with a descriptor of pevtrace itself.
 */
const char *borrow_refusal(void);

/* Return the id (PERF_EVENT_IOC_ID) of the event at a descriptor of pevtrace; 0: it is none. */
uint64_t event_id_of(int fd);

/*
 * Return a descriptor (pidfd_open(2)) for process_ended(), which the caller closes, or a
 * negative errno: -ENOSYS before Linux 5.3.
 */
int process_open(pid_t pid);

/* Return whether the process exits within that many ms, even if nobody has waited for it yet. */
bool process_ended(int process, int ms);
