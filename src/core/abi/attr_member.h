/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Setting members of struct perf_event_attr by name. */
#pragma once

#include "core/abi/attr_text.h"
#include "core/abi/bytes_text.h"
#include "core/abi/layout.h"
#include "core/abi/xlat.h"

struct nearest;

/* Offer the names of all members to n. */
void attr_member_offer(struct nearest *n);

/* Store the error that no member has that name; return whether it names a near one. */
bool attr_member_unknown(struct text_cursor *c, const char *name, size_t len);

/*
 * Return whether the name is a member's, as any language or tool spells it: sample_type, SampleType,
 * Sample_type, type_, Go's Ext1.
 */
bool attr_member_like(const char *name, size_t len);

/*
 * Set a member to a value in text form; store an error in c.  bits: the text behind
 * "Bits " in a comment that follows the value, such as "63..38", or NULL.  A name that no member
 * has, and a value that is a variable of the program, are added to out->left_out.
 */
bool attr_member_set(struct text_cursor *c, const char *name, size_t len,
		     const char *value, size_t value_len,
		     const struct text_cursor *bits,
		     struct attr_text *out);

/*
 * Read the list that attr_emit() calls "unknown", bytes behind the last known member,
 * and move behind it.
 */
bool attr_member_tail(struct text_cursor *c, struct attr_text *out);

/* Set the length from the size member; call it after all members are set. */
void attr_member_done(struct attr_text *out);

/*
 * Evaluate a whole expression of numbers, names, |, <<, ~, - and brackets.  Names are
 * those of x, with or without their prefix, and the full names of any other table;
 * XX with c->why on an error.
 */
bool value_read(struct text_cursor *c, const struct xlat *x, uint64_t *v);
