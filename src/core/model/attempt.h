/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a program did after an open that failed. */
#pragma once

#include "core/lib/buf.h"
#include "core/model/model.h"

/*
 * Return the first event that the task opened after the failure, with a similar attr and
 * possibly the same target, or NULL.  Requires a model with keep.
 */
const struct event *attempt_instead(const struct model *m, const struct attempt *a);

/* Return whether both have the same type and config. */
bool attempt_same_event(const struct attempt *a, const struct event *e);

/* Append the names of the members, and pid, in which the two differ. */
void attempt_compare(const struct attempt *a, const struct event *e, struct buf *different);
