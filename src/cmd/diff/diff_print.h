/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What pevtrace diff writes to standard output. */
#ifndef PEVTRACE_CMD_DIFF_DIFF_PRINT_H
#define PEVTRACE_CMD_DIFF_DIFF_PRINT_H

#include "dump/compare.h"
#include "dump/expect.h"

/* What one call differs in, until the next call's turn comes. */
struct diff_block {
	char *head;		/* "task1 perf_event_open" */
	char *line;		/* which call it is */
	struct buf what;	/* the events that differ alike */
	struct buf body;
};

struct diff_print {
	bool json, color;
	const char *a, *b;	/* what is compared, for the first lines */
	bool begun;		/* these have been written */
	struct diff_block now, before;
};

/* ctx is a struct diff_print. */
void diff_print_difference(void *ctx, const struct difference *d);
void diff_print_mismatch(void *ctx, const struct mismatch *m);

/*
 * Says what is not compared where one of the two is a perf.data file; left_out:
 * opens of the dump that are not compared since the file could not have them.
 */
void diff_print_scope(struct diff_print *p, uint64_t left_out);

/* Writes what was held back. */
void diff_print_end(struct diff_print *p);
void diff_print_free(struct diff_print *p);

/* The whole normal form. */
void diff_print_normal(struct diff_print *p, const struct normal *n,
		       const struct normal_choice *choice);

#endif
