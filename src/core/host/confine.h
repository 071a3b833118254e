/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What restricts this process besides its user: seccomp, containers, virtual machines. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct confinement {
	int seccomp;		/* Seccomp of /proc/PID/status: 0 none, 1 strict, 2 filter */
	int filters;		/* the number of seccomp filters */
	bool no_new_privs;
	uint64_t bounding;	/* the capability bounding set, 1 << CAP_* */
	const char *container;	/* a file that is a sign of a container, or NULL */
	bool virtual;		/* the machine is a virtual one */
};

/* Read the restrictions; one that cannot be read counts as absent. */
void confinement_read(struct confinement *c);

/* Return whether the machine is a virtual one, as far as its files tell. */
bool confine_virtual(void);
