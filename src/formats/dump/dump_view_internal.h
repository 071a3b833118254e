/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the view that writes a dump only. */
#pragma once

#include "core/session/inflight.h"
#include "formats/dump/dump_activity.h"
#include "formats/dump/dump_view.h"
#include "formats/json/json_text.h"

struct dump_view {
	struct view view;
	const struct model *model;
	const struct names *names;
	struct output *out;
	struct inflights begun;
	unsigned int status;		/* a set of enum call_status */
	struct buf header;		/* its line, for each file */
	uint64_t calls, records, missed, unseen, tasks, last_ns;
};

/* The event and the ring (0: none) that a call is about. */
struct dump_about {
	struct json_text event;
	unsigned int ring;
};

/* A call that has begun; *call is valid until its return. */
struct begun {
	struct inflight in;
	const struct call *call;
	struct json_text args;		/* decoded when it began */
	struct dump_about about;
	struct json_text stack;		/* its member "stack", or nothing */
};

/* Add a list of the memory captured at the beginning, at the return, or both. */
void dump_call_add_memory(struct json_text *o, const struct call *c, bool enter, bool exit);

/*
 * Add the members that are known when the call begins, and those of stack, which ends: a list
 * of frames, or nothing.
 */
void dump_call_beginning(struct json_text *o, const struct call *c, struct json_text *stack);

void begun_free(struct begun *b);

/* Begin a line of that kind in *o; return o. */
struct json_text *dump_line(struct json_text *o, const char *kind);

/* End and write the line. */
void dump_write(struct dump_view *d, pid_t tid, struct json_text *o);

/* Write the "enter" line of a call; ctx is the view. */
void dump_write_enter(void *ctx, struct inflight *in);

/* Prepare for a line of that time: write the "enter" lines of calls that began earlier. */
void dump_before(struct dump_view *d, uint64_t ns, pid_t tid);

/* Write the "enter" line of the task's call: another line of the task follows. */
void dump_split_own(struct dump_view *d, pid_t tid);

/* Write the line of an activity (dump_activity.c). */
void dump_on_activity(struct view *v, const struct activity *a);
