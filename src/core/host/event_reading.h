/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internals of the event list parser, shared by its files only. */
#pragma once

#include <string.h>

#include "core/abi/layout.h"
#include "core/host/event_syntax.h"
#include "core/host/event_words.h"
#include "core/host/pmu.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

struct reading {
	struct event_list *list;
	struct host *host;
	struct text_cursor c;
	size_t first;		/* members go to the events from here on */
	bool grouped;		/* within braces */
};

/* Store an error at that position of the text; false. */
#define FAIL_AT(r, where, ...)							\
	((r)->c.at = (where), text_cursor_fail(&(r)->c, __VA_ARGS__))

static inline bool syntax_is(const char *word, size_t len, const char *name)
{
	return word && strlen(name) == len && !memcmp(word, name, len);
}

/* Scan the text, and add events to the list. */

/* Skip blanks and return the next character; NUL at the end. */
char syntax_peek(struct reading *r);

/* Return the distance to a character of stop outside of quotes, or to the end. */
size_t syntax_reach(const char *at, const char *end, const char *stop);

/* Return the distance to the end of the item that at is in. */
size_t syntax_item_reach(const struct reading *r, const char *at);

/* Add an event; return NULL, with an error, if there are too many.  code may be NULL. */
struct event_spec *syntax_add(struct reading *r, const struct event_code *code);
void syntax_label(struct event_spec *e, const char *text, size_t len);

/* Store an error about an unknown word, with the nearest one or otherwise; false. */
bool syntax_unknown(struct reading *r, const char *at, const char *what,
		    const struct nearest *n, const char *otherwise);

/* Members and modifiers. */

/* "name=value" or "name" at the cursor, a word of len bytes. */
bool syntax_member(struct reading *r, size_t len);

/* Set member f of the events from r->first on; without from set a bit to 1. */
bool syntax_set_member(struct reading *r, const struct field *f, const char *from,
		       const char *end);

/*
 * Apply modifier letters up to the item's end to the events from first on.  Those of
 * a group extend the modifiers of its members.
 */
bool syntax_modifiers(struct reading *r, size_t first, bool of_group);

/* Apply modifiers after a colon, if any. */
bool syntax_may_modify(struct reading *r, size_t first, bool of_group);

/* event_names.c: parse an event at the cursor, whose first word has len bytes. */
bool syntax_event(struct reading *r, size_t len);
