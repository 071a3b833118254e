/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What calls do to the model, by what they are about; all but model_open_failed() succeeded. */
#ifndef PEVTRACE_MODEL_CALLS_H
#define PEVTRACE_MODEL_CALLS_H

#include "model/state.h"

/* Opening (call_open.c). */
void model_after_open(struct model *m, struct task *t, const struct call *c);
void model_open_failed(struct model *m, struct task *t, const struct call *c);

/* Reading, and waiting, which counts from its beginning: it may never return (call_read.c). */
void model_after_read(struct model *m, struct task *t, const struct call *c);
void model_wait_begins(struct task *t, const struct call *c);

/* Descriptors on their way through sockets (call_pass.c). */
void model_sent(struct model *m, struct task *t, const struct call *c);
void model_received(struct model *m, struct task *t, const struct call *c);

/*
 * Where members of a group can begin in the list of all events: behind their
 * leader.  What came long before is not looked through at each call.
 */
static inline size_t group_begins(const struct event *leader)
{
	return leader->number - 1;
}

#endif
