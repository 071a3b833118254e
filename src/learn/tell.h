/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formatting of lessons: text of 80 columns, or Markdown. */
#ifndef PEVTRACE_LEARN_TELL_H
#define PEVTRACE_LEARN_TELL_H

#include <stdbool.h>
#include <stdio.h>

struct tell {
	FILE *out;
	bool markdown, color;
};

void tell_title(const struct tell *t, const char *name, const char *title);

/* number 0: no number. */
void tell_heading(const struct tell *t, unsigned int number, const char *text);

/* A paragraph, broken into lines. */
void tell_text(const struct tell *t, const char *text);

/* The same behind a bold mark: "Question", "Not quite". */
void tell_marked(const struct tell *t, const char *mark, const char *text);

/* Preformatted lines. */
void tell_block(const struct tell *t, const char *lines);

/*
 * Lines of a trace.  Long lines continue with a deeper indent: broken at a blank, behind
 * '|', or anywhere with '\' at the end.
 */
void tell_trace(const struct tell *t, const char *lines);

#endif
