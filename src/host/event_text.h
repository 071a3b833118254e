/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events written as event_syntax.h reads them. */
#ifndef PEVTRACE_HOST_EVENT_TEXT_H
#define PEVTRACE_HOST_EVENT_TEXT_H

#include "host/event_syntax.h"
#include "lib/buf.h"

/*
 * Appends the event: its label where that is a name, and behind that the members
 * that are not as the name has them.  names tells which of a union counts.
 */
void event_text(struct buf *out, struct host *h, const struct names *names,
		const struct event_spec *e);

#endif
