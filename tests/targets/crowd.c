/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Several threads that are busy or asleep until told to end: something to
 * attach to.
 *
 * usage: crowd N	N busy threads and N that sleep; marks; ends at SIGUSR1
 * Writes "r" to standard output when all run.  Exit status 0: no thread saw
 * anything strange.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "mark.h"

static atomic_bool stop;
static atomic_int running, strange;

static void *busy(void *unused)
{
	(void)unused;
	running++;
	while (!stop) {
		mark(10);
		usleep(500);
	}
	return NULL;
}

/* A sleep that a tracer's stop must not cut short. */
static void *asleep(void *unused)
{
	struct timespec nap = { 0, 30000000 };

	(void)unused;
	running++;
	while (!stop)
		if (nanosleep(&nap, NULL))
			strange++;
	return NULL;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 2;
	pthread_t *ids = calloc((size_t)n * 2, sizeof(*ids));
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (long i = 0; i < 2 * n; i++)
		pthread_create(&ids[i], NULL, i % 2 ? busy : asleep, NULL);
	while (running < 2 * n)
		usleep(1000);
	if (write(1, "r", 1) != 1)
		return 2;
	sigwait(&set, &sig);
	stop = true;
	for (long i = 0; i < 2 * n; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	return strange != 0;
}
