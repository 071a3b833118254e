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

#include "dump/normal_form.h"
#include "lib/buf.h"
#include "lib/map.h"
#include "session/session.h"

/* An event that was opened, or that was there before. */
struct normal_event {
	const struct normal_task *opener;
	const char *base;		/* "cpu-clock": neither CPU nor number */
	const struct normal_event *mate; /* compare: goes by this one's name */
	uint64_t ident;			/* compare: the same on both sides, the same event */
	uint64_t opens;			/* how often it was opened; 0: not known */
	uint32_t index;			/* what references to it say */
	uint32_t count;			/* of those with that name, from 1 on; 0: open not seen */
	int cpu;
	bool opened;			/* by a call of the opener's items */
	bool probe;			/* that call is masked */
	bool renamed;			/* compare: b's, whose name is one of a's */
	bool paired;			/* compare: its open has a mate */
	bool used;			/* more was done with it than to close it */
	bool closed;			/* by a call */
	bool told_id;			/* its program could learn its kernel id */
};

/* One call.  There can be millions: what many have in common is in the form. */
struct normal_item {
	uint32_t form;
	uint32_t refs;	/* the index of its event, or where in refs those of several are */
};

struct normal_task {
	char *name;
	pid_t tid, pid;
	unsigned int threads, children, others, addrs, founds;
	struct normal_item *items;	/* in order; once sealed, late ones last */
	size_t nitems, room, nlate;
	struct normal_draft *pending;	/* the call that it is in */
	struct map other_pids, addresses; /* to small numbers */
	struct map once;		/* hashes of calls kept only once */
	/* compare's: for each open in order, its mate's place + 1, or 0 */
	uint32_t *open_mates;
	size_t nopens;
};

struct normal {
	struct view view;
	const struct names *names;	/* the session's source, while there is a session */
	struct model *model;		/* the session's */
	struct normal_forms *forms;
	struct map by_tid;		/* those that live */
	struct normal_task **tasks;	/* once sealed, by name */
	size_t ntasks;
	struct normal_event **events;	/* in blocks, see normal_event_at() */
	size_t nevents;
	struct normal_event **by_number; /* by the model's number, or NULL */
	size_t nnumbers;
	uint32_t *refs;
	size_t nrefs;
	struct map bases;		/* hashes to the names that events share */
	struct map displaced;		/* pid and fd to the event before */
	struct normal_draft *spare;
	unsigned int roots;
	bool no_probes;			/* normal_seal() leaves them out */
	bool attrs_only;		/* made by normal_attrs() */
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

/* Is there a field, a call or a CALL.FIELD of that name?  "opens" is one. */
bool normal_known(const char *name);

/*
 * A normal form is the view of a session, whatever feeds that: normal_new(),
 * normal_watch(), the session, normal_seal(), session_end().  forms must outlive it.
 */
struct normal *normal_new(struct normal_forms *forms);
void normal_watch(struct normal *n, struct session *s);
struct normal_task *normal_task_new(struct normal *n, const struct birth *b);
void normal_seal(struct normal *n);
void normal_free(struct normal *n);

/* How to read a dump. */
struct normal_reading {
	bool keep_going;	/* what is not whole is no reason to stop */
	bool no_probes;		/* without opens that the kernel refused, and events that
				   were opened and closed with nothing done to them */
};

/*
 * Reads a dump; NULL after a warn().  *whole: nothing was wrong with it.
 * Without keep_going what is not whole is NULL, too.
 */
struct normal *normal_read(FILE *f, const char *path, struct normal_forms *forms,
			   const struct normal_reading *how, bool *whole);

/*
 * The same of a perf.data file, whose normal form is that of normal_attrs().
 * *ids: it has the kernel ids of every event.  host as in perfdata_open().
 */
struct normal *normal_read_perfdata(FILE *f, const char *path, struct normal_forms *forms,
				    const struct names *host, bool keep_going, bool *whole,
				    bool *ids);

/*
 * What perf would have stored of it, made of n, which is freed: the attrs of
 * events that were opened and used, each with the number of its opens, as calls
 * of one task.  ids_told: only those whose program asked for their kernel ids;
 * *left_out is how many opens that leaves out.
 */
struct normal *normal_attrs(struct normal *n, bool ids_told, uint64_t *left_out);

/* The call's form, and the event that it has in that place. */
const struct normal_form *normal_form(const struct normal *n, const struct normal_item *i);
struct normal_event *normal_ref(const struct normal *n, const struct normal_item *i,
				uint32_t place);

/* Whom the call is about, or what it made; NULL: nobody. */
struct normal_event *normal_subject(const struct normal *n, const struct normal_item *i);

/* Whether it is one that opens events. */
bool normal_is_open(const struct normal *n, const struct normal_item *i);

/* The value of one of its fields with events by name, as its task sees them. */
void normal_value(const struct normal *n, const struct normal_task *t,
		  const struct normal_item *i, const char *value, struct buf *out);

/* "task1 close fd=cpu-clock/cpu0 result=0"; choice may be NULL. */
void normal_line(const struct normal *n, const struct normal_task *t,
		 const struct normal_item *i, const struct normal_choice *choice,
		 struct buf *out);

/* Adds the draft to the task's calls. */
void normal_item_add(struct normal *n, struct normal_task *t, const struct normal_draft *d);

struct normal_event *normal_event_at(const struct normal *n, size_t index);

/* A new event of that task's, whose base is copied. */
struct normal_event *normal_event_new(struct normal *n, const struct normal_task *t,
				      const char *base);

/* An event's name as that task sees it. */
void normal_event_name(const struct normal_task *t, const struct normal_event *e,
		       struct buf *out);

#endif
