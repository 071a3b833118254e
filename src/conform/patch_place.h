/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sentences and entries in the lines of a man(7) source. */
#pragma once

#include "conform/patch_doc.h"

/* Lines of a text, from 1, and how many. */
struct patch_span {
	size_t first, count;
};

/* Return true if the line calls one of the macros, such as ".TP"; the last is NULL. */
bool patch_has_macro(const char *line, const char *const *macros);

/* Return the lines of the sentence that line belongs to; of a tag, the line alone. */
struct patch_span patch_sentence(const struct patch_doc *d, size_t line);

/* Return the line after the comments that begin on that line, which are about what precedes. */
size_t patch_after_comments(const struct patch_doc *d, size_t line);

/* Return the line after the entry whose tag is on that line. */
size_t patch_entry_end(const struct patch_doc *d, size_t line);
