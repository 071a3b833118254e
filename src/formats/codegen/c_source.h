/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoded values as C source: with names of constants, and with the headers and
 * definitions that these names need.
 */
#pragma once

#include "core/abi/xlat.h"
#include "core/lib/buf.h"

/* The release whose headers the source is written for; newer names are defined. */
#define C_HEADERS KVER(6, 1, 0)

/* What the source must define and include.  Zero-initialised is empty. */
struct c_needs {
	const struct xlat_entry **defines;	/* newer than C_HEADERS */
	size_t ndefines;
	const char **headers;			/* "time.h" */
	size_t nheaders;
	bool failed;				/* in libpevtrace: memory was exhausted */
};

void c_need_header(struct c_needs *n, const char *header);
void c_needs_free(struct c_needs *n);

/* Append a string literal, escaped so that it holds no quote and no trigraph. */
void c_string(struct buf *out, const char *bytes, size_t len);

/* Append the text of a comment: one line of ASCII that cannot end the comment. */
void c_comment(struct buf *out, const char *text, size_t len);

/* Append an identifier made from a name: cpu_clock_u from cpu-clock:u. */
void c_identifier(struct buf *out, const char *name);

/* Append a value as a number, or by its name in a table. */
void c_add_hex(struct buf *out, uint64_t v);
void c_add_number(struct buf *out, uint64_t v);
void c_add_enum(struct buf *out, struct c_needs *n, const struct xlat *x, uint64_t v);
void c_add_flags(struct buf *out, struct c_needs *n, const struct xlat *x, uint64_t v);

/* Return the name of a value and note what it needs; NULL: write the number. */
const char *c_constant(struct c_needs *n, const struct xlat *x, uint64_t v);
