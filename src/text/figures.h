/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What events have counted, as a table. */
#ifndef PEVTRACE_TEXT_FIGURES_H
#define PEVTRACE_TEXT_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

/* The counts of one event on all that it was opened on. */
struct figure {
	const char *name;
	bool opened;		/* at least once */
	bool clock;		/* the value is in ns */
	uint64_t value;		/* the sum of all, each scaled to all of its time */
	uint64_t enabled, running; /* ns, sums; equal unless it was multiplexed */
};

/* Adds one count; with running below enabled it is scaled by their quotient. */
void figure_add(struct figure *f, uint64_t value, uint64_t enabled, uint64_t running);

/* Appends the table, and a line with the seconds that passed. */
void figures_print(const struct figure *f, size_t n, double seconds, struct buf *out);

/* Appends them on a line, without its end: for a progress report. */
void figures_line(const struct figure *f, size_t n, double seconds, struct buf *out);

#endif
