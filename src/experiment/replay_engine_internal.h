/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counterparts of a dump's descriptors and processes. */
#pragma once

#include "experiment/replay_engine.h"

/* A descriptor of the dump and its counterpart. */
struct replayed_fd {
	struct replayed_fd *next;	/* of the same event */
	unsigned int event;
	uint64_t key;
	int own;			/* the counterpart */
	bool closing;			/* its close has begun */
};

/* Make own the counterpart of the call's result fd; close it if that is no event. */
void replay_engine_fd_add(struct replay_engine *r, const struct call *c, int fd, int own);

/* Remove a descriptor from the tables, without closing it. */
void replay_engine_fd_drop(struct replay_engine *r, struct replayed_fd *h);

/* Return the counterpart of exactly this descriptor, or NULL; also NULL if it is being closed. */
struct replayed_fd *replay_engine_fd_exact(const struct replay_engine *r,
					   const struct call *c, int fd);

/*
 * Return the counterpart of a descriptor, or -1 with *why.  A descriptor that was no event
 * in the dump is none here.
 */
int replay_engine_own_fd(const struct replay_engine *r, const struct call *c, int fd,
			 const char **why);

/* Close all descriptors, or those of events that are closed in the dump. */
void replay_engine_close_fds(struct replay_engine *r, bool all);

enum { STAND_INS_MAX = 1024 };

/*
 * Return the child that stands in for pid, forked at the first call: it has no descriptors
 * and sleeps.  Or return a negative errno: EAGAIN above STAND_INS_MAX.
 */
pid_t stand_in_for(struct stand_ins *s, pid_t pid);

/* Return a pid that no process has, or a negative errno. */
pid_t stand_in_nobody(struct stand_ins *s);

/* Kill all children and wait for them. */
void stand_ins_end(struct stand_ins *s);
