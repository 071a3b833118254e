/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Escaping of text from a dump, which may be anything.  All but printable ASCII becomes
 * \ooo, as in text_escaped(): control bytes, malformed UTF-8, line separators and changes of
 * direction.
 */
#pragma once

#include "core/lib/buf.h"

/* Append text for an element, or an attribute in quotes. */
void html_add(struct buf *out, const char *text);

/* Append text between two pieces of HTML. */
void html_put(struct buf *out, const char *before, const char *text, const char *after);

/* Append text that is made by a format. */
void html_addf(struct buf *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Append text as a JSON string with quotes, for a <script> element: without characters that
 * could end the element or begin a comment.
 */
void script_add(struct buf *out, const char *text);
