/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A series of patches for perf_event_open(2) that removes what was found. */
#pragma once

#include "conform/compare.h"

/* One commit. */
struct patch_commit {
	char *subject;		/* "perf_event_open.2: Fix names" */
	struct buf message;	/* its further paragraphs, with the evidence */
	struct buf diff;
	size_t nfindings;	/* that it removes */
};

/* Zero-initialised is empty. */
struct patch {
	char *file;		/* the page's path in its repository */
	struct patch_commit *commits;
	size_t ncommits;
	struct buf diff;	/* of all commits together */
	struct buf text;	/* the page with all commits */
};

/*
 * Write the patches for the findings of c: those of its page, and the claims and
 * undocumented behaviour that were tried.  kernel is the release that they were tried on.
 */
void patch_make(const struct conform *c, const char *kernel, struct patch *out);

void patch_free(struct patch *p);
