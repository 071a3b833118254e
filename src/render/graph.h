/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a trace added up to: events, groups, rings, tasks, failed opens. */
#ifndef PEVTRACE_RENDER_GRAPH_H
#define PEVTRACE_RENDER_GRAPH_H

#include "lib/buf.h"
#include "model/model.h"

/*
 * Appends the summary of a model that keeps.  Opens that only tried the
 * kernel, and failures after which nearly the same was tried with success, are
 * told apart from the rest.  Nothing where no event was ever asked for.
 */
void graph_print(const struct model *m, const struct names *n, struct buf *out);

#endif
