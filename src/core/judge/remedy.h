/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What to change in a refused call, so that it opens and measures what was asked for. */
#pragma once

#include "core/judge/cause.h"
#include "core/judge/judge.h"

struct flaw_desc;

/* Remedies for an uninitialised attr, and for cpu=-1 where the event requires one CPU. */
#define REMEDY_UNINITIALISED \
	"the attr looks uninitialised: memset(&attr, 0, sizeof(attr)) before it is filled"
#define REMEDY_EACH_CPU ", and so on: one event for each CPU"

/* Return whether most bytes of the attr are set, as in memory that nobody has written. */
bool remedy_uninitialised(const uint8_t *attr, size_t len);

/*
 * Return whether the call measures what it asks for after these changes, by the tables; else append
 * what it measures instead, in words.  *another: it is another event.  *flaw: for which it counts
 * nothing, as it would without the changes if this is true; or NULL.
 */
bool remedy_measures(const struct rule_ask *ask, const struct change *const *set, size_t n,
		     const struct names *names, bool *another, const struct flaw_desc **flaw,
		     struct buf *instead);

/*
 * Append what to change in an attempt of a dump that *j explains: "{exclude_kernel=1}", found by
 * the rules, for a caller who lacks rights if the check is about them.  out: the sink of text.
 * Return false if no member or argument is known to do.
 */
bool remedy_of_attempt(const struct attempt *a, uint32_t release, const struct arch *arch,
		       const struct names *names, const struct judgement *j, struct sink *out,
		       struct buf *text);
