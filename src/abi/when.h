/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conditions on a call, in words: "precise_ip>0 && type==PERF_TYPE_HARDWARE".
 * What they compare are members of the attr and arguments, by their names in the
 * tables; values are written as anywhere else (abi/attr_value.h).
 */
#ifndef PEVTRACE_ABI_WHEN_H
#define PEVTRACE_ABI_WHEN_H

#include "abi/bytes_text.h"
#include "abi/call.h"

struct when;

/*
 * Reads all of the text.  Comparisons are = == != < <= > >=, and & for "has one
 * of these bits"; a name alone is true where it is not zero.  They are joined by
 * && and ||, turned round by !, and grouped by brackets.  NULL with c->why on
 * what it does not understand, or on a name that neither the attr nor any of the
 * n calls has.  Free with when_free().
 */
struct when *when_read(struct text_cursor *c, const struct call_desc *const *calls,
		       size_t n);
void when_free(struct when *w);

/*
 * Whether it holds for the call, whose memory is not looked at.  attr: of the
 * event that it opens or is about; NULL where there is none, or it is not known.  A
 * comparison with what the call does not have is false.
 */
bool when_holds(const struct when *w, const struct call *c, const uint8_t *attr,
		size_t len);

#endif
