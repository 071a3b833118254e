/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace ps: the perf events of this machine. */
#pragma once

#include "engine/rings/events.h"
#include "experiment/instruments.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/showing.h"

struct ps {
	struct options options;
	struct event_texts texts; /* of -e */
	struct event_list chosen; /* the events that these name */
	char *const *patterns;	/* of names, NULL-terminated */
	bool unfold;		/* no row has several events */
	bool color;		/* rows have colours */
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

/* enum perf_event_state of include/linux/perf_event.h; lower numbers are later ends. */
enum { STATE_EXIT = -3, STATE_ERROR, STATE_OFF, STATE_INACTIVE, STATE_ACTIVE };

/* An event, and the one of its holders below which it is listed. */
struct ps_item {
	const struct events_event *v;
	const struct events_holder *by;
};

/* A row of the list: an event, or several of one holder. */
struct ps_row {
	struct ps *p;
	const struct ps_item *items;
	size_t n;
	bool again;		/* of the same holder as the row before */
	struct events_event sum; /* the first, with the sums of all */
	unsigned int has;	/* what is known of it, see ps_show.c */
};

/* Append the event's name; "?" without its attr. */
void ps_name(struct ps *p, const struct events_event *v, struct buf *out);

/* Write the rows, and in text the total, as text or as JSON. */
void ps_show(struct ps *p, struct ps_row *rows, size_t n, const char *total);
