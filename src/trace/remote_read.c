// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * To read a page that is not there waits for whoever provides it: with
 * userfaultfd(2), or behind a FUSE file system, that may be a task that waits
 * for us.  No signal ends such a wait but SIGKILL.  So another thread waits.
 */
#include "trace/remote.h"

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

#include "lib/die.h"

enum {
	PAGE = 4096, /* every architecture's page is a multiple of it */
	BATCH = 32,
	PATIENCE_NS = 200000000, /* a disk may be slow */
	STACK = 64 * 1024,
};

/* Belongs to both threads: the last one frees it. */
struct errand {
	sem_t done;
	atomic_int owners;
	pid_t tid;
	uint64_t addr;
	size_t len, got;
	char data[];
};

static void let_go(struct errand *e)
{
	if (atomic_fetch_sub(&e->owners, 1) > 1)
		return;
	sem_destroy(&e->done);
	free(e);
}

static void *run(void *ctx)
{
	struct errand *e = ctx;

	e->got = remote_read(e->tid, e->addr, e->data, e->len);
	sem_post(&e->done);
	let_go(e);
	return NULL;
}

/* 0 or an errno.  Signals are for the thread that traces. */
static int start(struct errand *e)
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
	err = pthread_create(&id, &attr, run, e);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

static bool in_time(struct errand *e)
{
	struct timespec end;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += PATIENCE_NS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do
		err = sem_clockwait(&e->done, CLOCK_MONOTONIC, &end) ? errno : 0;
	while (err == EINTR);
	return !err;
}

static size_t send_out(pid_t tid, uint64_t addr, void *dst, size_t len)
{
	struct errand *e = xmalloc(sizeof(*e) + len);
	size_t got = 0;

	*e = (struct errand){ .tid = tid, .addr = addr, .len = len };
	atomic_init(&e->owners, 2);
	sem_init(&e->done, 0, 0);
	if (start(e)) {
		free(e);
		return remote_read(tid, addr, dst, len);
	}
	if (in_time(e)) {
		got = e->got;
		memcpy(dst, e->data, got);
	}
	let_go(e);
	return got;
}

/* Is all of it in memory?  Also true where the kernel does not say. */
static bool is_there(pid_t tid, uint64_t addr, size_t len)
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

size_t remote_read_warily(pid_t tid, uint64_t addr, void *dst, size_t len)
{
	if (!len || addr != (uintptr_t)addr || len > UINTPTR_MAX - addr || is_there(tid, addr, len))
		return remote_read(tid, addr, dst, len);
	return send_out(tid, addr, dst, len);
}
