/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of compare_page(), and what they share.  For src/conform only. */
#pragma once

#include "conform/compare.h"

void compare_page_names(struct conform *c);
void compare_page_structs(struct conform *c);
void compare_page_records(struct conform *c);
void compare_page_errors(struct conform *c);
void compare_page_said(struct conform *c);
void compare_page_examples(struct conform *c);

/*
 * Add places to a finding: the comment after a line of the page if it names a commit; the
 * first lines of the page with a word; the header, BTF and table that have a name, or a
 * member of a structure.
 */
void place_commit(struct conform *c, struct finding *f, unsigned int line);
void place_words(struct conform *c, struct finding *f, const char *name);
void place_name(struct conform *c, struct finding *f, const char *name);
void place_member(struct conform *c, struct finding *f, const char *structure,
		  const char *member);

/* Return the known constant, or member, most similar to an unknown word, or NULL. */
const char *compare_nearest(const struct conform *c, const char *word, bool member);

/* Return true if a table, header or BTF has the constant, or a member of any structure. */
bool compare_knows(const struct conform *c, const char *name);
bool compare_knows_member(const struct conform *c, const char *name);
