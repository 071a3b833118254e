/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why a call is refused, by experiment: it is made again with one thing changed
 * at a time, then two, then more, to the smallest set of changes with which it
 * succeeds.
 */
#ifndef PEVTRACE_DRIVE_CAUSE_H
#define PEVTRACE_DRIVE_CAUSE_H

#include "abi/change.h"

enum {
	CAUSE_CHANGES = 8,	/* more things wrong than that are not sorted out */
	CAUSE_OTHERS = 8,
	CAUSE_TRIALS = 1000,	/* experiments at most */
};

struct cause_ops {
	/* Makes the call so changed: a positive errno, 0: it opens. */
	int (*open)(void *ctx, const struct change *const *set, size_t n);
	/* What the rules say to it. */
	void (*judge)(void *ctx, const struct change *const *set, size_t n,
		      struct rule_verdict *v);
};

/* One thing that is wrong. */
struct cause_fault {
	int error;			/* with which the kernel refuses it */
	const struct rule_desc *rule;	/* NULL: none that is known */
	bool sure;			/* the rule was foreseen, not only possible */
	/* what gets past it, given what gets past those before */
	const struct change *past[CAUSE_CHANGES];
	size_t npast;
};

struct cause {
	int error;		/* of the call as it is; 0: it opens */
	/* the smallest set that opens; n 0: none was found */
	const struct change *changes[CAUSE_CHANGES];
	size_t n;
	/* in the order in which the kernel comes upon them; without changes the first only */
	struct cause_fault faults[CAUSE_CHANGES + 1];
	size_t nfaults;
	/* other single changes that open as well */
	const struct change *others[CAUSE_OTHERS];
	size_t nothers;
	unsigned int trials;	/* experiments made */
	bool gave_up;		/* there were more to be made */
};

/* The list must outlive what is found. */
void cause_find(const struct cause_ops *ops, void *ctx, const struct change_list *list,
		struct cause *out);

#endif
