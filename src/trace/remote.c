// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trace/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PAGE = 4096, /* every architecture's page is a multiple of it */
	BATCH = 32,
};

/*
 * The kernel copies each piece of the remote vector whole or not at all, so
 * pieces end where pages do: what is mapped arrives.
 */
static size_t split(struct iovec *iov, uint64_t addr, size_t len, size_t *bytes)
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

/* For where process_vm_readv(2) is missing or forbidden. */
static size_t read_proc(pid_t tid, uint64_t addr, char *dst, size_t len)
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

		n = split(remote, addr + done, len - done, &bytes);
		local = (struct iovec){ (char *)dst + done, bytes };
		got = process_vm_readv(tid, &local, 1, remote, n, 0);
		if (got < 0 && (errno == EPERM || errno == ENOSYS))
			return done + read_proc(tid, addr + done,
						(char *)dst + done, len - done);
		if (got <= 0)
			break;
		done += (size_t)got;
		if ((size_t)got < bytes)
			break;
	}
	return done;
}

static size_t mem_read(const struct mem *m, uint64_t addr, void *dst,
		       size_t len)
{
	/* mem is the first member */
	return remote_read_warily(((const struct remote *)m)->tid, addr, dst, len);
}

struct remote remote_of(pid_t tid)
{
	return (struct remote){ { mem_read }, tid };
}
