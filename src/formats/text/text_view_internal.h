/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The view of lines: what its lines have in common. */
#pragma once

#include "core/session/inflight.h"
#include "formats/text/text_view.h"

/* A call that has begun and not yet returned. */
struct pending {
	struct inflight in;
	const struct call_desc *desc;
	uint64_t nr, ip;
	unsigned int word;	/* bytes of an address */
	struct buf args;	/* "name(first, args" */
	struct buf stack;	/* lines that follow it */
	bool any;		/* there is an argument before the next one */
};

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
	size_t written;			/* columns of that line, while its end is composed */
	struct buf line, extra;
	bool omitted;			/* members of an attr, to fit the terminal */
	const struct rule_desc *rule; /* that refused the open of the current line, or NULL */
	struct {	/* calls equal to that of the last line, which are counted instead of shown */
		struct buf key;		/* its arguments, and words of its result; empty: it is no call */
		size_t args;		/* bytes of the arguments */
		pid_t tid;
		const char *name;
		size_t more;		/* not told yet */
		uint64_t first_ns, last_ns; /* when the first of these began, and the last one ended */
		struct buf next;	/* the key of the call that has returned */
	} run;
	struct map comms;		/* tid -> char *, if they are shown */
	struct map known;		/* tid -> struct words_task, for records in words */
};

static inline struct text_view *text_self(struct view *v)
{
	return (struct text_view *)v; /* view is its first member */
}

/* Append the time that the options ask for to v->line. */
void text_add_clock(struct text_view *v, uint64_t ns);

/* Begin v->line with the pid (0: without one) and the time that the options ask for. */
void text_start_line(struct text_view *v, pid_t tid, uint64_t ns);

/* The same for a call, with its number if the options ask for it. */
void text_start_call(struct text_view *v, const struct pending *p, uint64_t ns);

/* Write how many calls were equal to the last line, if the first is a second older than ns. */
void text_tell_run(struct text_view *v, uint64_t ns);

/* Write the beginning of the line of a call that waits. */
void text_write_partial(struct text_view *v, struct pending *p);

/* Pad v->line to the column of results. */
void text_align_result(struct text_view *v);

/* Append a time in ns as seconds, these padded to a width, and digits behind the point. */
void text_add_time(struct buf *out, uint64_t ns, int width, unsigned int digits);

/* Write the line, of p or no call; before it, end a line that waits for its call's return. */
void text_end_line(struct text_view *v, pid_t tid, const struct pending *p);

/* Write the line as it is. */
void text_put_line(struct text_view *v, pid_t tid);

/* Show calls that began before ns as unfinished, tid's own left out. */
void text_split_older(struct text_view *v, uint64_t ns, pid_t tid);

/* Show a record in words; learn what tasks are called; show what still waits, and free that. */
void text_words_record(struct text_view *v, const struct activity_record *r);
void text_words_measured(struct view *view, const struct activity *a);
void text_words_end(struct text_view *v);

/* Set up a sink that writes values as the options say. */
void text_init_sink(const struct text_view *v, struct text_sink *t, struct buf *out);

/* End the line of a call that still runs, of which only the beginning is written. */
void text_close_partial(struct text_view *v);

/* Return whether lines wait until the outcome of their call is known (-e status=). */
static inline bool text_must_wait(const struct text_view *v)
{
	return v->o->status != STATUS_ALL;
}

/* Return the columns that lines may have; 0: any. */
static inline unsigned int text_width(const struct text_view *v)
{
	return v->o->any_width ? 0 : v->o->width ? v->o->width : v->o->full ? 0 :
	       output_columns(v->out);
}
