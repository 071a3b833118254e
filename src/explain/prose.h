/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sentences that fill lines: headings, paragraphs, items of a list. */
#ifndef PEVTRACE_EXPLAIN_PROSE_H
#define PEVTRACE_EXPLAIN_PROSE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"

struct prose {
	struct buf *out;
	unsigned int width;	/* columns; 0: lines are not broken */
	bool links;		/* terms are hyperlinks (OSC 8) */
	bool color;
	/* the paragraph that is being written */
	struct buf text;
	unsigned int indent, hang; /* columns before its first line, and the others */
	bool any;		/* something stands above */
};

/* Appends to out. */
void prose_init(struct prose *p, struct buf *out, unsigned int width);
void prose_free(struct prose *p);

/* Columns of the terminal behind a descriptor; 80 where it is none. */
unsigned int prose_width(int fd);

/* Each ends the paragraph before it and begins another. */
void prose_head(struct prose *p, const char *title);	/* ends by itself */
void prose_para(struct prose *p);			/* an empty line before it */
void prose_item(struct prose *p);			/* "- ", no empty line */
void prose_line(struct prose *p, unsigned int indent, unsigned int hang);
void prose_end(struct prose *p);			/* nothing follows */

/* Text of our own. */
void prose_adds(struct prose *p, const char *s);
void prose_addf(struct prose *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Text of somebody else, made harmless; in quotes. */
void prose_name(struct prose *p, const char *hostile);
void prose_quoted(struct prose *p, const char *hostile);

/* A sentence out of a table: its first letter small unless it is a name's. */
void prose_meaning(struct prose *p, const char *meaning);

/* "1 open", "11 opens"; an s is added. */
void prose_count(struct prose *p, uint64_t n, const char *what);

/* "once", "twice", "3 times". */
void prose_times(struct prose *p, uint64_t n);

/*
 * A page of the manual, "perf_event_open(2)", and the part of it to look into or
 * NULL: "perf_event_open(2), MMAP layout".
 */
void prose_page(struct prose *p, const char *page, const char *part);

/* What stands before the n-th of count things: "", ", " or " and ". */
const char *prose_sep(uint64_t i, uint64_t count);

#endif
