/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The correction of a page; its source as lines, with edits and the unified diff. */
#pragma once

#include "conform/compare.h"

/*
 * Append a unified diff that removes the findings of c: those of its page, and the claims and
 * undocumented behaviour that were tried.
 */
void patch_write(const struct conform *c, struct buf *diff);

/* The source of a page as lines, with numbers from 1 ----------------------------------------- */

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

/* Removing findings ------------------------------------------------------------------------ */

/* The stages of a patch, in order: one may change the findings of the next ones, or their lines. */
enum patch_stage {
	PATCH_NAMES,	/* wrong names, which would be missing as well */
	PATCH_TEXTS,	/* sentences with a place of their own */
	PATCH_LAYOUTS,	/* members in layouts, in whose order their entries are */
	PATCH_ENTRIES,	/* whose place depends on their neighbours */
	PATCH_TRIED,	/* claims, which by now may be documented */
	PATCH_STAGES,
};

enum patch_stage patch_stage(const struct finding *f);

struct patch_edits {
	struct patch_edit *all;
	size_t n;
};

/*
 * Add the edits that remove a finding of c, whose page is the text of d: by %amendments, by
 * the correction of a claim, or by the tables.  Return false if nothing can be said.
 */
bool patch_fix(const struct conform *c, const struct finding *f, const struct patch_doc *d,
	       struct patch_edits *out);
void patch_edits_free(struct patch_edits *e);

/*
 * Append the entry of a constant, an ioctl, or a member of a structure (or NULL), with the
 * constants that a member may have.  Return false if the tables do not have the name.
 */
bool patch_add_entry(const struct conform *c, const char *structure, const char *name,
		     struct buf *out);

/* Append the causes of an error, or errors of a call, that a finding lists line by line. */
void patch_add_errors(const struct conform *c, const char *detail, struct buf *out);

/* Append an entry of the list of errors with such causes. */
void patch_add_errno(const struct conform *c, const char *name, const char *detail,
		     struct buf *out);

/* Append the line of a member in the layout of a structure, in the form of a line there. */
void patch_add_member(const char *structure, const struct api_member *m, const char *like,
		      struct buf *out);

/* Append a tag: "" or " (since Linux X)" after the name, in that font ('B' or 'I'). */
void patch_add_tag(char font, const char *name, uint32_t since, struct buf *out);
