/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normal form: what a program requested of perf, without what differs from run to
 * run.  Pids, descriptors, kernel ids and addresses become symbols; times, counts, waits
 * and reads are left out.
 *
 * Calls are grouped by task, in the order of each task.  Tasks are named by descent:
 * task1 is the program, task1.2 its second child process, task1.t1 its first thread.
 * Events are named by what they are and by their CPU, and numbered for each task that
 * opens some, so that another interleaving of threads changes no name.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/lib/buf.h"
#include "core/lib/map.h"
#include "core/session/session.h"

/*
 * key=value, where a value may refer to events: REF_START, a number in
 * decimal, REF_END.  No other control bytes are in it.
 */
struct normal_field {
	const char *key, *value;
};

enum { REF_START = 1, REF_END = 2 };

/*
 * The common part of calls that differ only in their events, stored once.  A number in a value
 * is an index into the call's list of events.
 */
struct normal_form {
	const struct call_desc *desc;
	const struct normal_field *fields;
	uint32_t number, nfields;
	uint32_t nrefs;		/* events that it mentions */
	bool subject;		/* the first is its subject */
	bool late;		/* its position among the task's calls is ignored */
	bool probe;		/* open: failed, with no group leader */
	bool masked;		/* open: its CPU is ignored */
	/* private to the store */
	struct normal_form *next;
	size_t len;
};

/* A call that becomes a form; a number in a value is the event's index. */
struct normal_draft {
	const struct call_desc *desc;
	struct normal_event *subject;	/* NULL: none */
	struct draft_field {
		struct buf key, value;
	} *fields;			/* allocated, reused by the next call */
	size_t nfields, room;
	bool late, refers, probe;
	struct buf scratch;		/* the value being composed */
};

/* Empty the draft for the next call. */
void draft_begin(struct normal_draft *d, const struct call_desc *desc);
void draft_free(struct normal_draft *d);

/* Add a field, or append to it after a comma if the draft has the key. */
void draft_add(struct normal_draft *d, const char *key, const char *value);

/* The store of forms, which normal forms that are compared share. */
struct normal_forms;
struct normal_forms *normal_forms_new(void);
void normal_forms_free(struct normal_forms *s);

/*
 * Return the draft's form, which lives as long as s, and in refs the indices of the
 * events that it mentions.  subject: the index of the draft's subject.
 */
const struct normal_form *normal_form_of(struct normal_forms *s,
					 const struct normal_draft *d, size_t subject,
					 const uint32_t **refs);

/* Return the form with another value of key. */
const struct normal_form *normal_form_with(struct normal_forms *s,
					   const struct normal_form *f, const char *key,
					   const char *value);

/* Return the value of a form's field, or NULL. */
const char *normal_get(const struct normal_form *f, const char *key);

/*
 * Find the next reference in a value: move *text after it and set *before to the number
 * of bytes before it.  If there are no more, return false and set *before to the rest.
 */
bool normal_next_ref(const char **text, size_t *before, uint32_t *number);

/* An event that was opened, or that existed before. */
struct normal_event {
	const struct normal_task *opener;
	const char *base;		/* "cpu-clock", without CPU and number */
	const struct normal_event *mate; /* compare: the same event on the other side */
	uint64_t ident;			/* compare: equal for the same event on both sides */
	uint64_t opens;			/* number of opens; 0: unknown */
	uint32_t index;			/* used by references to it */
	uint32_t count;			/* number by name, from 1; 0: open not seen */
	int cpu;
	bool opened;			/* by a call of the opener's items */
	bool probe;			/* that call is masked */
	bool renamed;			/* compare: of b, with the name of another event of a */
	bool paired;			/* compare: its open has a mate */
	bool used;			/* a call other than close used it */
	bool closed;			/* by a call */
	bool id_known;			/* the program could read its kernel id */
};

/* One call.  There can be millions: what calls have in common is in the form. */
struct normal_item {
	uint32_t form;
	uint32_t refs;	/* index of its event, or in refs if it has several */
};

struct normal_task {
	char *name;
	pid_t tid, pid;
	unsigned int threads, children, others, addrs, founds;
	struct normal_item *items;	/* in order; once sealed, late ones last */
	size_t nitems, nlate;
	struct map other_pids, addresses; /* to small numbers */
	struct map once;		/* hashes of calls that are kept only once */
	/* compare: for each open in order, the index of its mate + 1, or 0 */
	uint32_t *open_mates;
	size_t nopens;
};

