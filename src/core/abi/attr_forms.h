/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Readers of attrs in each format; they read the next attr from c. */
#pragma once

#include <string.h>

#include "core/abi/attr_text.h"
#include "core/lib/scan_text.h"

/* Read {type=..., size=..., ...}: pevtrace, strace, initializers in C. */
enum attr_read attr_next_braces(struct text_cursor *c, struct attr_text *out);

/* Return the brace that begins an attr, whose first word is a member, or NULL. */
const char *attr_find_braces(const char *from, const char *end);

/*
 * Return whether the text begins with a brace and "WORD=" where no member is WORD; then store
 * the error in c.  *near is set if a member has almost that name.
 */
bool attr_misnamed(struct text_cursor *c, bool *near);

/* Return the brace of the next "perf_event_open({" in a text, or NULL. */
const char *attr_find_call(const char *from, const char *end);

/* Read "attr.type = ...;" or "type=..., size=...": all of the text is one attr. */
enum attr_read attr_next_statements(struct text_cursor *c, struct attr_text *out);

/* Read the columns of perf -vv, below "perf_event_attr:" if headed. */
enum attr_read attr_next_columns(struct text_cursor *c, bool headed,
				 struct attr_text *out);

/* Read a line of perf evlist -v: "name: type: 1, size: 128, ...". */
enum attr_read attr_next_line(struct text_cursor *c, struct attr_text *out);

/* Return the start of the members in such a line, or NULL. */
const char *attr_line_members(const char *at, const char *end);

/* Read a section of PERF_TEST_ATTR: "[event-1-0-5]", type=1, ... */
enum attr_read attr_next_section(struct text_cursor *c, struct attr_text *out);

static inline bool text_ahead(const struct text_cursor *c, const char *what)
{
	size_t n = strlen(what);

	return (size_t)(c->end - c->at) >= n && !memcmp(c->at, what, n);
}

static inline const char *text_find(const char *at, const char *end, const char *what)
{
	return memmem(at, (size_t)(end - at), what, strlen(what));
}

static inline void text_skip_blanks(struct text_cursor *c)
{
	c->at = scan_blanks(c->at, c->end);
}

static inline size_t text_word_at(const struct text_cursor *c)
{
	return scan_word(c->at, c->end);
}
