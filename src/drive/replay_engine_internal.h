/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of reissuing: our descriptors and rings for those of the dump. */
#ifndef PEVTRACE_DRIVE_REPLAY_ENGINE_INTERNAL_H
#define PEVTRACE_DRIVE_REPLAY_ENGINE_INTERNAL_H

#include "drive/replay_engine.h"

/* More than a read of a group (16 KiB) or an attr (a page) can have. */
enum { FENCE_SIZE = 64 * 1024 };

/* A descriptor of the dump's, and ours for it. */
struct reissued_fd {
	struct reissued_fd *next;	/* of the same event */
	unsigned int event;
	uint64_t key;
	int own;
	bool closing;			/* its close has begun */
};

struct reissued_ring {
	uint64_t at, len;
};

/* Ours, which the call's result fd is to stand for; closed where that is no event. */
void replay_engine_fd_add(struct replay_engine *r, const struct call *c, int fd, int own);

/* Takes it out of the tables; the descriptor is the caller's to close. */
void replay_engine_fd_drop(struct replay_engine *r, struct reissued_fd *h);

/* That very descriptor, not another of the same event, nor one that is being closed. */
struct reissued_fd *replay_engine_fd_exact(const struct replay_engine *r, const struct call *c, int fd);

/* Ours for the call's, or -1 with *why.  What was none there is none here. */
int replay_engine_fd_again(const struct replay_engine *r, const struct call *c, int fd, const char **why);

/* Closes all of them, or those of events that the dump's model has not any more. */
void replay_engine_let_go_fds(struct replay_engine *r, bool all);

/*
 * Makes the call, with what is ours in place of what it had.  closing: what a close
 * closes, or NULL.
 */
struct reissued replay_engine_call(struct replay_engine *r, const struct call *c,
			     struct reissued_fd *closing);

#endif
