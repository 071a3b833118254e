/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forms: the common part of calls that differ only in their events, stored once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lib/buf.h"

/*
 * key=value, where a value may refer to events: REF_START, a number in
 * decimal, REF_END.  No other control bytes are in it.
 */
struct normal_field {
	const char *key, *value;
};

enum { REF_START = 1, REF_END = 2 };

/* A number in a value is an index into the call's list of events. */
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

const struct normal_form *normal_form_number(const struct normal_forms *s, uint32_t number);

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
