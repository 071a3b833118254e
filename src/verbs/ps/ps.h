/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace ps: the perf events of this machine. */
#pragma once

#include "verbs/cli/machine.h"
#include "verbs/cli/options.h"
#include "verbs/cli/showing.h"
#include "engine/rings/events.h"
#include "experiment/instruments.h"
#include "core/lib/map.h"

struct ps {
	struct options options;
	const char *event;	/* only events whose names contain it; or NULL */
	size_t watch;		/* seconds between two lists; 0: one list */
	struct events events;
	struct machine machine;
	struct instruments instruments;
	struct showing out;
	bool stale;		/* an event was shown whose count is old */
	size_t name, target, holder; /* widths of columns of the list */
	/* of the list before, by id: counts + 1, when it was made (CLOCK_MONOTONIC) */
	struct map counts;
	uint64_t before_ns, now_ns;
};

/* Append the event's name; "?" without its attr. */
void ps_name(const struct ps *p, const struct events_event *v, struct buf *out);

/*
 * Append why an event's count is 0 if the reason is that such events do not count on this machine;
 * else return false.  Only events of the hardware are examined.
 */
bool ps_doubt(struct ps *p, const struct events_event *v, struct buf *out);

/* Write the list, of events that were selected, as text or as JSON. */
void ps_show(struct ps *p, struct events_event *const *list, size_t n);
