/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace ps: the perf events of this machine. */
#pragma once

#include "core/host/event_syntax.h"
#include "core/lib/map.h"
#include "engine/rings/events.h"
#include "experiment/instruments.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/options.h"
#include "verbs/cli/showing.h"

struct ps {
	struct options options;
	struct event_texts texts; /* of -e */
	struct event_list chosen; /* the events that these name */
	char *const *patterns;	/* of names, NULL-terminated */
	size_t watch;		/* seconds between two lists; 0: one list */
	struct events events;
	struct machine machine;
	struct instruments instruments;
	struct showing out;
	bool stale;		/* an event was shown whose count is old */
	/* of the list before, by id: counts + 1, when it was made (CLOCK_MONOTONIC) */
	struct map counts;
	uint64_t before_ns, now_ns;
};

/* Append the event's name; "?" without its attr. */
void ps_name(struct ps *p, const struct events_event *v, struct buf *out);

/* Write the list, of events that were selected, as text or as JSON. */
void ps_show(struct ps *p, struct events_event *const *list, size_t n);
