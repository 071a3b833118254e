/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the reader only: its state, and a function for each kind of line. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "core/abi/record.h"
#include "core/lib/die.h"
#include "core/lib/map.h"
#include "core/lib/pager.h"
#include "formats/dump/dump_activity.h"
#include "formats/dump/dump_read.h"
#include "formats/dump/reader.h"

enum { READER_CONFIGS = 8 };	/* limit of the configs of a name */

/* The names in the lines read so far: maps to allocated names, programs to struct bpf_program. */
struct reader_names {
	struct names hooks;	/* first: the hooks cast it back */
	struct map pmus, tracepoints, terms, fds, formats, symbols, programs;
};

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
	struct reader_names names;
	struct map begun;		/* tid -> struct call */
	struct map events, rings;	/* numbers in the dump -> in the model, where renumbered */
	bool renumbered;		/* they differ: the dump goes on from another file */
	struct session *session;	/* to feed */
	const struct dump_kind *last_kind; /* of the last line that is no name, or NULL */
	struct progress progress;	/* shown if it is on */
};

/* Elements of a list in a line. */
struct line_memory {
	struct line_memory *next;
	uint64_t elements[];
};

/* The current line.  Once wrong or skipped is set, nothing of it is fed. */
struct line {
	struct reader *r;
	struct json_value *o;
	const char *wrong;	/* the member that is missing or invalid */
	bool skipped;		/* it is of an event or a ring that is not known */
	struct record_format format;
	struct line_memory *memory;	/* lists, until it was fed */
};

/* Return the call that the task is in, or NULL. */
struct call *reader_call_of(struct reader *r, pid_t tid);
void reader_free_call(struct call *c);

/* Free the call of a task, after its end was fed: views use the call until then. */
void reader_drop_call(struct reader *r, pid_t tid);

/* Note that an event, or else a ring, of that member has that number in the model. */
void reader_number(struct line *l, const char *key, unsigned int number);

/* Feed the session with a line about an activity; return false if there is no such kind. */
bool reader_feed_activity(struct line *l, const char *kind);

/* Set the hooks of names without any (reader_names.c). */
void reader_names_init(struct reader_names *n, uint32_t page_size);
void reader_names_free(struct reader_names *n);

/* Add a name; return false if it is of a program, and cannot be the name of one. */
bool reader_names_add(struct reader_names *n, const struct activity *a);
