/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that do nothing, for events that counted somebody who is gone. */
#ifndef PEVTRACE_DRIVE_STAND_IN_H
#define PEVTRACE_DRIVE_STAND_IN_H

#include <sys/types.h>

#include "lib/map.h"

enum { STAND_INS_MAX = 1024 };

/* Zero-initialised is valid. */
struct stand_ins {
	struct map children;	/* by the pid that they stand for */
	pid_t nobody;
};

/*
 * The process that stands for pid, always the same; forked at the first time,
 * with no descriptors, and it sleeps.  Or a negative errno: EAGAIN where there
 * are STANDINS_MAX.
 */
pid_t stand_in_for(struct stand_ins *s, pid_t pid);

/* A pid that nobody has, as one that has ended; or a negative errno. */
pid_t stand_in_nobody(struct stand_ins *s);

/* Ends them all and waits for them. */
void stand_ins_end(struct stand_ins *s);

#endif
