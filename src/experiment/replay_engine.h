/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Repeating the perf calls of a dump, in the order of their returns, with descriptors,
 * rings and processes of pevtrace in place of those of the dump.
 */
#pragma once

#include "core/lib/map.h"
#include "core/model/model.h"
#include "engine/rings/own_call.h"
#include "engine/rings/ring.h"

/* Idle child processes that stand in for the processes that events of the dump measured. */
struct stand_ins {
	struct map children;	/* pid in the dump -> pid of the child */
	pid_t nobody;
};

struct replay_engine {
	struct own_calls *own_calls;	/* owned by the caller, as model and names are */
	struct model *model;	/* of the dump's session */
	const struct names *names;	/* of the dump */
	pid_t given;		/* the process to measure in place of others; 0: stand-ins */
	bool all_cpus;		/* open events of a whole CPU, too */
	/* what is also opened on other processes than stand-ins: a dump is not trusted */
	bool kprobes, sigtraps;
	int64_t uprobe_type, kprobe_type; /* of the PMUs here, -1: none */
	uint64_t ring_limit;	/* bytes of all ring buffers together */
	struct stand_ins stand_ins;
	struct fence memory, string; /* what calls point to, followed by an unreadable page */
	struct map by_fd;	/* pid and fd in the dump -> struct replayed_fd */
	struct map by_event;	/* event number in the dump -> the first of these */
	struct map rings;	/* ring number in the dump -> struct replayed_ring */
	struct map pending;	/* tid -> struct pending */
	bool unsettled;		/* an exec or exit may have ended events and rings */
};

struct replayed {
	bool made;
	const char *left_out;	/* a text: why a call that concerns perf was not made, or NULL */
	int64_t result;		/* of the call, or a negative errno */
	int trouble;		/* an errno: no stand-in process */
};

/*
 * Initialise after the caller has set the members up to ring_limit, and zero elsewhere.  Return
 * 0 or a negative errno.
 */
int replay_engine_init(struct replay_engine *r);

/* Close and unmap what is left, by calls that views see, and end the stand-ins. */
void replay_engine_free(struct replay_engine *r);

/*
 * The hooks of a view of the dump's session (core/session/view.h).  A call of the dump is
 * made before its exit; after it, its result is kept if the call succeeded in the dump.
 */
void replay_engine_enter(struct replay_engine *r, const struct call *c);
struct replayed replay_engine_before_exit(struct replay_engine *r, const struct call *c);
void replay_engine_exit(struct replay_engine *r, const struct call *c,
			const struct replayed *a);
void replay_engine_execed(struct replay_engine *r);
void replay_engine_gone(struct replay_engine *r, pid_t tid);
