/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether what perf_event_open(2) says of the kernel's behaviour is true here:
 * the claims of xlat/claims.in, each tried by its experiment in a child of ours
 * that ends with all that it opened.
 */
#ifndef PEVTRACE_CONFORM_CLAIMS_H
#define PEVTRACE_CONFORM_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/xlat.h"

enum claim_verdict {
	CLAIM_UNTRIED,	/* the reason tells why */
	CLAIM_TRUE,
	CLAIM_FALSE,	/* in each of several tries */
};

struct claim_result {
	const struct claim_desc *claim;
	enum claim_verdict verdict;
	unsigned int tries;
	/* "" where they say nothing; without a full stop */
	const char *reason;	/* untried: why */
	const char *expected;	/* false: what should have been, and what was */
	const char *seen;
	const char *calls;	/* the calls made, as a trace of them, in lines */
};

/* Zero-initialised: all claims, as who we are. */
struct claims_options {
	uint32_t since;		/* KVER(): only those about this release's news or later */
	const char *section;	/* only those of headings that have it in them; or NULL */
	const char *name;	/* only those whose name fits this fnmatch(3) pattern; or NULL */
	bool nobody;		/* as an ordinary user: takes root to become one */
	unsigned int tries;	/* how often a false claim is tried; 0: four times */
	const struct claim_desc *claims; /* others than claim_descs, ended alike; or NULL */
};

/*
 * Tries them one after the other, in their order, and reports each; what the result
 * points to is valid during the call only.  Returns how many are false, or -ENOMEM.
 */
int conform_claims(const struct claims_options *opts,
		   void (*report)(void *ctx, const struct claim_result *r), void *ctx);

/*
 * The line (from 1) of a page's man(7) source on which the claim's sentence begins;
 * 0: it is not there.
 */
unsigned int claim_line(const struct claim_desc *c, const char *source, size_t len);

/*
 * Whether none of these words (with commas between them) stands in the paragraph that the
 * claim's sentence is of, from its tag to the next, or in the section where it has no tag.
 * False where the sentence is not there, as in a translation: nothing can be said of it.
 */
bool claim_unsaid(const struct claim_desc *c, const char *source, size_t len, const char *words);

#endif
