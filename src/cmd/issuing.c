// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cmd/issuing.h"

#include <unistd.h>

static void on_enter(void *ctx, struct call *c)
{
	struct session *s = &((struct issuing *)ctx)->session;

	c->shown = session_shows(s, c, model_concerns(s->model, c));
	session_enter(s, c);
}

static void on_exit_of(void *ctx, struct call *c)
{
	session_exit(&((struct issuing *)ctx)->session, c);
}

static const struct issue_ops ops = { .enter = on_enter, .exit = on_exit_of };

bool issuing_start(struct issuing *i)
{
	const struct birth birth = { .tid = gettid(), .pid = getpid(), .attached = true };

	machine_live(&i->machine, i->options.symbols);
	if (!session_start_here(&i->session, &i->options, &i->machine.names)) {
		machine_close(&i->machine);
		return false;
	}
	issuer_init(&i->issuer, &ops, i, &i->session.names);
	session_born(&i->session, &birth, session_now());
	return true;
}

bool issuing_end(struct issuing *i)
{
	bool written;

	session_gone(&i->session, gettid(), session_now(), END_DETACHED, 0, NULL);
	issuer_free(&i->issuer);
	written = session_end(&i->session);
	machine_close(&i->machine);
	return written;
}
