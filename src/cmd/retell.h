/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A dump, told to a session as a traced program would be. */
#ifndef PEVTRACE_CMD_RETELL_H
#define PEVTRACE_CMD_RETELL_H

#include "cmd/session.h"
#include "dump/replay.h"

/*
 * Starts the session with what the dump's first line says.  options and the
 * replay must outlive it.  False after a warn().
 */
bool retell_start(struct session *s, struct options *options, struct replay *r);

/* Tells it everything; true when the dump was whole, else after a warn(). */
bool retell(struct session *s, struct replay *r);

#endif
