/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls of a log, with the events that those before them opened. */
#pragma once

#include "core/abi/attr_text.h"
#include "core/model/model.h"

struct log_calls {
	struct log_event *events;	/* owned */
	size_t n;
};

/* Keep the event that a call opened, for group_fd of those that follow. */
void log_calls_add(struct log_calls *l, const struct attr_text *a);

/*
 * Return the call in the form that is judged, with what is known of the event of its group_fd.  It
 * points to a, and to l up to its next change.
 */
struct attempt log_calls_attempt(const struct log_calls *l, const struct attr_text *a);

void log_calls_free(struct log_calls *l);
