/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source of a page as lines: their sentences and entries, edits, and the unified diff.
 * Lines have numbers from 1.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/lib/buf.h"

struct patch_line {
	char *text;		/* owned, without newline */
	size_t old;		/* its number in the given text; 0: new */
};

/* Zero-initialised is empty. */
struct patch_doc {
	struct patch_line *lines, *given; /* given: the text before any edit */
	size_t n, ngiven;
};

/* Replace count lines, from line first, by the lines of text; count 0 inserts. */
struct patch_edit {
	size_t first, count;
	char *text;		/* owned; each line ends with a newline */
};

/* Split a text into lines. */
void patch_doc_open(struct patch_doc *d, const char *text, size_t len);

/*
 * Apply an edit.  Edits are applied from the last line to the first, so that the numbers
 * of the others remain right.
 */
void patch_doc_apply(struct patch_doc *d, const struct patch_edit *e);

/* Append a unified diff with that file name, or nothing if nothing differs. */
void patch_doc_diff(const struct patch_doc *d, const char *file, struct buf *out);

void patch_doc_free(struct patch_doc *d);

/* Lines of a text, and how many. */
struct patch_span {
	size_t first, count;
};

/* Return the lines of the sentence that line belongs to; of a tag, the line alone. */
struct patch_span patch_sentence(const struct patch_doc *d, size_t line);

/* Return the line after the comments that begin on that line, which are about what precedes. */
size_t patch_after_comments(const struct patch_doc *d, size_t line);

/* Return the line after the entry whose tag is on that line. */
size_t patch_entry_end(const struct patch_doc *d, size_t line);
