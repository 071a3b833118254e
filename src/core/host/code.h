/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The symbol and source lines of a code address, in one object that a process can send. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CODE_LINES = 16,	/* functions inlined into each other, and the outermost */
	CODE_NAME = 512,	/* a longer name is cut */
	CODE_TEXT = (1 + 2 * CODE_LINES) * CODE_NAME,
};

/* Source lines come innermost first; the last one is in the symbol's own function. */
struct code {
	uint64_t offset;	/* of the address into the symbol */
	uint32_t nlines;
	uint32_t len;		/* of text */
	uint32_t line[CODE_LINES];
	/* the symbol, then for each line its function and its file, each ended by NUL */
	char text[CODE_TEXT];
};

/* One source line; function is inlined there, or "" for the last. */
struct code_line {
	const char *function, *file;
	uint32_t line;
};

/* Make c empty; code_set_symbol() and then code_add_line() fill it. */
void code_start(struct code *c);
void code_set_symbol(struct code *c, const char *name, uint64_t offset);

/* Append a line; return false, with c unchanged, if it has CODE_LINES. */
bool code_add_line(struct code *c, const char *function, const char *file, uint32_t line);

/* Return the number of bytes of c that are in use. */
size_t code_size(const struct code *c);

/* Return whether size bytes received from another process are a struct code. */
bool code_valid(const struct code *c, size_t size);

/* Return the symbol's name, or NULL. */
const char *code_symbol(const struct code *c);

/* Read the lines into list; return their number. */
size_t code_get_lines(const struct code *c, struct code_line list[CODE_LINES]);
