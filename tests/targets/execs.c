/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Replaces itself while it has several threads.
 *
 * usage: execs thread | leader | orphan | headless
 *	  thread: a thread execs; leader: the first thread does;
 *	  orphan: a thread does, after the first thread has ended;
 *	  headless: no thread execs, and the first has ended
 * Exit status 5: the new program ran.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mark.h"

static const char *self;
static bool orphan;

static void *idle(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static bool leader_ended(void)
{
	FILE *f = fopen("/proc/self/stat", "r");
	char state = '?';

	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	if (f)
		fclose(f);
	return state == 'Z';
}

static void *changer(void *alone)
{
	usleep(20000);
	for (int i = 0; alone && i < 1000 && !leader_ended(); i++)
		usleep(10000);
	mark(1);
	execl(self, self, "after", (char *)NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t id;

	self = argv[0];
	if (!strcmp(what, "after")) {
		mark(2);
		return 5;
	}
	for (int i = 0; i < 3; i++)
		pthread_create(&id, NULL, idle, NULL);
	if (!strcmp(what, "leader"))
		changer(NULL);
	if (!strcmp(what, "headless"))
		pthread_exit(NULL);
	orphan = !strcmp(what, "orphan");
	pthread_create(&id, NULL, changer, orphan ? &orphan : NULL);
	if (orphan)
		pthread_exit(NULL);
	idle(NULL);
	return 1;
}
