/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A dump, told to a session as a traced program would be. */
#ifndef PEVTRACE_SESSION_RETELL_H
#define PEVTRACE_SESSION_RETELL_H

#include "dump/reader.h"
#include "session/session.h"

/*
 * Starts the session with what the dump's first line says.  options and the
 * replay must outlive it.  False after a warn().
 */
bool retell_start(struct session *s, struct options *options, struct reader *r);

/* Tells it everything; true when the dump was whole, else after a warn(). */
bool retell(struct session *s, struct reader *r);

#endif
