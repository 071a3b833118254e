/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one source says of the interface: its names, and its structures. */
#ifndef PEVTRACE_CONFORM_SAID_H
#define PEVTRACE_CONFORM_SAID_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/xlat.h"
#include "conform/finding.h"

/* A constant, or an ioctl. */
struct said_name {
	char *name;
	bool valued;		/* the value was told */
	uint64_t value;
	uint32_t since;		/* KVER(), 0: not told */
	unsigned int line;	/* of the file, or BTF type id; 0: none */
	char *file;		/* NULL: the source's */
	char *set;		/* the enum or table that it belongs to, "" */
	uint32_t traits;	/* XLAT_*, of our tables */
};

struct said_member {
	char *name;
	char *type;		/* "__u64"; NULL: not told */
	char *array;		/* what stands in its brackets; NULL: it is no array */
	char *when;		/* constants it depends on, blanks between them; or NULL */
	uint32_t start;		/* bits from the struct's start */
	uint32_t bits;		/* of all of it; 0: not known */
	bool placed;		/* start is known */
	bool bitfield;
	bool reserved;
	uint32_t since;
	unsigned int line;
};

struct said_struct {
	char *name;		/* "" where it has none */
	struct said_member *members;
	size_t n, cap;
	uint32_t bytes;		/* 0: not known */
	unsigned int line;
	unsigned int left_over;	/* bits of a word that no bit-field takes, of the first */
	unsigned int left_line;
};

/* All strings are owned; zero-initialised with source and file is empty. */
struct said {
	enum finding_source source;
	char *file;		/* owned; what places name, "" if nothing */
	uint32_t release;	/* newest that it knows something of */
	struct said_name *names;
	size_t nnames, names_cap;
	struct said_struct *structs;
	size_t nstructs, structs_cap;
};

/* Adds a name; set may be NULL.  Valid until the next one is added. */
struct said_name *said_add_name(struct said *s, const char *name, const char *set);
struct said_struct *said_add_struct(struct said *s, const char *name);
struct said_member *said_add_member(struct said_struct *st, const char *name);

/* The first of that name, or NULL. */
const struct said_name *said_name(const struct said *s, const char *name);
const struct said_struct *said_struct(const struct said *s, const char *name);
const struct said_member *said_member(const struct said_struct *st, const char *name);

/* Whether a struct of it has a member of that name. */
bool said_has_member(const struct said *s, const char *name);

/* Names that stand for room that nobody uses yet: "__reserved_1", "res", "cap_____res". */
bool said_reserved(const char *name);

/*
 * Whether a text has a phrase, or any of those that words has with commas between
 * them: as words of their own, whatever their capitals, lines broken anywhere.
 */
bool said_phrase(const char *text, size_t len, const char *phrase, size_t n);
bool said_any(const char *text, size_t len, const char *words);

void said_struct_free(struct said_struct *st);
void said_free(struct said *s);

#endif
