/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's rule that refuses an event. */
#pragma once

#include "verbs/learn/learn.h"

struct learn_verdict {
	const char *rule, *meaning;	/* NULL if no rule explains the error */
	bool sure;			/* false: the rule rests on a fact that is not known */
};

/* Find the rule that explains why the kernel refused an event with error, a positive errno. */
void learn_judge(struct learn *l, const char *event, pid_t pid, int cpu, int error,
		 struct learn_verdict *out);

/* Set name to the member to change in order to open a refused event on the caller itself. */
void learn_set_cause(struct learn *l, const char *name, const char *event);

/*
 * Open an event and close it.  Set name to the error or "none", NAME_why to a sentence with the
 * rule that explains it, and NAME_failed if the open failed.
 */
void learn_refused(struct learn *l, const char *name, const char *event, pid_t pid, int cpu);
