/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text of a dump in the places of a page.  It may hold anything.  What is no
 * printable ASCII, which the terminal does not get either (text_escaped()), a
 * browser gets as \ooo: no control byte, broken UTF-8, line separator or change
 * of direction is left.  What is left is escaped for where it goes.
 */
#ifndef PEVTRACE_REPORT_ESCAPE_H
#define PEVTRACE_REPORT_ESCAPE_H

#include "lib/buf.h"

/* As the content of an element, or of an attribute in quotes. */
void html_add(struct buf *out, const char *text);

/* The same with a format. */
void html_addf(struct buf *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * As a JSON string with its quotes, for a <script> element: of what could end
 * that, or begin a comment in it, nothing is left.
 */
void script_add(struct buf *out, const char *text);

#endif
