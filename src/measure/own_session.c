// SPDX-License-Identifier: LGPL-2.1-or-later
#include "measure/own_session.h"

#include <unistd.h>

static void on_enter(void *ctx, struct call *c)
{
	struct session *s = &((struct own_session *)ctx)->session;

	c->shown = session_shows(s, c, model_concerns(s->model, c));
	session_enter(s, c);
}

static void on_exit_of(void *ctx, struct call *c)
{
	session_exit(&((struct own_session *)ctx)->session, c);
}

static const struct own_call_ops ops = { .enter = on_enter, .exit = on_exit_of };

bool own_session_start(struct own_session *i)
{
	const struct birth birth = { .tid = gettid(), .pid = getpid(), .attached = true };

	machine_live(&i->machine, i->options.symbols);
	if (!session_start_here(&i->session, &i->options, &i->machine.names)) {
		machine_close(&i->machine);
		return false;
	}
	own_calls_init(&i->own_calls, &ops, i, &i->session.names);
	session_born(&i->session, &birth, session_now());
	return true;
}

bool own_session_end(struct own_session *i)
{
	bool written;

	session_gone(&i->session, gettid(), session_now(), END_DETACHED, 0, NULL);
	own_calls_free(&i->own_calls);
	written = session_end(&i->session);
	machine_close(&i->machine);
	return written;
}
