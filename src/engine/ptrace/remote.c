// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/libc.h"

enum {
	PAGE = 4096, /* the page size of every architecture is a multiple */
	BATCH = 32,
	LIMIT_NS = 200000000, /* a disk may be slow */
	STACK = 64 * 1024,
};

/* A read by another thread.  Both threads own it; the last one frees it. */
struct timed_read {
	sem_t done;
	atomic_int owners;
	pid_t tid;
	uint64_t addr;
	size_t len, got;
	char data[];
};

static void timed_read_put(struct timed_read *r)
{
	if (atomic_fetch_sub(&r->owners, 1) > 1)
		return;
	sem_destroy(&r->done);
	free(r);
}

static void *timed_read_run(void *ctx)
{
	struct timed_read *r = ctx;

	r->got = remote_read(r->tid, r->addr, r->data, r->len);
	sem_post(&r->done);
	timed_read_put(r);
	return NULL;
}

/* Return 0 or an errno.  Block signals in the new thread: the tracing thread handles them. */
static int timed_read_start(struct timed_read *r)
{
	pthread_attr_t attr;
	sigset_t all, mask;
	pthread_t id;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	err = pthread_create(&id, &attr, timed_read_run, r);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

static bool timed_read_wait(struct timed_read *r)
{
	struct timespec end;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += LIMIT_NS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do
		err = sem_clockwait(&r->done, CLOCK_MONOTONIC, &end) ? errno : 0;
	while (err == EINTR);
	return !err;
}

static size_t timed_read(pid_t tid, uint64_t addr, void *dst, size_t len)
{
	struct timed_read *r = xmalloc(sizeof(*r) + len);
	size_t got = 0;

	*r = (struct timed_read){ .tid = tid, .addr = addr, .len = len };
	atomic_init(&r->owners, 2);
	sem_init(&r->done, 0, 0);
	if (timed_read_start(r)) {
		free(r);
		return remote_read(tid, addr, dst, len);
	}
	if (timed_read_wait(r)) {
		got = r->got;
		memcpy(dst, r->data, got);
	}
	timed_read_put(r);
	return got;
}

/* Return whether all pages are present, or move_pages(2) cannot tell. */
static bool is_present(pid_t tid, uint64_t addr, size_t len)
{
	const uint64_t last = (addr + len - 1) / PAGE;
	uint64_t page = addr / PAGE;

	while (page <= last) {
		void *pages[BATCH];
		int where[BATCH];
		size_t n = 0;

		for (; n < BATCH && page <= last; page++)
			pages[n++] = (void *)(uintptr_t)(page * PAGE);
		if (syscall(SYS_move_pages, tid, n, pages, NULL, where, 0))
			return true;
		for (size_t i = 0; i < n; i++)
			if (where[i] < 0)
				return false;
	}
	return true;
}

size_t remote_read_timeout(pid_t tid, uint64_t addr, void *dst, size_t len)
{
	if (!len || addr != (uintptr_t)addr || len > UINTPTR_MAX - addr ||
	    is_present(tid, addr, len))
		return remote_read(tid, addr, dst, len);
	return timed_read(tid, addr, dst, len);
}

static size_t mem_read(const struct mem *m, uint64_t addr, void *dst, size_t len)
{
	/* mem is the first member of struct remote */
	return remote_read_timeout(((const struct remote *)m)->tid, addr, dst, len);
}

struct remote remote_of(pid_t tid)
{
	return (struct remote){ { mem_read }, tid };
}

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
