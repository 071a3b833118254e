/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The perf calls of a dump made again by us, in the order of their returns:
 * what is a descriptor, a ring or a process there becomes one of ours.
 */
#ifndef PEVTRACE_DRIVE_REPLAY_ENGINE_H
#define PEVTRACE_DRIVE_REPLAY_ENGINE_H

#include "drive/fence.h"
#include "drive/own_call.h"
#include "drive/stand_in.h"
#include "lib/map.h"
#include "model/model.h"

struct replay_engine {
	struct own_calls *own_calls;	/* of ours; the caller's */
	struct model *model;	/* of the dump; the caller's, fed with calls here */
	const struct names *names;	/* the dump's; the caller's */
	pid_t given;		/* who takes the place of other processes; 0: stand-ins */
	bool all_cpus;		/* events of a whole CPU, too */
	struct stand_ins stand_ins;
	struct fence memory, string; /* as the caller's, which may end anywhere */
	struct map by_fd;	/* pid and fd of the dump to struct reissued_fd */
	struct map by_event;	/* the dump's number to the first of these */
	struct map rings;	/* the dump's number to struct reissued_ring */
	struct map pending;	/* tid to what its call is about */
};

struct reissued {
	bool made;
	const char *left_out;	/* why, where it concerns perf and was not made */
	int64_t result;		/* or a negative errno */
	int trouble;		/* an errno: no process or memory to make it with */
};

/*
 * The caller has filled in issuer, model, names, given, all_cpus, and zero
 * elsewhere.  A negative errno, or 0.
 */
int replay_engine_init(struct replay_engine *r);

/* Closes, unmaps and ends what is left, by calls that are told, too. */
void replay_engine_free(struct replay_engine *r);

/* The dump's call begins; returns, and is made; or its task went inside it. */
void replay_engine_enter(struct replay_engine *r, const struct call *c);
struct reissued replay_engine_exit(struct replay_engine *r, const struct call *c);
void replay_engine_abandon(struct replay_engine *r, pid_t tid);

/* After an exec or exit: lets go of what these ended. */
void replay_engine_settle(struct replay_engine *r);

#endif
