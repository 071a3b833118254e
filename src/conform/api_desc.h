/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one source says of the interface: its names, and its structures. */
#ifndef PEVTRACE_CONFORM_API_DESC_H
#define PEVTRACE_CONFORM_API_DESC_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/xlat.h"
#include "conform/finding.h"

/* A constant, or an ioctl. */
struct api_name {
	char *name;
	bool valued;		/* the value was told */
	uint64_t value;
	uint32_t since;		/* KVER(), 0: not told */
	unsigned int line;	/* of the file, or BTF type id; 0: none */
	char *file;		/* NULL: the source's */
	char *set;		/* the enum or table that it belongs to, "" */
	uint32_t traits;	/* XLAT_*, of our tables */
};

struct api_member {
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

struct api_struct {
	char *name;		/* "" where it has none */
	struct api_member *members;
	size_t n, cap;
	uint32_t bytes;		/* 0: not known */
	unsigned int line;
	unsigned int left_over;	/* bits of a word that no bit-field takes, of the first */
	unsigned int left_line;
};

/* All strings are owned; zero-initialised with source and file is empty. */
struct api_desc {
	enum finding_source source;
	char *file;		/* owned; what places name, "" if nothing */
	uint32_t release;	/* newest that it knows something of */
	struct api_name *names;
	size_t nnames, names_cap;
	struct api_struct *structs;
	size_t nstructs, structs_cap;
};

/* Adds a name; set may be NULL.  Valid until the next one is added. */
struct api_name *api_desc_add_name(struct api_desc *s, const char *name, const char *set);
struct api_struct *api_desc_add_struct(struct api_desc *s, const char *name);
struct api_member *api_desc_add_member(struct api_struct *st, const char *name);

/* The first of that name, or NULL. */
const struct api_name *api_name(const struct api_desc *s, const char *name);
const struct api_struct *api_struct(const struct api_desc *s, const char *name);
const struct api_member *api_member(const struct api_struct *st, const char *name);

/* Whether a struct of it has a member of that name. */
bool api_desc_has_member(const struct api_desc *s, const char *name);

/* Names that stand for room that nobody uses yet: "__reserved_1", "res", "cap_____res". */
bool api_desc_reserved(const char *name);

/*
 * Whether a text has a phrase, or any of those that words has with commas between
 * them: as words of their own, whatever their capitals, lines broken anywhere.
 */
bool api_desc_phrase(const char *text, size_t len, const char *phrase, size_t n);
bool api_desc_any(const char *text, size_t len, const char *words);

void api_desc_struct_free(struct api_struct *st);
void api_desc_free(struct api_desc *s);

#endif
