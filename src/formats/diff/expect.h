/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Expectation files: a normal form with wildcards.  In a value, * matches any text and
 * | separates alternatives; a backslash escapes either.  A missing field equals 0.  A
 * word "*" on a line allows any further fields, a line "..." any further lines.  Empty
 * lines and lines that begin with # are ignored.
 */
#pragma once

#include "formats/diff/normal.h"

enum mismatch_kind {
	EXPECT_FIELD,		/* a field has another value */
	EXPECT_MISSING,		/* no call matches that line */
	EXPECT_SURPLUS,		/* no line matches that call */
};

struct mismatch {
	enum mismatch_kind kind;
	unsigned long number;	/* of the line in the file; 0 for EXPECT_SURPLUS */
	const char *line;	/* the expected one; the call's for EXPECT_SURPLUS */
	const char *field, *wanted, *is; /* for EXPECT_FIELD; NULL on a side that lacks it */
};

struct expectation;

/* Read an expectation file; return NULL after a warn().  path is for messages. */
struct expectation *expect_read(FILE *f, const char *path,
				const struct normal_choice *choice);
void expect_free(struct expectation *x);

/*
 * Report what does not match, in order.  Return 1 if everything matches, 0 if not, and -1
 * after a warn() if the two are too long and too different to be compared.
 */
int expect_check(const struct expectation *x, const struct normal *n,
		 const struct normal_choice *choice,
		 void (*report)(void *ctx, const struct mismatch *m), void *ctx);
