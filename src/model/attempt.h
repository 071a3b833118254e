/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a program did after an open that failed. */
#ifndef PEVTRACE_MODEL_ATTEMPT_H
#define PEVTRACE_MODEL_ATTEMPT_H

#include "lib/buf.h"
#include "model/model.h"

/*
 * The first event that the task opened after the failure and that asks for nearly
 * the same, if it can be of the same target; NULL: none.  Of a model that keeps.
 */
const struct event *attempt_instead(const struct model *m, const struct attempt *a);

/* Both ask for the same event, by type and config. */
bool attempt_same_event(const struct attempt *a, const struct event *e);

/* Appends the names of the members, and pid, in which the two differ. */
void attempt_compare(const struct attempt *a, const struct event *e, struct buf *different);

#endif
