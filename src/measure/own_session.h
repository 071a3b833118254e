/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session that is fed with calls of our own: what drive/issue.h makes is
 * shown, counted and dumped as calls of a traced program are.
 */
#ifndef PEVTRACE_MEASURE_OWN_SESSION_H
#define PEVTRACE_MEASURE_OWN_SESSION_H

#include "cli/machine.h"
#include "drive/own_call.h"
#include "session/session.h"

struct own_session {
	struct options options;	/* the caller's: init, fill in, and free */
	struct machine machine;
	struct session session;
	struct own_calls own_calls;
};

/*
 * options.select says which calls are shown; the dump has them all.  False
 * after a warn(), and nothing is to be ended then.
 */
bool own_session_start(struct own_session *i);

/* True when all could be written. */
bool own_session_end(struct own_session *i);

#endif
