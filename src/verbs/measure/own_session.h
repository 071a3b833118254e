/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session fed by calls of pevtrace itself (engine/rings/own_call.h), which are shown, counted and
 * dumped like the calls of a traced program.
 */
#pragma once

#include "core/session/session.h"
#include "engine/rings/own_call.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/views.h"

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
