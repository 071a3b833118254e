/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normal form: what a program asked of perf, freed of what differs from
 * one run to the next.  Pids, descriptors, kernel ids and addresses are
 * symbols; times, counts, waits and reads are gone.
 *
 * Calls stand under the task that made them, in the order in which it made
 * them: between tasks there is no order.  Tasks are named by their place in
 * the family: task1 is the program, task1.2 the second process that task1 made,
 * task1.t1 its first thread.  Events are named by what they are and by their
 * CPU, and counted anew for each task that opens some, so that another
 * interleaving of threads changes no name.
 */
#ifndef PEVTRACE_DUMP_NORMAL_H
#define PEVTRACE_DUMP_NORMAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dump/replay.h"
#include "lib/buf.h"
#include "lib/map.h"

struct normal_task;

/* An event that was opened, or that was there before. */
struct normal_event {
	size_t index;			/* what references to it say */
	struct normal_task *opener;
	struct normal_item *open;	/* NULL: found */
	char *base;			/* "cpu-clock": neither CPU nor number */
	char *name;			/* "cpu-clock/cpu0#2", once sealed */
	const struct normal_event *mate; /* compare: goes by this one's name */
	int cpu;
	bool used;			/* more was done with it than to close it */
	bool closed;			/* by a call */
};

/*
 * key=value, where a value may refer to events: REF_START, the event's number
 * in decimal, REF_END.  No other control bytes are in it.
 */
struct normal_field {
	char *key, *value;
};

enum { REF_START = 1, REF_END = 2 };

/* One call. */
struct normal_item {
	const struct call_desc *desc;
	struct normal_event *subject;	/* whom it is about, or what it made */
	struct normal_field *fields;
	size_t nfields;
	bool late;	/* its place among the task's calls means nothing */
	bool refers;	/* to an event */
	bool masked;	/* open: any other CPU would have done */
	struct normal_item *mate;	/* compare's: its like on the other side */
	bool moved;	/* compare's: at another place there */
};

struct normal_task {
	char *name;
	pid_t tid, pid;
	unsigned int threads, children, others, addrs, founds;
	struct normal_item **items;	/* in order; once sealed, late ones last */
	size_t nitems, room, nlate;
	struct normal_item *pending;	/* the call that it is in */
	struct map other_pids, addresses; /* to small numbers */
	struct map once;		/* hashes of calls kept only once */
};

struct normal {
	const struct names *names;
	struct model *model;
	struct map by_tid;		/* those that live */
	struct normal_task **tasks;	/* once sealed, by name */
	size_t ntasks;
	struct normal_event **events;
	size_t nevents;
	struct map by_number;		/* the model's number to normal_event */
	struct map displaced;		/* pid and fd to the event before */
	unsigned int roots;
};

/* Which fields count.  Zero-initialised: all. */
struct normal_choice {
	const char **ignore, **only;
	size_t nignore, nonly;
};

/*
 * False for a field that was not chosen.  A choice names a field ("cpu"), the
 * field of one call ("mmap.length"), or a call; what a call has inside another
 * field ("arg.bp_addr") goes by its last word too.
 */
bool normal_chosen(const struct normal_choice *c, const char *call, const char *key);

/* Is there a field, a call or a CALL.FIELD of that name? */
bool normal_known(const char *name);

/*
 * A source of calls makes a normal form in three steps: normal_new(), the
 * hooks of normal_ops with it as their ctx, normal_seal().  A dump's replay
 * drives the hooks; another source, such as the attrs of a perf.data file,
 * calls born, then enter and exit with a struct call for each open.  names
 * must outlive normal_seal().
 */
struct normal *normal_new(const struct names *names);
extern const struct replay_ops normal_ops;
void normal_seal(struct normal *n);
void normal_free(struct normal *n);

/*
 * Reads a dump; NULL after a warn().  *whole: nothing was wrong with it.
 * Without keep_going what is not whole is NULL, too.
 */
struct normal *normal_read(FILE *f, const char *path, bool keep_going, bool *whole);

/* The value with events by name, as the item's task sees them. */
void normal_value(const struct normal *n, const struct normal_task *t,
		  const char *value, struct buf *out);

/* "task1 close fd=cpu-clock/cpu0 result=0"; choice may be NULL. */
void normal_line(const struct normal *n, const struct normal_task *t,
		 const struct normal_item *i, const struct normal_choice *choice,
		 struct buf *out);

/* The value of an item's field, or NULL. */
const char *normal_get(const struct normal_item *i, const char *key);

/* An event's name as that task sees it. */
void normal_event_name(const struct normal_task *t, const struct normal_event *e,
		       struct buf *out);

#endif
