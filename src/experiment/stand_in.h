/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Idle child processes that stand in for the processes that events of a dump measured. */
#pragma once

#include <sys/types.h>

#include "core/lib/map.h"

enum { STAND_INS_MAX = 1024 };

/* Zero-initialised is valid. */
struct stand_ins {
	struct map children;	/* pid in the dump -> pid of the child */
	pid_t nobody;
};

/*
 * Return the child that stands in for pid, forked at the first call: it has no descriptors
 * and sleeps.  Or return a negative errno: EAGAIN above STAND_INS_MAX.
 */
pid_t stand_in_for(struct stand_ins *s, pid_t pid);

/* Return a pid that no process has, or a negative errno. */
pid_t stand_in_nobody(struct stand_ins *s);

/* Kill all children and wait for them. */
void stand_ins_end(struct stand_ins *s);
