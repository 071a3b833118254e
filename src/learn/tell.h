/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a lesson looks: text for a terminal of 80 columns, or a document. */
#ifndef PEVTRACE_LEARN_TELL_H
#define PEVTRACE_LEARN_TELL_H

#include <stdbool.h>
#include <stdio.h>

struct tell {
	FILE *out;
	bool markdown, color;
};

void tell_title(const struct tell *t, const char *name, const char *title);

/* number 0: a heading without one. */
void tell_heading(const struct tell *t, unsigned int number, const char *text);

/* A paragraph, broken into lines. */
void tell_text(const struct tell *t, const char *text);

/* The same behind a word that stands out: "Question", "Hint". */
void tell_marked(const struct tell *t, const char *mark, const char *text);

/* Lines as they stand. */
void tell_block(const struct tell *t, const char *lines);

/*
 * Lines of a trace.  Long ones go on with a deeper indent: broken at a blank,
 * behind a '|', or, with a '\' at the end, anywhere.
 */
void tell_trace(const struct tell *t, const char *lines);

#endif
