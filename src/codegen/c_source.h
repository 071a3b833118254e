/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoded values as C source: names of constants where tables have them, and
 * what a file must include or define so that it knows those.
 */
#ifndef PEVTRACE_CODEGEN_C_SOURCE_H
#define PEVTRACE_CODEGEN_C_SOURCE_H

#include "abi/xlat.h"
#include "lib/buf.h"

/* The release whose headers C source is written for; what is newer is defined. */
#define C_HEADERS KVER(6, 1, 0)

/* What the text needs around it.  Zero-initialised is empty. */
struct c_needs {
	const struct xlat_entry **defines;	/* unknown to those headers */
	size_t ndefines;
	const char **headers;			/* "time.h" */
	size_t nheaders;
};

void c_need_header(struct c_needs *n, const char *header);
void c_needs_free(struct c_needs *n);

/* A string literal with its quotes; nothing in it can end it or be a trigraph. */
void c_string(struct buf *out, const char *bytes, size_t len);

/* Text inside of a comment: one line of ASCII that cannot end the comment. */
void c_comment(struct buf *out, const char *text, size_t len);

/* An identifier made of a name, such as cpu_clock_u of cpu-clock:u. */
void c_identifier(struct buf *out, const char *name);

/* Values: as numbers, or by the names that tables have for them. */
void c_add_hex(struct buf *out, uint64_t v);
void c_add_number(struct buf *out, uint64_t v);
void c_add_enum(struct buf *out, struct c_needs *n, const struct xlat *x, uint64_t v);
void c_add_flags(struct buf *out, struct c_needs *n, const struct xlat *x, uint64_t v);

/* The name of a value that C source may use; NULL: write the number. */
const char *c_constant(struct c_needs *n, const struct xlat *x, uint64_t v);

#endif
