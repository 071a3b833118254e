/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was and what was not compared: rows of the tables, and sentences of the page. */
#pragma once

#include "conform/compare.h"

enum account {
	ACCOUNT_MATCHED,	/* page and table, or page and kernel, agree */
	ACCOUNT_FALSE,		/* a finding of severity error */
	ACCOUNT_MISSING,	/* a finding of severity missing or note */
	ACCOUNT_EXCEPTED,	/* by src/conform/conform.in */
	ACCOUNT_NAMES,		/* of a sentence only the names were compared */
	ACCOUNT_UNTRIED,	/* its experiment needs what is not here */
	ACCOUNT_UNCHECKED,	/* nothing compares it */
	ACCOUNTS,
};

extern const char *const account_names[];

/*
 * Call hook for each row of the tables that concerns the page, and each sentence with a
 * number, a constant, an errno or a member.  kind is "constant", "member", "rule",
 * "refusal", "claim", "example" or "sentence"; line is that of the page, 0: none; text is the
 * name, or the sentence, and why the reason of ACCOUNT_EXCEPTED, _UNTRIED and _UNCHECKED, or "".
 */
void accounting(const struct conform *c,
		void (*hook)(void *ctx, const char *kind, enum account account,
			     unsigned int line, const char *text, const char *why), void *ctx);
