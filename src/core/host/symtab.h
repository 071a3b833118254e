/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names sorted by address, and a reader of kallsyms. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lib/buf.h"

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

const char *symtab_name(const struct symtab *t, const struct symtab_entry *e);

/* Return the name of the symbol's module, or NULL. */
const char *symtab_module(const struct symtab *t, const struct symtab_entry *e);

void symtab_free(struct symtab *t);

/* Read a kallsyms file; t remains empty if the kernel hides the addresses. */
void symtab_read_kallsyms(struct symtab *t, const char *path);
