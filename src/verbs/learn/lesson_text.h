/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formatting of lessons: text of 80 columns, or Markdown. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct lesson_text {
	FILE *out;
	bool markdown, color;
};

void lesson_text_title(const struct lesson_text *t, const char *name, const char *title);

/* number 0: no number. */
void lesson_text_heading(const struct lesson_text *t, unsigned int number, const char *text);

/* A paragraph, broken into lines. */
void lesson_text_paragraph(const struct lesson_text *t, const char *text);

/* The same behind a bold mark: "Question", "Not quite". */
void lesson_text_marked(const struct lesson_text *t, const char *mark, const char *text);

/* Preformatted lines. */
void lesson_text_block(const struct lesson_text *t, const char *lines);

/*
 * Lines of a trace.  Long lines continue with a deeper indent: broken at a blank, behind
 * '|', or anywhere with '\' at the end.
 */
void lesson_text_trace(const struct lesson_text *t, const char *lines);
