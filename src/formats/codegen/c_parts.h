/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that generated programs are put together from. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/lib/buf.h"

/* How a ring is read, each by a function of its own (c_drain_name). */
enum c_drain {
	DRAIN_RING,		/* advances data_tail */
	DRAIN_OVERWRITTEN,	/* mapped read-only: the kernel overwrites */
	DRAIN_BACKWARD,		/* the same with write_backward */
	DRAIN_AUX,
	DRAIN_KINDS,
};

/* What the program does, which decides the functions that it needs. */
struct c_parts {
	bool fails;		/* has calls that must fail */
	bool numbers;		/* reads numbers of the machine for attrs */
	bool bits;		/* sets bits of attrs */
	int children;		/* children that it starts */
	bool rings;		/* maps rings */
	bool drains[DRAIN_KINDS];
	bool records;		/* reads records */
	bool watches;		/* reads records while it waits */
	bool tasks;		/* prints FORK, COMM and EXIT records: no event samples */
	bool gaps;		/* some rings are unmapped before it waits */
	bool until_signal;	/* runs until ^C */
	bool work, works;	/* measures itself; calls work() */
	bool must;		/* has calls that must succeed */
	bool handler;		/* receives signals */
	bool reads;
	uint64_t all_formats, common_format; /* read_format bits that some, all reads have */
	const char *sample;	/* members of struct sample, or NULL */
	const char *sample_print; /* printf's arguments for them */
};

/* Return the name of the function that drains such rings. */
const char *c_drain_name(enum c_drain kind);

/* Return whether rings are of several kinds, so that the program needs a table. */
bool c_parts_mixed(const struct c_parts *p);

/* Return whether all reads have the same layout, without groups. */
bool c_parts_plain_counts(const struct c_parts *p);

/* Write the functions that the program needs, each below those it calls. */
void c_parts_write(const struct c_parts *p, const char *drain_table, struct buf *out);
