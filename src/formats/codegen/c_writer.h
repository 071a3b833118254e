/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files that write a program share. */
#pragma once

#include "core/lib/map.h"
#include "formats/codegen/c_program.h"

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

/* A line of main(); of marks it has numbers only. */
struct line {
	char *text;
	const char *meaning;
};

struct writer {
	struct c_program *p;
	struct c_parts parts;
	struct buf *out;
	int *children;			/* their numbers; -1: left out */
	int nchildren, nevents, nrings;
	struct line *lines;
	size_t nlines;
	struct map written;		/* hashes of comments that were written */
};

/* Return true the first time that it is called for a comment. */
bool c_say(struct writer *w, const char *what, const char *more);

/* Return the name of the function that drains such rings. */
const char *c_drain_name(enum c_drain kind);

/* Return whether rings are of several kinds, so that the program needs a table. */
bool c_parts_mixed(const struct c_parts *p);

/* Return whether all reads have the same layout, without groups. */
bool c_parts_plain_counts(const struct c_parts *p);

/* Turn the steps into lines, with waits between them. */
void c_steps_write(struct writer *w);

/* Write the lines, with loops for those that repeat. */
void c_lines_write(struct writer *w);

/* Name the variable of each attr. */
void c_text_name_attrs(struct c_program *p);

/* Write the program above the lines of main(), and what follows them. */
void c_text_top(struct writer *w);
void c_text_end(struct writer *w);
