/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attr of a perf_event_open as rows of an HTML table. */
#pragma once

#include "core/abi/call.h"
#include "core/lib/buf.h"
#include "core/model/model.h"

struct attr_rows_count {
	unsigned int set, unset;	/* rows of members that are not 0, that are 0 */
};

/* Append a row with name, value and meaning of each member; class "zero" if it is 0. */
struct attr_rows_count attr_rows(const struct call *c, const struct names *n, struct buf *out);

/* The same of an event that was opened before and described since. */
struct attr_rows_count attr_rows_described(const struct event *e, const struct names *n,
					   struct buf *out);
