/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The effects of calls on the model; all but those of model_open_failed() succeeded. */
#pragma once

#include "core/model/state.h"

/* perf_event_open (call_open.c). */
void model_after_open(struct model *m, struct task *t, const struct call *c);
void model_open_failed(struct model *m, struct task *t, const struct call *c);

/*
 * Reading and waiting (call_read.c).  A wait counts from its start, as it may never return, and
 * as one for the ring buffer of the event's records.
 */
void model_after_read(struct model *m, struct task *t, const struct call *c);
void model_wait_begins(struct task *t, const struct call *c);

/* The first argument of select(2) that is a set, and the last one. */
enum { READ_SET = 1, EXCEPT_SET = 3 };

/*
 * Iterate over the events that a poll, epoll_wait, or one set of a select waits for: start with
 * *at = 0; NULL at the end.
 */
struct event *waited_next(const struct task *t, const struct call *c, unsigned int set, size_t *at);

/* Iterate over a group, the leader first: start with *number = 0; NULL at the end. */
struct event *group_next(const struct model *m, struct event *leader, unsigned int *number);
