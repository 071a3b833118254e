/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The summary of a trace: events, groups, rings, tasks, failed opens. */
#pragma once

#include "core/abi/as_kernel.h"
#include "core/model/model.h"

/*
 * Append the summary of a model that keeps what has ended.  Probes, and failed opens
 * that were followed by a similar event, are listed as such.
 */
void summary_print(const struct model *m, const struct names *n, struct buf *out);

/* Parts of the summary for other formats: each is one escaped line. */

/* Append "perf[123]", or "task 123" if the name is unknown. */
void summary_add_task(const struct model *m, pid_t tid, struct buf *out);

/* What the last event requires, so that it is found once for events that share an attr; zero at first. */
struct summary_need {
	const uint8_t *attr;
	uint64_t flags;
	uint32_t release;
	struct as_refusal older;
};

/*
 * Append what an event measures; ", sampling about 99 times a second"; who opened it and
 * how it was enabled; its count; its records, "12 MMAP2, 6 SAMPLE, 2 lost".
 */
void summary_add_target(const struct model *m, const struct event *e, struct buf *out);
void summary_add_mode(const struct names *names, const struct event *e, struct buf *out);
void summary_add_life(const struct names *names, const struct model *m, const struct event *e,
		      struct summary_need *need, struct buf *out);
void summary_add_counter(const struct event *e, struct buf *out);
void summary_add_records(const struct event *e, struct buf *out);

/*
 * Which events write to whose ring, as lists of event numbers: first is indexed by the
 * ring's event, next by the writer before; 0 ends a list.
 */
struct summary_writers {
	unsigned int *first, *next;
};

void summary_find_writers(const struct model *m, struct summary_writers *w);
void summary_free_writers(struct summary_writers *w);

/* Return the first writer of a ring; 0: none, as for an AUX area. */
unsigned int summary_first_writer(const struct summary_writers *w, const struct ring *r);

/* Append "512 KiB"; page is the page size. */
void summary_add_size(const struct ring *r, uint32_t page, struct buf *out);
