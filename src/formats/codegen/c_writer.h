/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files that write a program share. */
#pragma once

#include "core/lib/map.h"
#include "formats/codegen/c_parts.h"
#include "formats/codegen/c_program.h"

/* A line of main(); of marks it has numbers only. */
struct line {
	char *text;
	const char *meaning;
};

struct writer {
	struct c_program *p;
	struct c_parts parts;
	struct buf *out;
	int *children;			/* their numbers; -1: left out */
	int nchildren, nevents, nrings;
	struct line *lines;
	size_t nlines;
	struct map written;		/* hashes of comments that were written */
};

/* Return true the first time that it is called for a comment. */
bool c_say(struct writer *w, const char *what, const char *more);

/* Append a line to main(). */
void c_writer_line(struct writer *w, const char *text, const char *meaning);

/* Turn the steps into lines, with waits between them. */
void c_steps_write(struct writer *w);

/* Name the variable of each attr. */
void c_text_name_attrs(struct c_program *p);

/* Return whether an attr has bits that C_HEADERS have no member for. */
bool c_text_needs_bits(const struct c_program *p);

/* Write everything above the functions. */
void c_text_top(struct writer *w);

/* Write the table of the function that drains each ring, unless one drains all. */
void c_text_drain_table(const struct writer *w, struct buf *out);

/* Write main(). */
void c_text_main(struct writer *w);

/* Write the lines, with loops for those that repeat. */
void c_lines_write(struct writer *w);
