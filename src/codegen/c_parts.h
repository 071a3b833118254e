/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that generated programs are put together from. */
#ifndef PEVTRACE_CODEGEN_C_PARTS_H
#define PEVTRACE_CODEGEN_C_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"

/* How the records of a ring are taken: each is a function drain_ALL[kind](). */
enum c_drain {
	DRAIN_RING,		/* and its room is given back */
	DRAIN_OVERWRITTEN,	/* the kernel does not wait for us */
	DRAIN_BACKWARD,		/* the same, written from the end to the start */
	DRAIN_AUX,
	DRAIN_KINDS,
};

/* What the program does, as far as its functions go. */
struct c_parts {
	bool fails;		/* makes calls that are to fail */
	bool bits;		/* puts bits into attrs */
	int children;		/* how many it starts */
	bool rings;		/* maps some */
	bool drains[DRAIN_KINDS];
	bool records;		/* takes records of some kind */
	bool watches;		/* waits while records come */
	bool gaps;		/* some rings are unmapped by then */
	bool until_signal;	/* nothing else ends it */
	bool work, works;	/* measures itself, and there is something to */
	bool must;		/* makes calls that are to succeed */
	bool handler;		/* gets signals */
	bool reads;
	uint64_t all_formats, common_format; /* bits that some or all reads have */
	const char *sample;	/* members of struct sample, or NULL */
	const char *sample_print; /* printf's arguments for them */
};

/* The function that drains rings of that kind. */
const char *c_drain_name(enum c_drain kind);

/* The one that drains any ring, where it is told by a table. */
bool c_parts_mixed(const struct c_parts *p);

/* Can counts be read without a look at their format? */
bool c_parts_plain_counts(const struct c_parts *p);

/* Appends those that are needed, each below what it calls. */
void c_parts_write(const struct c_parts *p, const char *drain_table, struct buf *out);

#endif
