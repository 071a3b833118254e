/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lesson under way, and what experiments in C (do_*.c) consist of. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "core/host/host.h"
#include "experiment/steps.h"
#include "experiment/stream.h"
#include "verbs/learn/lesson.h"
#include "verbs/learn/lesson_text.h"
#include "verbs/learn/needs.h"
#include "verbs/measure/own_session.h"
#include "xlat/constants.h"

extern const struct verb learn_verb;

/* A value that replaces {name} in texts and is tested by %when. */
struct learn_value {
	char *name, *text;
};

/* A record from a ring; bytes are valid during the call only. */
struct learn_record {
	const struct event *event;	/* that wrote it */
	const struct record_format *format;
	const uint8_t *bytes;
	size_t len;
	uint32_t type;
};

/* Return true to show the record. */
typedef bool learn_record_fn(void *ctx, const struct learn_record *r);

struct learn {
	const struct lesson *lesson;
	struct instruments *instruments; /* borrowed; those of the whole run */
	struct lesson_text text;
	bool ask;		/* read answers from the terminal */
	unsigned int missed;	/* questions answered wrongly to the end */
	/* for experiments */
	struct own_session own_session;
	struct steps steps;	/* events and variables of the experiments */
	struct steps_outcome outcome; /* of the last steps */
	struct learn_value *values;
	size_t nvalues;
	int trace;		/* memfd that the session writes lines to */
	char path[32];		/* of trace */
	off_t taken;		/* bytes of trace that are in lines */
	struct buf lines;	/* to be shown */
	struct buf why;		/* set by learn_fail() */
	struct buf kept;	/* a record kept for a later experiment */
	learn_record_fn *each;	/* of the learn_look() under way */
	void *each_ctx;
};

/* Values ---------------------------------------------------------------------------- */

void learn_set(struct learn *l, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void learn_set_number(struct learn *l, const char *name, uint64_t v);
void learn_set_hex(struct learn *l, const char *name, uint64_t v);
/* Set name to the errno of a failed result, else to "none". */
void learn_set_error(struct learn *l, const char *name, int64_t result);
const char *learn_get(const struct learn *l, const char *name); /* NULL: not set */

/*
 * Set a value of the name of each need of the lesson that works on this machine, NAME_lack to
 * the sentences of learn_need_works() for the others, and the page size.
 */
void learn_set_machine(struct learn *l);

/* Output ---------------------------------------------------------------------------- */

/* Add a line to those of the calls; fmt has no newline. */
void learn_say(struct learn *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* End the lesson with a reason.  Return false. */
bool learn_fail(struct learn *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Return the lines since the caller last emptied the buffer. */
struct buf *learn_lines(struct learn *l);

/* Run another verb with these words and add its output to the lines. */
bool learn_run_verb(struct learn *l, const struct verb *v, const char *const *words);

/* Experiments ------------------------------------------------------------------------ */

/* Run steps, lines with '\n' at the end (lessons/README.md).  Return false after learn_fail(). */
bool learn_steps(struct learn *l, const char *lines);

/* The steps that only lessons have. */
extern const struct step_word learn_step_words[];

/* Return the name of the errno of a failed result. */
const char *learn_error(int64_t result);

/* Read new records of the event's ring.  Show those that each accepts, or all if it is NULL. */
void learn_look(struct learn *l, struct step_event *e, learn_record_fn *each, void *ctx);

/* Accept the first *left records; *left becomes negative by the number of the others. */
bool learn_first(void *left, const struct learn_record *r);

/* Show members of the event's struct perf_event_mmap_page, by their names. */
void learn_page(struct learn *l, const struct step_event *e, const char *const *members, size_t n);
