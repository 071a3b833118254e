/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sink that turns a call's arguments into the fields of a draft. */
#pragma once

#include "formats/diff/normal.h"

enum { NORMAL_DEPTH = 16, NORMAL_KEY = 128 };

struct normal_sink {
	struct sink sink;
	struct normal *normal;
	struct normal_task *task;
	struct normal_draft *draft;
	const struct call *call;
	const struct normal_event *displaced; /* the event of its fd at its start; see normal.c */
	unsigned int depth;
	unsigned int in_attr;		/* depth within an attr, or 0 */
	size_t prefix[NORMAL_DEPTH];	/* length of the path at each depth */
	char path[NORMAL_KEY];		/* "msg.control." */
	const char *last;		/* key of the last value, for notes */
	char joined[NORMAL_KEY];	/* path and key; last points to it if there is a path */
	bool is_number;			/* the last value is an unsigned decimal number: */
	uint64_t number;
};

void normal_sink_init(struct normal_sink *s, struct normal *n, struct normal_task *t,
		      struct normal_draft *d, const struct call *c);

/* Append a word with _ in place of what has a meaning outside of quotes, or a terminal may obey. */
void normal_add_word(struct buf *out, const char *word);

/* Append the symbol of a descriptor or a pid. */
void normal_fd_text(struct normal_sink *s, int64_t fd, struct buf *out);
void normal_pid_text(struct normal_sink *s, int64_t pid, struct buf *out);

/* Return the normal form's event for the model's, which is created if new. */
struct normal_event *normal_event_of(struct normal *n, struct normal_task *t,
				     const struct event *e);

/* Free all events and their names. */
void normal_events_free(struct normal *n);
