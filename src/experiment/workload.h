/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A command that waits until its events are open. */
#pragma once

#include <stdbool.h>
#include <signal.h>
#include <sys/types.h>

#include "core/lib/program.h"

struct workload {
	pid_t pid;		/* 0: no command */
	int go[2], report;	/* pipes, -1 when closed */
	const char *name;
	bool ended;
	int status;		/* of waitpid(2), once ended */
};

/*
 * Fork a child that waits, with the signal mask `mask`; argv must outlive it.  Return false
 * after a warn().
 */
bool workload_fork(struct workload *w, const struct program *p, char *const *argv,
		   const sigset_t *mask);

/* Let the child exec.  Return false after a warn() if that fails. */
bool workload_go(struct workload *w);

/* Reap the child if it has exited. */
void workload_reap(struct workload *w);

/* Kill the child if it runs, and reap it. */
void workload_end(struct workload *w);

/*
 * Return the exit status that corresponds to a status of waitpid(2), or die of the signal
 * that it reports.
 */
int end_like(int status);
