/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session fed by calls of pevtrace itself (drive/own_call.h), which are shown, counted and
 * dumped like the calls of a traced program.
 */
#ifndef PEVTRACE_MEASURE_OWN_SESSION_H
#define PEVTRACE_MEASURE_OWN_SESSION_H

#include "cli/machine.h"
#include "cli/views.h"
#include "drive/own_call.h"
#include "session/session.h"

struct own_session {
	struct options options;	/* initialized, filled in and freed by the caller */
	struct machine machine;
	struct session session;
	struct views views;
	struct own_calls own_calls;
};

/*
 * Start a session.  The dump contains all calls; options.select chooses which are shown.
 * Return false after a warn(); own_session_end() must not be called then.
 */
bool own_session_start(struct own_session *o);

/* End the session; return false if output could not be written. */
bool own_session_end(struct own_session *o);

#endif
