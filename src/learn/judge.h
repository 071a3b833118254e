/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* By which of its rules the kernel refuses an event, for those who learn. */
#ifndef PEVTRACE_LEARN_JUDGE_H
#define PEVTRACE_LEARN_JUDGE_H

#include "learn/learn.h"

struct learn_verdict {
	const char *rule, *meaning;	/* "none", where no rule explains it */
};

/*
 * By which rule an event without a group is refused that the kernel refused
 * with that errno, positive.
 */
void learn_judge(struct learn *l, const char *event, pid_t pid, int cpu, int error,
		 struct learn_verdict *out);

/*
 * Opens the event, closes it if it opens, and says why it does not: sets
 * name to the error, and name_rule and name_why to the rule.
 */
void learn_refused(struct learn *l, const char *name, const char *event, pid_t pid, int cpu);

#endif
