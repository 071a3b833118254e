// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/rings/borrow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/abi/ioctl.h"
#include "xlat/constants.h"

/* The numbers are the same on every architecture; older C libraries lack them. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

enum {
	OF_THREAD = O_EXCL,	/* PIDFD_THREAD, 6.9 */
	OF_FILES = 2,		/* KCMP_FILES */
	UNTRIED = 1,		/* neither 0 nor a negative errno */
};

/* Cache: 0, or the negative errno with which every attempt on this machine fails. */
static int everywhere = UNTRIED;

static int pidfd(pid_t pid, unsigned int flags)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, flags);

	return fd < 0 ? -errno : fd;
}

/* Copy the descriptor and close the pidfd. */
static int borrow_get(int process, int fd)
{
	int got;

	if (process < 0)
		return process;
	got = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
	if (got < 0)
		got = -errno;
	close(process);
	return got;
}

/*
 * Fill the cache: borrow a descriptor of this process, which is always allowed, so that a failure
 * affects all.  Threads may race: each stores the same value.
 */
static int refused_everywhere(void)
{
	int process, known = __atomic_load_n(&everywhere, __ATOMIC_RELAXED);

	if (known != UNTRIED)
		return known;
	process = pidfd(getpid(), 0);
	known = borrow_get(process, process);
	if (known >= 0) {
		close(known);
		known = 0;
	}
	/* a lack of descriptors or memory may be temporary */
	if (known == -ENOSYS || known == -EPERM || known == -EACCES || !known)
		__atomic_store_n(&everywhere, known, __ATOMIC_RELAXED);
	return known;
}

const char *borrow_refusal(void)
{
	switch (refused_everywhere()) {
	case 0:
		return NULL;
	case -ENOSYS:
		return "pidfd_getfd(2) is missing: it requires Linux 5.6, and a container's "
		       "seccomp filter may hide it";
	case -EPERM:
	case -EACCES:
		return "pidfd_getfd(2) is not permitted: a container's seccomp filter or a "
		       "security module refuses it";
	case -EMFILE:
	case -ENFILE:
		return "too many open files to borrow a descriptor";
	default:
		return "pidfd_getfd(2) fails, even for descriptors of pevtrace itself";
	}
}

int borrow_fd(pid_t pid, pid_t tid, int fd)
{
	int known = __atomic_load_n(&everywhere, __ATOMIC_RELAXED);
	int process, got;

	if (known < 0)
		return known;
	process = tid == pid ? pidfd(pid, 0) : pidfd(tid, OF_THREAD);
	/* before Linux 6.9, pidfds are for processes only */
	if (tid != pid && process == -EINVAL)
		process = syscall(SYS_kcmp, pid, tid, OF_FILES, 0, 0) > 0 ? -EOPNOTSUPP :
			  pidfd(pid, 0);
	got = borrow_get(process, fd);
	/* fill the cache if the failure affects all processes */
	if (got == -ENOSYS || got == -EPERM || got == -EACCES)
		refused_everywhere();
	return got;
}

uint64_t event_id_of(int fd)
{
	uint64_t id = 0;

	return ioctl(fd, ioctl_native(arch_native(), PERF_EVENT_IOC_ID), &id) ? 0 : id;
}

int process_open(pid_t pid)
{
	return pidfd(pid, 0);
}

bool process_ended(int process, int ms)
{
	struct pollfd p = { .fd = process, .events = POLLIN };

	return poll(&p, 1, ms) == 1 && p.revents & POLLIN;
}
