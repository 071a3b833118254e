// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/remote_read_timeout.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/libc.h"
#include "engine/ptrace/remote.h"

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
