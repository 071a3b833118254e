/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A table of counts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lib/buf.h"

/* The count of one event over all its CPUs and tasks. */
struct event_total {
	const char *name;
	bool opened;		/* at least once */
	bool clock;		/* the value is in ns */
	uint64_t value;		/* the sum of the scaled counts */
	uint64_t enabled, running; /* sums in ns; equal unless multiplexed */
};

/* Add a count, scaled by enabled / running. */
void event_total_add(struct event_total *f, uint64_t value, uint64_t enabled, uint64_t running);

/* Append the table, and a line with the elapsed seconds. */
void event_totals_print(const struct event_total *f, size_t n, double seconds, struct buf *out);

/* Append the counts on one line, without newline, for a progress report. */
void event_totals_line(const struct event_total *f, size_t n, double seconds, struct buf *out);
