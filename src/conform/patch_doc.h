/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A text whose lines are edited, and its differences as unified diffs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/lib/buf.h"

/* An older state to compare with: the text that was given, or the one of the last commit. */
enum patch_state { PATCH_GIVEN, PATCH_COMMIT, PATCH_STATES };

struct patch_line {
	char *text;			/* owned, without newline */
	size_t old[PATCH_STATES];	/* its number there, from 1; 0: new */
};

/* Zero-initialised is empty. */
struct patch_doc {
	struct patch_line *lines;
	size_t n;
	char **old[PATCH_STATES];	/* owned */
	size_t nold[PATCH_STATES];
};

/* Replace count lines, from line first (from 1), by the lines of text; count 0 inserts. */
struct patch_edit {
	size_t first, count;
	char *text;			/* owned; each line ends with a newline */
};

/* Split a text into lines; it is the older text of both states. */
void patch_doc_open(struct patch_doc *d, const char *text, size_t len);

/*
 * Apply an edit.  Edits are applied from the last line to the first, so that the numbers
 * of the others remain right.
 */
void patch_doc_apply(struct patch_doc *d, const struct patch_edit *e);

/* Make the present text that of the last commit. */
void patch_doc_commit(struct patch_doc *d);

/* Append the present text. */
void patch_doc_text(const struct patch_doc *d, struct buf *out);

/* Append a unified diff with that file name, or nothing if nothing differs. */
void patch_doc_diff(const struct patch_doc *d, enum patch_state from, const char *file,
		    struct buf *out);

void patch_doc_free(struct patch_doc *d);
