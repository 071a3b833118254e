/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sink that turns a call's arguments into the fields of a draft. */
#ifndef PEVTRACE_DUMP_NORMAL_SINK_H
#define PEVTRACE_DUMP_NORMAL_SINK_H

#include "dump/normal.h"

enum { NORMAL_DEPTH = 16, NORMAL_KEY = 128 };

struct normal_sink {
	struct sink sink;
	struct normal *normal;
	struct normal_task *task;
	struct normal_draft *draft;
	const struct call *call;
	const struct normal_event *displaced; /* what fd was when it began */
	unsigned int depth;
	unsigned int in_attr;		/* depth of the attr that we are in, 0: none */
	size_t prefix[NORMAL_DEPTH];	/* how long the path was at each depth */
	char path[NORMAL_KEY];		/* "msg.control." */
	const char *last;		/* key of the last value, for notes */
	char joined[NORMAL_KEY];	/* what last points to, where there is a path */
};

void normal_sink_init(struct normal_sink *s, struct normal *n, struct normal_task *t,
		      struct normal_draft *d, const struct call *c);

/* What stands for a descriptor, a pid: for results. */
void normal_fd_text(struct normal_sink *s, int64_t fd, struct buf *out);
void normal_pid_text(struct normal_sink *s, int64_t pid, struct buf *out);

/* The normal form's event for the model's; made when there is none yet. */
struct normal_event *normal_event_of(struct normal *n, struct normal_task *t,
				     const struct event *e);

/* Frees them all, with their names. */
void normal_events_free(struct normal *n);

#endif
