/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of writing a program, shared by its own files only. */
#ifndef PEVTRACE_CODEGEN_C_WRITER_H
#define PEVTRACE_CODEGEN_C_WRITER_H

#include "codegen/c_parts.h"
#include "codegen/c_program.h"
#include "lib/map.h"

/* What marks in texts begin and end with. */
#define MARK_START '\001'
#define MARK_STOP '\002'

/* A line of main(), with marks of numbers only. */
struct line {
	char *text;
	const char *meaning;
};

struct writer {
	struct c_program *p;
	struct c_parts parts;
	struct buf *out;
	int *children;			/* places; -1: not in it */
	int nchildren, nevents, nrings;
	struct line *lines;
	size_t nlines;
	struct map said;		/* hashes of comments that were made */
};

/* Is the step about events that are in the program, or about none? */
bool c_step_kept(const struct c_program *p, const struct c_step *s);

/* Is the attr larger than the struct of the headers? */
bool c_attr_larger(const struct c_program_attr *a);

/* Remembers that it was said; false when it had been said before. */
bool c_say(struct writer *w, const char *what, const char *more);

/* Makes lines of the steps, with the waits between them. */
void c_steps_write(struct writer *w);

/* Gives each attr the name of its variable. */
void c_text_name_attrs(struct c_program *p);

/* Is there an attr that has bits without a member? */
bool c_text_needs_bits(const struct c_program *p);

/* Everything above the functions. */
void c_text_top(struct writer *w);

/* Which function takes the records of which ring, where that is not one for all. */
void c_text_drain_table(const struct writer *w, struct buf *out);

/* main(), with the lines. */
void c_text_main(struct writer *w);

/* Writes the lines, those that repeat as loops. */
void c_lines_write(struct writer *w);

#endif
