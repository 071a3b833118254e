/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing events in the syntax of event_syntax.h. */
#pragma once

#include "core/host/event_syntax.h"
#include "core/lib/buf.h"

/*
 * Append the event: its label if that is a name, then the members that differ from those
 * of the name.  names decides which member of a union applies.
 */
void event_text(struct buf *out, struct host *h, const struct names *names,
		const struct event_spec *e);
