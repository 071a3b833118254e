/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The edit of a page that removes a finding. */
#pragma once

#include "conform/compare.h"
#include "conform/patch_doc.h"

struct patch_edits {
	struct patch_edit *all;
	size_t n;
};

/*
 * Add the edits that remove a finding of c, whose page is the text of d: by %amendments, by
 * the correction of a claim, or by the tables.  part: of texts in several parts, add this one
 * ("/NAME"), or "".  Return false if nothing can be said.
 */
bool patch_fix(const struct conform *c, const struct finding *f, const char *part,
	       const struct patch_doc *d, struct patch_edits *out);

void patch_edits_free(struct patch_edits *e);
