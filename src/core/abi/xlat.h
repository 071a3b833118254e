/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The types of the tables that are generated from the .in files of xlat/: constant data
 * that hold all names and meanings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xlat/enums.h"

/* A kernel release as one number that compares as releases do. */
#define KVER(a, b, c) (((uint32_t)(a) << 16) | ((uint32_t)(b) << 8) | (uint32_t)(c))

struct buf;
struct nearest;
struct xlat;

/*
 * Read a release such as "6.18.44-fc" or "2.6.31" and move *at behind its numbers.
 * Return KVER() of it, with 255 for a higher update as the kernel has it, or 0.
 */
uint32_t release_read(const char **at);

/* Append a release, KVER(), in the usual notation: "6.18", "2.6.31". */
void release_text(uint32_t v, struct buf *out);

/* Return the series that began with what an update brought to the one before it: 6.13 of 6.12.24. */
uint32_t release_mainline(uint32_t since);

enum xlat_traits {
	XLAT_NONABI = 1 << 0,	/* *_MAX and the like: never printed for a value */
	XLAT_ALIAS = 1 << 1,	/* a second name; the first one is printed */
};

enum cond_op {
	COND_NONE,	/* always */
	COND_EQ,	/* the field has this value */
	COND_NE,
	COND_MASK,	/* the field has one of these bits */
	COND_PMU,	/* type is the dynamic PMU of this name */
};

/* A test on another member of the same struct. */
struct cond {
	enum cond_op op;
	uint16_t field;		/* index into the struct's fields */
	uint64_t value;
	const char *pmu;	/* COND_PMU */
};

struct arg_desc {
	const char *name;
	enum arg_kind kind;
	const struct xlat *xlat;
};

enum { CALL_MAX_ARGS = 6 };

/* The structs of the rows, and their arrays: from xlat/sections.txt. */
#include "xlat/rows.h"

struct xlat {
	const char *name;	/* the table's, as .in files refer to it */
	enum xlat_kind kind;
	bool is_signed;		/* values are sign-extended to 64 bits */
	const char *prefix;	/* what all names start with, "" if nothing */
	const char *header;	/* system header that may know them, or NULL */
	const char *btf;	/* enum of the same values in kernel BTF, or NULL */
	const struct xlat_entry *entries; /* sorted by value */
	size_t n;
};

/* All tables, in the order of their files; the last is NULL. */
extern const struct xlat *const xlat_tables[];
extern const uint32_t xlat_release; /* KVER() of the newest that they were compared with */

/* Return the release that brought e to the series of release: e->update or e->since. */
uint32_t xlat_since(const struct xlat_entry *e, uint32_t release);

/*
 * Return the entry whose value (for XLAT_BITS: bit number) is exactly this one, or
 * NULL.  Non-ABI names and aliases are never returned.
 */
const struct xlat_entry *xlat_find(const struct xlat *x, uint64_t value);

/* Return whether it is a negative number. */
static inline bool xlat_negative(const struct xlat *x, uint64_t value)
{
	return x->is_signed && value >> 63;
}

/* Return the name of value, or NULL. */
const char *xlat_name(const struct xlat *x, uint64_t value);

/* Return the entry of that name, with or without the prefix, or NULL. */
const struct xlat_entry *xlat_by_name(const struct xlat *x, const char *name);

/* Offer the names of x with their prefix, and if short_names without it, to n. */
void xlat_offer(const struct xlat *x, bool short_names, struct nearest *n);

/*
 * Iterate over the names in a mask: start with *rest = the value and *at = 0.  Each
 * call returns an entry of the mask and clears its bits in *rest, or returns NULL
 * when only bits without a name are left.
 */
const struct xlat_entry *xlat_next_flag(const struct xlat *x, uint64_t *rest,
					size_t *at);

struct layout {
	const char *name;	/* "perf_event_attr" */
	const char *btf;	/* struct of the same layout in BTF, or NULL */
	const char *part;	/* no structure, but data that these constants, separated by
				   commas, name: "PERF_SAMPLE_TID"; or NULL */
	const struct field *fields; /* by offset, bit, then union order */
	size_t n;
	uint32_t size;		/* bytes up to the last known field's end */
};

extern const struct layout *const layouts[]; /* the last is NULL */

/* Return the layout of that name, or NULL. */
const struct layout *layout_by_name(const char *name);

/* Return the member of that name, or NULL.  l may be NULL. */
const struct field *layout_field(const struct layout *l, const char *name);

/* Return the ioctl with the request number that a task of that word size (4 or 8) passes. */
const struct ioctl_desc *ioctl_find(uint32_t request, unsigned int word);

/* Return the ioctl of that name, or NULL. */
const struct ioctl_desc *ioctl_by_name(const char *name, size_t len);

/* Offer the names of all ioctls to n. */
void ioctl_offer(struct nearest *n);

/* Return the call of that name, or NULL. */
const struct call_desc *call_by_name(const char *name);

/* Return the call's argument of that name, or NULL. */
const struct arg_desc *call_arg(const struct call_desc *d, const char *name, size_t len);

/* Return the word of a class in -e trace=%WORD, "open" or "ioctl"; NULL if it is none. */
const char *call_class_name(enum call_class class);

/* Return the description of the PMU of that name, or NULL. */
const struct pmu_desc *pmu_desc_by_name(const char *name);

/* Return the row of that full name, or NULL. */
const struct term_desc *term_by_name(const char *name);

/* Return the first row of a step, which the others follow; NULL: no such step. */
const struct step_desc *step_by_name(const char *step);
