/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session that is fed with calls of our own: what drive/issue.h makes is
 * shown, counted and dumped as calls of a traced program are.
 */
#ifndef PEVTRACE_CMD_ISSUING_H
#define PEVTRACE_CMD_ISSUING_H

#include "cmd/machine.h"
#include "cmd/session.h"
#include "drive/issue.h"

struct issuing {
	struct options options;	/* the caller's: init, fill in, and free */
	struct machine machine;
	struct session session;
	struct issuer issuer;
};

/*
 * options.select says which calls are shown; the dump has them all.  False
 * after a warn(), and nothing is to be ended then.
 */
bool issuing_start(struct issuing *i);

/* True when all could be written. */
bool issuing_end(struct issuing *i);

#endif
