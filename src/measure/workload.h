/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A command that waits to be let go, so that events can be put on it first. */
#ifndef PEVTRACE_MEASURE_WORKLOAD_H
#define PEVTRACE_MEASURE_WORKLOAD_H

#include <stdbool.h>
#include <signal.h>
#include <sys/types.h>

struct workload {
	pid_t pid;		/* 0: there is none */
	int go[2], report;	/* pipes, -1 when closed */
	const char *name;
	bool ended;
	int status;		/* of waitpid(2), once ended */
};

/*
 * Forks; the child waits.  argv must stay.  mask is what its signals are to be.
 * False after a warn().
 */
bool workload_fork(struct workload *w, char *const *argv, const sigset_t *mask);

/* Lets it exec; false after a warn() when there is no such program. */
bool workload_go(struct workload *w);

/* Takes its status if it has ended. */
void workload_reap(struct workload *w);

/* Kills it if it still runs, and waits for it. */
void workload_end(struct workload *w);

/*
 * What to exit with so that whoever waits for us sees that status of waitpid(2):
 * we die of the same signal, if it was one and is not blocked.
 */
int end_like(int status);

#endif
