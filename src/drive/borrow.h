/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A moment's copy of another process's descriptor (pidfd_open(2),
 * pidfd_getfd(2)): the way to counters and rings that the memory of their
 * owner does not show.
 */
#ifndef PEVTRACE_DRIVE_BORROW_H
#define PEVTRACE_DRIVE_BORROW_H

#include <sys/types.h>

/*
 * A copy of descriptor fd of thread tid in process (thread group) pid; tid is
 * pid for the first thread.  Close-on-exec, and the caller's to close, which
 * should be soon: while it is open the event lives on after its owner closed
 * it, keeps its hardware (say a breakpoint register), and its ring.
 *
 * A thread that unshared its descriptors (unshare(2), CLONE_FILES) is asked
 * itself where the kernel can do so (6.9); before that -EOPNOTSUPP when the
 * kernel tells (kcmp(2)) that its table is not that of the first thread.
 *
 * Otherwise a negative errno: -EBADF no such descriptor, -ESRCH no such
 * process, -EPERM not allowed (the rules of ptrace(2) apply), -ENOSYS not
 * known here (before 5.6).  After a refusal that concerns every process (see
 * borrow_refusal()) it is given again without asking the kernel.
 */
int borrow_fd(pid_t pid, pid_t tid, int fd);

/*
 * Why no descriptor can be borrowed on this machine, in words for a message;
 * NULL when some can be.  Finds out by borrowing one of our own, once.
 */
const char *borrow_refusal(void);

#endif
