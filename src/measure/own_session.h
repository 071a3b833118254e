/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session that our own calls feed: what drive/own_call.h does is shown, counted
 * and dumped as the calls of a traced program are.
 */
#ifndef PEVTRACE_MEASURE_OWN_SESSION_H
#define PEVTRACE_MEASURE_OWN_SESSION_H

#include "cli/machine.h"
#include "cli/views.h"
#include "drive/own_call.h"
#include "session/session.h"

struct own_session {
	struct options options;	/* the caller's to initialize, fill in and free */
	struct machine machine;
	struct session session;
	struct views views;
	struct own_calls own_calls;
};

/*
 * Start a session; the dump has all calls, options.select says which are shown.
 * False after a warn(), with nothing to end.
 */
bool own_session_start(struct own_session *o);

/* End it; true when everything was written. */
bool own_session_end(struct own_session *o);

#endif
