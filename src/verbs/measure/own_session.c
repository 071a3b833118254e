// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/measure/own_session.h"

#include <unistd.h>

#include "core/lib/clock.h"

bool own_session_start(struct own_session *o)
{
	machine_live(&o->machine, o->options.symbols);
	if (!views_start_here(&o->views, &o->session, &o->options, &o->machine.names)) {
		machine_close(&o->machine);
		return false;
	}
	own_calls_init(&o->own_calls, &o->session);
	session_feed(&o->session, &(struct activity){
		ACTIVITY_TASK, .task = {
			.tid = gettid(), .pid = getpid(), .ns = clock_ns(), .attached = true,
		},
	});
	return true;
}

bool own_session_end(struct own_session *o)
{
	bool written;

	session_feed(&o->session, &(struct activity){
		ACTIVITY_GONE, .gone = {
			.tid = gettid(), .ns = clock_ns(), .how = END_DETACHED,
		},
	});
	own_calls_free(&o->own_calls);
	written = views_end(&o->views, &o->session);
	machine_close(&o->machine);
	return written;
}
