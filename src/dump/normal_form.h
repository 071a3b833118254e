/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Forms: what calls have in common that differ in their events at most, each
 * kept once however often it was made.
 */
#ifndef PEVTRACE_DUMP_NORMAL_FORM_H
#define PEVTRACE_DUMP_NORMAL_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

/*
 * key=value, where a value may refer to events: REF_START, a number in
 * decimal, REF_END.  No other control bytes are in it.
 */
struct normal_field {
	const char *key, *value;
};

enum { REF_START = 1, REF_END = 2 };

/* A number in a value is a place in the list of events that the call has. */
struct normal_form {
	const struct call_desc *desc;
	const struct normal_field *fields;
	uint32_t number, nfields;
	uint32_t nrefs;		/* events that it speaks of */
	bool subject;		/* the first is whom it is about, or what it made */
	bool late;		/* its place among the task's calls means nothing */
	bool probe;		/* open: failed, and nothing was there before it */
	bool masked;		/* open: any other CPU would have done */
	/* the store's own */
	struct normal_form *next;
	size_t len;
};

/* A call on its way into a form; a number in a value is the event's index. */
struct normal_draft {
	const struct call_desc *desc;
	struct normal_event *subject;	/* NULL: none */
	struct draft_field {
		struct buf key, value;
	} *fields;			/* room of them, kept for the next call */
	size_t nfields, room;
	bool late, refers, probe;
	struct buf scratch;		/* a value that is being made */
};

/* Empties it for the next call. */
void draft_begin(struct normal_draft *d, const struct call_desc *desc);
void draft_free(struct normal_draft *d);

/* Adds a field; behind a comma where the draft has the key already. */
void draft_add(struct normal_draft *d, const char *key, const char *value);

/* Two normal forms that are compared share one. */
struct normal_forms;
struct normal_forms *normal_forms_new(void);
void normal_forms_free(struct normal_forms *s);

/*
 * The draft's form; refs receives the indices of the events that it speaks of.
 * subject: the index of the draft's.  Lives as long as s.
 */
const struct normal_form *normal_form_of(struct normal_forms *s,
					 const struct normal_draft *d, size_t subject,
					 const uint32_t **refs);

const struct normal_form *normal_form_number(const struct normal_forms *s, uint32_t number);

/* The same form with another value of key. */
const struct normal_form *normal_form_with(struct normal_forms *s,
					   const struct normal_form *f, const char *key,
					   const char *value);

/* The value of a form's field, or NULL. */
const char *normal_get(const struct normal_form *f, const char *key);

/*
 * The next reference in a value: *text is moved behind it, *before is how many
 * bytes came first.  False when there is none; *before is all that is left then.
 */
bool normal_next_ref(const char **text, size_t *before, uint32_t *number);

#endif
