/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One source's description of the interface: its names, and its structures. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/xlat.h"

enum finding_source {
	FINDING_PAGE,		/* perf_event_open(2) */
	FINDING_HEADER,		/* a C header */
	FINDING_BTF,		/* types of a kernel */
	FINDING_XLAT,		/* the tables of pevtrace */
	FINDING_KERNEL,		/* observed behaviour of the running kernel */
};

/* A constant, or an ioctl. */
struct api_name {
	char *name;
	bool valued;		/* value is known */
	uint64_t value;
	uint32_t since;		/* KVER(); 0: unknown */
	bool updated;		/* updates brought it to an older series, too */
	unsigned int line;	/* of the file, or BTF type id; 0: none */
	char *file;		/* NULL: that of the source */
	char *set;		/* its enum or table; "" */
	uint32_t traits;	/* XLAT_*, in the tables only */
};

enum api_sign { SIGN_UNKNOWN, SIGN_UNSIGNED, SIGN_SIGNED };

struct api_member {
	char *name;
	char *type;		/* "__u64"; NULL: unknown */
	char *array;		/* text between its brackets; NULL: no array */
	char *when;		/* constants that it depends on, separated by blanks; or NULL */
	uint32_t start;		/* bits from the start of the structure */
	uint32_t bits;		/* width, of an array as a whole; 0: unknown */
	bool placed;		/* start is known */
	bool bitfield;
	bool reserved;
	enum api_sign sign;
	uint32_t since;
	unsigned int line;
};

struct api_struct {
	char *name;		/* "" if it has none */
	struct api_member *members;
	size_t n;
	uint32_t bytes;		/* 0: unknown */
	unsigned int line;
	unsigned int left_over;	/* bits of the first word that bit-fields do not fill */
	unsigned int left_line;
};

/* All strings are owned.  Zero-initialised with source and file is empty. */
struct api_desc {
	enum finding_source source;
	char *file;		/* owned; named in places; "" if nothing */
	uint32_t release;	/* newest release with a feature in it */
	struct api_name *names;
	size_t nnames;
	struct api_struct *structs;
	size_t nstructs;
};

/* Add an element with a copy of name; set may be NULL.  Valid until the next one is added. */
struct api_name *api_desc_add_name(struct api_desc *s, const char *name, const char *set);
struct api_struct *api_desc_add_struct(struct api_desc *s, const char *name);
struct api_member *api_desc_add_member(struct api_struct *st, const char *name);

/* Return the first element with that name, or NULL; also if there is no structure. */
const struct api_name *api_name(const struct api_desc *s, const char *name);
const struct api_struct *api_struct(const struct api_desc *s, const char *name);
const struct api_member *api_member(const struct api_struct *st, const char *name);

/* Return true if a structure has a member of that name. */
bool api_desc_has_member(const struct api_desc *s, const char *name);

/* Return the next of a list's items, whose separator is by, and its length; NULL: no more. */
const char *text_item(const char **list, char by, size_t *len);

/* Return true if one of the items is that word. */
bool text_has_item(const char *list, char by, const char *word, size_t len);

/*
 * Return true if text has a phrase, or any of the phrases in words, which are separated by
 * commas.  Compare whole words, ignore case, and take a newline for a blank.
 */
bool api_desc_phrase(const char *text, size_t len, const char *phrase, size_t n);
bool api_desc_any(const char *text, size_t len, const char *words);

void api_desc_struct_free(struct api_struct *st);
void api_desc_free(struct api_desc *s);

/* Pevtrace's own tables (tables.c) ---------------------------------------------------------- */

/*
 * Read the constants of perf's headers, ioctls and structures.  The set of a name is its
 * table, its file the header that defines it.
 */
void tables_read(struct api_desc *out);

/* Describe a record of that type with its header, as a structure without name. */
void tables_record(uint32_t type, struct api_struct *out);

/* Describe the sample_id at the end of records other than samples. */
void tables_sample_id(struct api_struct *out);

/* Describe what a read returns with every bit of read_format. */
void tables_read_format(bool group, struct api_struct *out);

/* Return the text of the row with that name, or NULL. */
const char *tables_pair(const struct pair_desc *list, const char *name);

struct release_text {
	char text[16];
};

/*
 * Return "6.1" for KVER(6, 1, 0): the release of Linus Torvalds' tree, also of what an update
 * brought to the series before.
 */
struct release_text tables_release(uint32_t since);

/* Readers of other sources ------------------------------------------------------------------ */

#define BTF_KERNEL "/sys/kernel/btf/vmlinux"

/*
 * Read BTF, raw or from an ELF file, into out: the structures named in known, and the enums
 * that share a name with it; everything if known is NULL.  The caller sets out->file and
 * source.  Return false after a warn(): it cannot be read, or this build lacks libbpf.
 */
bool btf_read(const char *path, const struct api_desc *known, struct api_desc *out);

/*
 * Compile headers, each a path or "<name>", and add what they define themselves, without
 * what they include: macros and enumerators with values, structures with offsets.  Set
 * out->file to the path of the first.  Return false after a warn(): no compiler writes BTF
 * ($CC, cc, gcc), a header does not compile, or this build lacks libbpf.
 */
bool header_read(const char *const *headers, size_t n, struct api_desc *out);