struct normal {
	struct view view;
	const struct names *names;	/* the session's source, while there is a session */
	struct model *model;		/* the session's */
	struct normal_forms *forms;
	struct map by_tid;		/* the live ones */
	struct map pending;		/* tid to the draft of the call that it is in */
	bool merge_threads;		/* a process and its threads are one task */
	bool threads;			/* a process had several threads */
	struct normal_task **tasks;	/* once sealed, by name */
	size_t ntasks;
	struct normal_event **events;	/* in blocks, see normal_event_at() */
	size_t nevents;
	struct map by_number;		/* the model's number to the event */
	uint32_t *refs;
	size_t nrefs;
	struct map bases;		/* hash -> name that events share */
	struct map displaced;		/* pid and fd -> the previous event */
	struct normal_draft *spare;
	unsigned int roots;
	bool no_probes;			/* normal_seal() removes probes */
	bool attrs_only;		/* made by normal_attrs() */
	struct flaws flaws;		/* what normal_read() saw to be wrong with its events */
};

/* The fields to compare.  Zero-initialised: all. */
struct normal_choice {
	const char **ignore, **only;
	size_t nignore, nonly;
};

/*
 * Return whether a field was chosen.  A choice names a field ("cpu"), a field of one call
 * ("mmap.length"), or a call; a nested field ("arg.bp_addr") matches by its last word, too.
 */
bool normal_chosen(const struct normal_choice *c, const char *call, const char *key);

/* Return whether it names a field, a call or a CALL.FIELD; "opens" and a loss are fields. */
bool normal_known(const char *name);

/*
 * A normal form is the view of a session, whatever feeds it.  Call normal_new(),
 * normal_watch(), feed the session, then normal_seal() and session_end().  forms must
 * outlive it.
 */
struct normal *normal_new(struct normal_forms *forms);
void normal_watch(struct normal *n, struct session *s);
struct normal_task *normal_task_new(struct normal *n, const struct activity_task *b);
void normal_seal(struct normal *n);
void normal_free(struct normal *n);

/* How to read a dump. */
struct normal_reading {
	bool keep_going;	/* accept a damaged dump */
	bool merge_threads;	/* as if the calls of a process were made by one thread */
	bool no_probes;		/* without opens that the kernel refused, and events that
				   were opened and closed with nothing done to them */
};

/*
 * Read a dump.  *whole: no damage was found.  Return NULL after a warn(): without
 * keep_going also for a dump that is not whole.
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
 * Return what perf would have stored, made of n, which is freed: the attrs of events that
 * were opened and used, each with the number of its opens, as calls of one task.
 * ids_known: leave out events whose program did not ask for their kernel ids, and set
 * *left_out to the number of their opens.
 */
struct normal *normal_attrs(struct normal *n, bool ids_known, uint64_t *left_out);

/* Return the call's form, and the event of that reference in it. */
const struct normal_form *normal_form(const struct normal *n, const struct normal_item *i);
struct normal_event *normal_ref(const struct normal *n, const struct normal_item *i,
				uint32_t place);

/* Return the event that the call is about or that it opened, or NULL. */
struct normal_event *normal_subject(const struct normal *n, const struct normal_item *i);

/* Return whether the call opens events. */
bool normal_is_open(const struct normal *n, const struct normal_item *i);

/* Append the value of a field, with events named as its task names them. */
void normal_value(const struct normal *n, const struct normal_task *t,
		  const struct normal_item *i, const char *value, struct buf *out);

/* Append "task1 close fd=cpu-clock/cpu0 result=0"; choice may be NULL. */
void normal_line(const struct normal *n, const struct normal_task *t,
		 const struct normal_item *i, const struct normal_choice *choice,
		 struct buf *out);

/* Add the draft to the task's calls. */
void normal_item_add(struct normal *n, struct normal_task *t, const struct normal_draft *d);

struct normal_event *normal_event_at(const struct normal *n, size_t index);

/* Return a new event of that task; base is copied. */
struct normal_event *normal_event_new(struct normal *n, const struct normal_task *t,
				      const char *base);

/* Append the event's name as that task names it. */
void normal_event_name(const struct normal_task *t, const struct normal_event *e,
		       struct buf *out);
