/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The privileges of this process for perf events, and what restricts it besides its user: seccomp,
 * containers, virtual machines.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/rules.h"

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

/* Return a number of /proc/sys/kernel, or otherwise if it cannot be read. */
long rights_sysctl(const char *name, long otherwise);

/* Return the effective capabilities of this process, 1 << CAP_*; see capget(2). */
uint64_t rights_effective(void);

/*
 * Return whether pevtrace is in the first user namespace: capabilities in another one, such
 * as a container's, do not count for perf events.  Without /proc, that is known since Linux 6.11.
 */
enum fact rights_user_ns_is_first(void);

/*
 * Return whether this process has CAP_PERFMON, or CAP_SYS_ADMIN, which includes it; false if its
 * user namespace is not known.
 */
bool rights_perfmon(void);
