/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An attr as C source. */
#ifndef PEVTRACE_CODEGEN_C_ATTR_H
#define PEVTRACE_CODEGEN_C_ATTR_H

#include "abi/call.h"
#include "codegen/c_source.h"

/*
 * An attr as initializer.  What the headers have no member for, be it bits,
 * members or bytes behind, is left over and has to be put into place by
 * statements: words of 8 bytes.
 */
struct c_attr {
	struct c_member {
		char *line;		/* ".name = value," */
		char *comment;		/* "" for none */
	} *members;
	size_t nmembers;
	const char *string_member[2];
	struct buf string_value[2];
	size_t nstrings;
	uint8_t *rest;		/* size bytes, a multiple of 8 */
	size_t size;		/* at least what the kernel reads */
	struct buf unnamed;	/* "defer_output, ...": members in rest, by name */
};

/* Appends the lines of a member, comment and all where told. */
void c_member_write(struct buf *out, const struct c_member *m, bool comment);

/* The attr that c passed at addr; false where it could not be read. */
bool c_attr_make(struct c_attr *a, const struct call *c, uint64_t addr,
		 const struct names *names, struct c_needs *needs);
void c_attr_free(struct c_attr *a);

#endif
