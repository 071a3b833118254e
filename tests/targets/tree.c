/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes tasks of all kinds, each of which leaves a mark.
 *
 * usage: tree fork | vfork | files | leaf | threads N | many N | again N |
 *	       mmap | poll
 * Exit status 0: all went as it would without a tracer.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "mark.h"

static int ended_with(pid_t pid, int code)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid &&
	       WIFEXITED(status) && WEXITSTATUS(status) == code;
}

static int do_fork(void)
{
	pid_t pid;
	int ok;

	mark(1);
	pid = fork();
	if (pid == 0) {
		mark(2);
		_exit(7);
	}
	ok = ended_with(pid, 7);
	mark(3);
	return !ok;
}

static int do_vfork(const char *self)
{
	pid_t pid;

	mark(1);
	pid = vfork();
	if (pid == 0) {
		execl(self, self, "leaf", (char *)NULL);
		_exit(1);
	}
	mark(3);
	return !ended_with(pid, 4);
}

static int sharer(void *unused)
{
	(void)unused;
	mark(2);
	return 7;
}

/* A process of its own that has our descriptors. */
static int do_files(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	mark(1);
	return !ended_with(clone(sharer, stack + sizeof(stack),
				 CLONE_FILES | SIGCHLD, NULL),
			   7);
}

static void *thread(void *arg)
{
	mark((intptr_t)arg);
	return arg;
}

static int do_threads(long n)
{
	pthread_t *ids = calloc((size_t)n, sizeof(*ids));
	pthread_attr_t attr;
	int failed = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (long i = 0; i < n; i++)
		failed |= pthread_create(&ids[i], &attr, thread,
					 (void *)(intptr_t)(100 + i));
	for (long i = 0; i < n && !failed; i++) {
		void *result;

		pthread_join(ids[i], &result);
		failed |= (intptr_t)result != 100 + i;
	}
	free(ids);
	mark(3);
	return failed;
}

/* Processes that live side by side. */
static int do_many(long n)
{
	pid_t *pids = calloc((size_t)n, sizeof(*pids));
	int failed = 0;

	for (long i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			mark(100 + i);
			_exit((int)(i % 100));
		}
	}
	for (long i = 0; i < n; i++)
		failed |= !ended_with(pids[i], (int)(i % 100));
	free(pids);
	return failed;
}

static int do_again(long n)
{
	for (long i = 0; i < n; i++)
		mark(100 + i);
	return 0;
}

#ifdef __i386__
static void *old_mmap(int prot, int flags, int fd)
{
	unsigned int args[6] = { 0,
				 4096,
				 (unsigned int)prot,
				 (unsigned int)flags,
				 (unsigned int)fd,
				 0 };
	void *p;

	__asm__ volatile("int $0x80" : "=a"(p) : "a"(90), "b"(args) : "memory");
	return p;
}
#else
static void *old_mmap(int prot, int flags, int fd)
{
	return mmap(NULL, 4096, prot, flags, fd, 0);
}
#endif

/* Mappings of which only the first is a shared one of a file. */
static int do_mmap(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *p;

	mark(1);
	p = old_mmap(PROT_READ, MAP_SHARED, fd);
	mark(2);
	if (p == MAP_FAILED)
		return 1;
	old_mmap(PROT_READ, MAP_PRIVATE, fd);
	old_mmap(PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1);
	mark(3);
	return munmap(p, 4096);
}

static atomic_int polls;
static atomic_bool over;

static void *poller(void *unused)
{
	for (; !over; polls++)
		poll(NULL, 0, 2);
	return unused;
}

static void await_polls(int more)
{
	for (int until = polls + more; polls < until;)
		usleep(1000);
}

/* A thread that makes calls of its own all the time, around our one mark. */
static int do_poll(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, poller, NULL))
		return 1;
	await_polls(5);
	mark(1);
	await_polls(50);
	over = true;
	return pthread_join(id, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 1;

	if (!strcmp(what, "fork"))
		return do_fork();
	if (!strcmp(what, "vfork"))
		return do_vfork(argv[0]);
	if (!strcmp(what, "files"))
		return do_files();
	if (!strcmp(what, "leaf"))
		return mark(2), 4;
	if (!strcmp(what, "threads"))
		return do_threads(n);
	if (!strcmp(what, "many"))
		return do_many(n);
	if (!strcmp(what, "again"))
		return do_again(n);
	if (!strcmp(what, "mmap"))
		return do_mmap();
	if (!strcmp(what, "poll"))
		return do_poll();
	return 99;
}
