/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statements of perf_event_open(2) about the kernel's behaviour (src/conform/claims.in), each
 * tested by an experiment in a child process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/xlat.h"

struct claim_trace;

enum claim_verdict {
	CLAIM_UNTRIED,	/* could not be tested; reason says why */
	CLAIM_TRUE,
	CLAIM_FALSE,	/* contradicted by each of several runs */
};

struct claim_result {
	const struct claim_desc *claim;
	enum claim_verdict verdict;
	unsigned int tries;
	/* without a full stop; "" if not applicable */
	const char *reason;	/* CLAIM_UNTRIED */
	const char *expected, *seen; /* CLAIM_FALSE */
	const char *calls;	/* text of the calls, as a trace shows them */
};

/* Zero-initialised: all claims, with the rights of the caller. */
struct claims_options {
	uint32_t since;		/* KVER(): only claims about this release or later */
	const char *section;	/* only claims of headings that contain it; or NULL */
	const char *name;	/* only claims that match this fnmatch(3) pattern; or NULL */
	bool nobody;		/* run as an ordinary user; requires root */
	unsigned int tries;	/* runs of a claim that is contradicted; 0: four */
	const struct claim_desc *claims; /* in place of claim_descs; or NULL */
};

/*
 * Test the claims in order and report each; the result is valid during the call only.
 * Return the number of false claims, or -ENOMEM.
 */
int conform_claims(const struct claims_options *opts,
		   void (*report)(void *ctx, const struct claim_result *r), void *ctx);
