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
 * Set the value of e's name to the error of its open, or "none", NAME_why to a sentence with the
 * rule that explains it, and NAME_failed if the open failed.  event: as it was stated; result: a
 * negative errno, or not.
 */
void learn_explain_refusal(struct learn *l, const struct step_event *e, const char *event,
			   int64_t result);
