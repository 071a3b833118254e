/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text with line breaks: headings, paragraphs, list items. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/lib/buf.h"

struct prose {
	struct buf *out;
	unsigned int width;	/* columns; 0: no line breaks */
	bool links;		/* manual pages are hyperlinks (OSC 8) */
	bool color;
	/* the current paragraph */
	struct buf text;
	unsigned int indent, hang; /* indentation of its first line and the others */
	bool any;		/* there is text above */
};

/* Initialise prose that appends to out. */
void prose_init(struct prose *p, struct buf *out, unsigned int width);
void prose_free(struct prose *p);

/* Each of these ends the current paragraph and begins another. */
void prose_head(struct prose *p, const char *title);	/* a heading */
void prose_para(struct prose *p);			/* after an empty line */
void prose_item(struct prose *p);			/* "- " */
void prose_line(struct prose *p, unsigned int indent, unsigned int hang);
void prose_end(struct prose *p);			/* only ends it */

/* Add text. */
void prose_adds(struct prose *p, const char *s);
void prose_addf(struct prose *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Add foreign text, escaped; prose_quoted in quotes. */
void prose_name(struct prose *p, const char *hostile);
void prose_quoted(struct prose *p, const char *hostile);

/* Add a meaning from xlat/ with a small first letter, unless that belongs to a name. */
void prose_meaning(struct prose *p, const char *meaning);

/* Add a number and what it counts, after a blank: " 1 open was", " 11 opens were". */
void prose_count(struct prose *p, uint64_t n, const char *one, const char *more);

/* Add "once", "twice", "3 times". */
void prose_times(struct prose *p, uint64_t n);

/* Add a manual page and perhaps a section of it: "perf_event_open(2), MMAP layout". */
void prose_page(struct prose *p, const char *page);

/* Return the separator before the i-th of count items: "", ", " or " and ". */
const char *prose_sep(uint64_t i, uint64_t count);
