/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables of counts: calls, errors and times of each system call (-c), and the counts of events. */
#pragma once

#include "core/abi/call.h"

struct call_count {
	uint64_t calls, errors, ns, min_ns, max_ns;
};

struct call_counts {
	struct call_count of[CALL_COUNT];
};

enum count_column {
	COUNT_PERCENT, COUNT_TIME, COUNT_MIN, COUNT_MAX, COUNT_AVERAGE, COUNT_CALLS, COUNT_ERRORS,
	COUNT_NAME, COUNT_COLUMNS,
};

enum count_sort {
	SORT_TIME, SORT_MIN, SORT_MAX, SORT_AVERAGE, SORT_CALLS, SORT_ERRORS, SORT_NAME, SORT_NOTHING,
};

/* The names of both, in their order, with the synonyms of strace. */
#define COUNT_COMMON_WORDS \
	"min-time|time-min|min-wall|shortest max-time|time-max|max-wall|longest " \
	"avg-time|time-avg|avg-wall calls|count " \
	"errors|error name|syscall|syscall-name"
#define COUNT_COLUMN_WORDS "time-percent|time total-time|time-total|total-wall " COUNT_COMMON_WORDS
#define COUNT_SORT_WORDS \
	"time|time-percent|time-total|total-time|total-wall " COUNT_COMMON_WORDS " nothing|none"

/* How the table looks; zeros: the usual columns, sorted by time. */
struct call_counts_form {
	enum count_sort sort;
	enum count_column columns[COUNT_COLUMNS];
	size_t ncolumns;
};

/* Count a call that returned, with the time from entry to exit. */
void call_counts_add(struct call_counts *k, const struct call *c);

/* Append the table and the total; color: with numbers of errors in their colour. */
void call_counts_print(const struct call_counts *k, const struct call_counts_form *f, bool color,
		       struct buf *out);

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
