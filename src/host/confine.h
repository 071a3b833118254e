/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What holds this process back beside its user: filters, containers, a machine
 * that is virtual. */
#ifndef PEVTRACE_HOST_CONFINE_H
#define PEVTRACE_HOST_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

struct confinement {
	int seccomp;		/* Seccomp of /proc/PID/status: 0 none, 1 strict, 2 filter */
	int filters;		/* how many of them */
	bool no_new_privs;
	uint64_t bounding;	/* capabilities that can be had at all, 1 << CAP_* */
	const char *container;	/* a file that says that this is one, or NULL */
	bool virtual;		/* the machine is a virtual one */
};

/* What cannot be read is taken not to be there. */
void confinement_read(struct confinement *c);

#endif
