/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What pevtrace diff writes to standard output. */
#pragma once

#include "formats/diff/compare.h"
#include "formats/diff/expect.h"

/* The differences of one call, or of equal ones in a row, before they are written. */
struct diff_block {
	char *head;		/* "task1 perf_event_open" */
	char *line;		/* identifies the call */
	struct buf what;	/* names of the events with these differences */
	struct buf body;
};

struct diff_print {
	bool json, color;
	unsigned int width;	/* of the terminal that differences go to, or 0 */
	const char *a, *b;	/* names of the files, for the first lines */
	bool begun;		/* these lines were written */
	struct diff_block now, before;
};

/* Write a difference; ctx is a struct diff_print. */
void diff_print_difference(void *ctx, const struct difference *d);
void diff_print_mismatch(void *ctx, const struct mismatch *m);

/*
 * Write what is not compared if one of the two is a perf.data file.  left_out: number of
 * opens in the dump that such a file cannot contain.
 */
void diff_print_scope(struct diff_print *p, uint64_t left_out);

/* Write the pending block. */
void diff_print_end(struct diff_print *p);
void diff_print_free(struct diff_print *p);

/* Write the normal form. */
void diff_print_normal(struct diff_print *p, const struct normal *n,
		       const struct normal_choice *choice);
