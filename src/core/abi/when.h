/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conditions on a call: "precise_ip>0 && type==PERF_TYPE_HARDWARE".  They compare
 * members of the attr and arguments, by their names in the tables, with values as
 * core/abi/attr_member.h reads them.
 */
#pragma once

#include "core/abi/bytes_text.h"
#include "core/abi/call.h"

struct when;

/* A value of the caller's own that conditions compare. */
struct when_value {
	const char *name;
	uint64_t value;
};

/*
 * Parse all of the text.  Comparisons are = == != < <= > >=, and & for "has one of
 * these bits"; a name alone is true if it is not zero.  They are joined by && and
 * ||, negated by !, and grouped by brackets.  more: further names, up to one that is NULL, whose
 * values are those at the time of when_holds(); or NULL.  Return NULL with c->why on a syntax
 * error, or on a name that is not in more and neither the attr nor any of the n calls has.  Free
 * with when_free().
 */
struct when *when_read(struct text_cursor *c, const struct call_desc *const *calls,
		       size_t n, const struct when_value *more);
void when_free(struct when *w);

/*
 * Return whether the condition holds for the call, whose captured memory is not used.
 * attr: of the event that the call opens or acts on, or NULL.  A comparison with a
 * value that the call does not have is false.
 */
bool when_holds(const struct when *w, const struct call *c, const uint8_t *attr,
		size_t len);
