/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names sorted by address, and a reader of kallsyms; the symbol and source lines of a code address,
 * in one object that a process can send.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lib/buf.h"

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
static inline size_t code_size(const struct code *c)
{
	return offsetof(struct code, text) + c->len;
}

/* Return whether size bytes received from another process are a struct code. */
bool code_valid(const struct code *c, size_t size);

/* Return the symbol's name, or NULL. */
static inline const char *code_symbol(const struct code *c)
{
	return c->text[0] ? c->text : NULL;
}

/* Read the lines into list; return their number. */
size_t code_get_lines(const struct code *c, struct code_line list[CODE_LINES]);

struct symtab_entry {
	uint64_t addr, size;	/* size 0: not known */
	uint32_t name;		/* offsets in text */
	uint32_t module;	/* 0: none */
	uint16_t len;		/* of the name */
	uint8_t underscores;	/* that the name starts with */
	bool global;		/* or weak: not local to its object file */
};

/* A zero-initialised table is empty. */
struct symtab {
	struct symtab_entry *entries;
	size_t n, cap;
	struct buf text;	/* NUL-terminated names */
	char module[64];	/* of the last entry with one, and where it is */
	uint32_t module_at;
};

/*
 * Add a symbol; module may be NULL.  A table that is larger than that of any real file
 * stays as it is.
 */
void symtab_add(struct symtab *t, uint64_t addr, uint64_t size, bool global,
		const char *name, const char *module);

/* Sort the symbols: once, after the last symtab_add() and before symtab_find(). */
void symtab_sort(struct symtab *t);

/* Return the symbol that covers addr, or NULL. */
const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t addr);

static inline const char *symtab_name(const struct symtab *t, const struct symtab_entry *e)
{
	return t->text.data + e->name;
}

/* Return the name of the symbol's module, or NULL. */
static inline const char *symtab_module(const struct symtab *t, const struct symtab_entry *e)
{
	return e->module ? t->text.data + e->module : NULL;
}

void symtab_free(struct symtab *t);

/* Read a kallsyms file; t remains empty if the kernel hides the addresses. */
void symtab_read_kallsyms(struct symtab *t, const char *path);
