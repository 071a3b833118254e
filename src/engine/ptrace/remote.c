// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PAGE = 4096,	/* the page size of every architecture is a multiple */
	BATCH = 32,
};

/*
 * Fill a remote vector with pieces that end at page boundaries: process_vm_readv(2)
 * copies each whole or not at all.
 */
static size_t remote_split(struct iovec *iov, uint64_t addr, size_t len, size_t *bytes)
{
	size_t n = 0;

	*bytes = 0;
	while (*bytes < len && n < BATCH) {
		uint64_t at = addr + *bytes;
		size_t piece = PAGE - (size_t)(at % PAGE);

		if (piece > len - *bytes)
			piece = len - *bytes;
		iov[n++] = (struct iovec){ (void *)(uintptr_t)at, piece };
		*bytes += piece;
	}
	return n;
}

/* Read /proc/TID/mem: process_vm_readv(2) may be missing or forbidden. */
static size_t remote_read_file(pid_t tid, uint64_t addr, char *dst, size_t len)
{
	char path[32];
	size_t done = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (done < len) {
		ssize_t n =
			pread(fd, dst + done, len - done, (off_t)(addr + done));

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	close(fd);
	return done;
}

size_t remote_read(pid_t tid, uint64_t addr, void *dst, size_t len)
{
	size_t done = 0;

	if (addr != (uintptr_t)addr)
		return 0;
	if (len > UINTPTR_MAX - addr)
		len = (size_t)(UINTPTR_MAX - addr);
	while (done < len) {
		struct iovec remote[BATCH], local;
		size_t bytes, n;
		ssize_t got;

		n = remote_split(remote, addr + done, len - done, &bytes);
		local = (struct iovec){ (char *)dst + done, bytes };
		got = process_vm_readv(tid, &local, 1, remote, n, 0);
		if (got < 0 && (errno == EPERM || errno == ENOSYS))
			return done + remote_read_file(tid, addr + done, (char *)dst + done,
						       len - done);
		if (got <= 0)
			break;
		done += (size_t)got;
		if ((size_t)got < bytes)
			break;
	}
	return done;
}
