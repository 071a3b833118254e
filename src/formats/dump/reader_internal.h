/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the reader only: its state, and a function for each kind of line. */
#pragma once

#include "formats/dump/dump_read.h"
#include "formats/dump/reader.h"
#include "formats/dump/reader_names.h"
#include "core/lib/map.h"
#include "core/lib/progress.h"

struct reader {
	struct dump_reader *reader;
	const char *path;
	bool keep_going, whole, ended, stopped;
	bool swapped;			/* its memory has the other byte order */
	char unknown_header[80];		/* the error in the header */
	struct session_facts facts;
	char **command;			/* facts.command */
	pid_t *pids;
	struct perf_features features;	/* facts.features */
	char *strings[6];		/* of facts */
	struct reader_names *names;
	struct map begun;		/* tid -> struct call */
	struct session *session;	/* to feed */
	struct progress progress;	/* shown if it is on */
};

/* The current line.  Once wrong is set, nothing of it is fed. */
struct line {
	struct reader *r;
	struct json_value *o;
	const char *wrong;	/* the member that is missing or invalid */
};

/* Return a required member; set l->wrong if it is missing or out of range. */
int64_t need_int(struct line *l, const char *key);
uint64_t need_uint(struct line *l, const char *key);
unsigned int need_number(struct line *l, const char *key);
bool need_bool(struct line *l, const char *key);
pid_t need_pid(struct line *l, const char *key);
const char *need_string(struct line *l, const char *key);

/* Return the call that the task is in, or NULL. */
struct call *reader_call_of(struct reader *r, pid_t tid);
void reader_free_call(struct call *c);

/* Free the call of a task, after its end was fed: views use the call until then. */
void reader_drop_call(struct reader *r, pid_t tid);

/* Feed the session with a line, by its kind. */
void reader_feed_enter(struct line *l);
void reader_feed_exit(struct line *l);
void reader_feed_call(struct line *l);
void reader_feed_abandoned(struct line *l);
void reader_feed_task(struct line *l);
void reader_feed_found(struct line *l);
void reader_feed_program(struct line *l);
void reader_feed_described(struct line *l);
void reader_feed_closed(struct line *l);
void reader_feed_lost(struct line *l);
void reader_feed_found_ring(struct line *l);
void reader_feed_measured(struct line *l);
void reader_feed_build_id(struct line *l);
void reader_feed_comm(struct line *l);
void reader_feed_command(struct line *l);
void reader_feed_exec(struct line *l);
void reader_feed_gone(struct line *l);
void reader_feed_signal(struct line *l);
void reader_feed_record(struct line *l);
void reader_feed_look(struct line *l);
void reader_feed_aux(struct line *l);
void reader_feed_id(struct line *l);
void reader_feed_count(struct line *l);
