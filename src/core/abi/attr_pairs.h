/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of members with values, as all texts of attrs are made of them: "size=128", ".size = 128",
 * "attr->size = 128", "'size': 128", "Size:128", "{ sample_period, sample_freq }: 1", "size   128".
 */
#pragma once

#include "core/abi/attr_text.h"

/* Where the pairs are, and how they are separated. */
enum pairs_form {
	PAIRS_BRACKET,	/* the text begins with a bracket; the one that closes it ends the attr */
	PAIRS_COLUMNS,	/* blanks separate name and value; dashes or the call end the attr */
	PAIRS_LINE,	/* all of the text is one attr */
	PAIRS_PROGRAM,	/* among other statements; the second "type" begins the next attr */
};

/* Move behind a comment, if one begins here; set *bits to the text behind "Bits" in it. */
bool pairs_comment(struct text_cursor *c, struct text_cursor *bits);

/* Move behind a name and its separator, if there are; return the name's length, else 0. */
size_t pairs_name(struct text_cursor *c, bool columns, const char **name);

/* Read an attr and move behind it; c->why has the reason of ATTR_BAD. */
enum attr_read pairs_read(struct text_cursor *c, enum pairs_form form, struct attr_text *out);
