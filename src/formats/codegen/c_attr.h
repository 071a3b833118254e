/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An attr as C source. */
#pragma once

#include "core/abi/call.h"
#include "formats/codegen/c_source.h"

/*
 * An attr as an initializer.  Bits, members and bytes that C_HEADERS have no member for
 * remain in rest; statements set them in words of 8 bytes.
 */
struct c_attr {
	struct c_member {
		char *line;		/* ".name = value," */
		char *comment;		/* "" for none */
	} *members;
	size_t nmembers;
	/* members that main() sets: addresses of strings, and numbers of this machine */
	struct c_set {
		const char *member;
		struct buf value;
	} sets[4];
	size_t nsets;
	bool numbers;		/* some are read from files of the kernel, by number_in() */
	uint8_t *rest;		/* size bytes, a multiple of 8 */
	size_t size;		/* at least what the kernel reads */
	struct buf unnamed;	/* "defer_output, ...": the members in rest */
	bool failed;		/* in libpevtrace: memory was exhausted */
};

/* Write the lines of a member, with its comment if asked for. */
void c_member_write(struct buf *out, const struct c_member *m, bool comment);

/*
 * Fill in *a from the attr that c passed at addr; return false if it was unreadable.  portable:
 * numbers of PMUs and tracepoints are read by number_in() when the program runs.
 */
bool c_attr_make(struct c_attr *a, const struct call *c, uint64_t addr,
		 const struct names *names, bool portable, struct c_needs *needs);
void c_attr_free(struct c_attr *a);

/*
 * Append the attr that c passed at addr as a variable, with the definitions that it needs; return -EINVAL
 * if it was unreadable, or -ENOMEM in libpevtrace.
 */
int c_attr_write(struct buf *out, const struct call *c, uint64_t addr, const struct names *names);

/* Return whether main() sets the same: equal bytes may point to different strings. */
bool c_attr_same_sets(const struct c_attr *a, const struct c_attr *b);
