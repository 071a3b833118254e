/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a trace added up to: events, groups, rings, tasks, failed opens. */
#ifndef PEVTRACE_TEXT_SUMMARY_H
#define PEVTRACE_TEXT_SUMMARY_H

#include "lib/buf.h"
#include "model/model.h"

/*
 * Appends the summary of a model that keeps.  Opens that only tried the
 * kernel, and failures after which nearly the same was tried with success, are
 * told apart from the rest.  Nothing where no event was ever asked for.
 */
void summary_print(const struct model *m, const struct names *n, struct buf *out);

/* Its pieces, for those who show the same in another form: one line, escaped. */

/* "perf[123]"; "task 123" where the name is not known. */
void summary_add_task(const struct model *m, pid_t tid, struct buf *out);

/*
 * What it measures; ", sampling about 99 times a second"; how it began and
 * ended; its count; "12 MMAP2, 6 SAMPLE", with what was lost on the way.
 */
void summary_add_target(const struct model *m, const struct event *e, struct buf *out);
void summary_add_mode(const struct names *names, const struct event *e, struct buf *out);
void summary_add_life(const struct model *m, const struct event *e, struct buf *out);
void summary_add_counter(const struct event *e, struct buf *out);
void summary_add_records(const struct event *e, struct buf *out);

/*
 * Who writes where, by numbers of events, counted from 1 on: the first that writes to
 * an event's ring, and behind that one the next that writes there, too; 0: none.
 */
struct summary_writers {
	unsigned int *first, *next;
};

void summary_find_writers(const struct model *m, struct summary_writers *w);
void summary_free_writers(struct summary_writers *w);

/* 0: none, as for every AUX area. */
unsigned int summary_first_writer(const struct summary_writers *w, const struct ring *r);

/* "512 KiB"; page: bytes of a page. */
void summary_add_size(const struct ring *r, uint32_t page, struct buf *out);

#endif
