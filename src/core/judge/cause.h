/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finding out why a call is refused: try it again with one change, then two, then more, to
 * find the smallest set of changes with which it succeeds.
 */
#pragma once

#include "core/abi/change.h"

enum {
	CAUSE_CHANGES = 8,	/* at most, in a set */
	CAUSE_OTHERS = 8,
	CAUSE_TRIALS = 1000,	/* at most */
};

struct cause_ops {
	/* Make the call with a set of changes; return a positive errno, or 0. */
	int (*open)(void *ctx, const struct change *const *set, size_t n);
	/* Judge the call with a set of changes by the rules. */
	void (*judge)(void *ctx, const struct change *const *set, size_t n,
		      struct rule_verdict *v);
};

/* One refusal. */
struct cause_fault {
	int error;			/* of the kernel */
	const struct rule_desc *rule;	/* NULL: unknown */
	bool sure;			/* the rules predict it; else it may apply */
	/* the changes that avoid it, after those for the previous refusals */
	const struct change *past[CAUSE_CHANGES];
	size_t npast;
};

struct cause {
	int error;		/* of the unchanged call; 0: it opens */
	/* the smallest set that opens; n 0: not found */
	const struct change *changes[CAUSE_CHANGES];
	size_t n;
	/* in the order of the kernel's checks; only the first one if n is 0 */
	struct cause_fault faults[CAUSE_CHANGES + 1];
	size_t nfaults;
	/* other single changes that open as well */
	const struct change *others[CAUSE_OTHERS];
	size_t nothers;
	unsigned int trials;	/* calls made */
	bool gave_up;		/* the limit of trials was reached */
};

/* Search for the cause.  The list must outlive *out. */
void cause_find(const struct cause_ops *ops, void *ctx, const struct change_list *list,
		struct cause *out);
