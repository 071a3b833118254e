/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling in members of struct perf_event_attr by name. */
#ifndef PEVTRACE_ABI_ATTR_MEMBER_H
#define PEVTRACE_ABI_ATTR_MEMBER_H

#include "abi/attr_text.h"

/* The member of that name, or NULL. */
const struct field *attr_member(const char *name, size_t len);

/*
 * Gives a member its value, as text wrote it; notes trouble in c.  bits: what
 * follows "Bits " in a comment behind the value, as "63..38", or NULL.
 */
bool attr_member_set(struct text_cursor *c, const char *name, size_t len,
		     const char *value, size_t value_len,
		     const struct text_cursor *bits,
		     struct attr_text *out);

/*
 * Reads the list that attr_emit() calls "unknown", bytes behind the last member
 * that is known, and moves behind it.
 */
bool attr_member_tail(struct text_cursor *c, struct attr_text *out);

/* Once all members are there: the length follows from size. */
void attr_member_done(struct attr_text *out);

#endif
