/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The effects of calls on the model; all but those of model_open_failed() succeeded. */
#pragma once

#include "core/model/state.h"

/* perf_event_open (call_open.c). */
void model_after_open(struct model *m, struct task *t, const struct call *c);
void model_open_failed(struct model *m, struct task *t, const struct call *c);

/* Reading and waiting; a wait counts from its start, as it may never return (call_read.c). */
void model_after_read(struct model *m, struct task *t, const struct call *c);
void model_wait_begins(struct task *t, const struct call *c);

/* Descriptors in transit through sockets (call_pass.c). */
void model_sent(struct model *m, struct task *t, const struct call *c);
void model_received(struct model *m, struct task *t, const struct call *c);

/* Return the leader's index in the list of all events: its group is there and later. */
static inline size_t group_begins(const struct event *leader)
{
	return leader->number - 1;
}
