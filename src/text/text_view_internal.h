/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The view of lines: what its lines have in common. */
#ifndef PEVTRACE_TEXT_TEXT_VIEW_INTERNAL_H
#define PEVTRACE_TEXT_TEXT_VIEW_INTERNAL_H

#include "lib/buf.h"
#include "session/inflight.h"
#include "text/text.h"
#include "text/text_view.h"

struct pending;

struct text_view {
	struct view view;
	const struct text_options *o;
	const struct names *names;
	struct output *out;
	int64_t real_offset;
	bool many;
	size_t tasks;			/* born so far */
	uint64_t last_ns;		/* time of the line before, for -r */
	struct inflights pending;	/* of struct pending */
	struct inflight *spare;		/* finished ones, to be used again */
	struct pending *partial;	/* its line is written, but for the end */
	struct buf line, extra;
};

static inline struct text_view *text_self(struct view *v)
{
	return (struct text_view *)v; /* view is its first member */
}

/* What stands at the start of every line: pid and time.  It is v->line, to be added to. */
void text_start_line(struct text_view *v, pid_t tid, uint64_t ns);

/* Writes the line. */
void text_end_line(struct text_view *v, pid_t tid);

/* Before a line of that time: calls that began earlier are shown as unfinished. */
void text_split_older(struct text_view *v, uint64_t ns, pid_t tid);

/* A sink that writes values as the options have them. */
void text_init_sink(const struct text_view *v, struct text_sink *t, struct buf *out);

/* Rings (text_rings.c). */
void text_on_record(struct view *view, pid_t tid, uint64_t ns, const struct view_record *r);
void text_on_looked(struct view *view, pid_t tid, uint64_t ns, const struct view_look *l);

#endif
