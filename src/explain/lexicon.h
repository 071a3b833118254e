/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A dictionary of all names in xlat/: constants, members, ioctls, system calls and their
 * arguments, rules, flaws, PMUs, tables, structures, kernel functions, and words of the glossary.
 */
#pragma once

#include "core/abi/xlat.h"
#include "core/lib/nearest.h"
#include "explain/prose.h"

enum lexicon_kind {
	LEXICON_CONSTANT, LEXICON_MEMBER, LEXICON_IOCTL, LEXICON_CALL, LEXICON_ARGUMENT,
	LEXICON_RULE, LEXICON_FLAW, LEXICON_PMU, LEXICON_TABLE, LEXICON_LAYOUT, LEXICON_STEP,
	LEXICON_WORD,
};

/* An entry.  Only the pointers that belong to its kind are set. */
struct lexicon_entry {
	enum lexicon_kind kind;
	const char *name;
	const struct xlat *table;
	const struct xlat_entry *constant;
	const struct layout *layout;
	const struct field *member;
	const struct ioctl_desc *ioctl;
	const struct call_desc *call;
	unsigned int argument;
	const struct rule_desc *rule;
	const struct flaw_desc *flaw;
	const struct pmu_desc *pmu;
	const struct step_desc *step;
	const struct word_desc *word;
};

/* Call hook for each entry, in the order of the tables. */
void lexicon_each(void (*hook)(void *ctx, const struct lexicon_entry *e), void *ctx);

/*
 * Return whether the word names the entry, with or without the prefix of its table or
 * a part of the prefix.  Case is ignored and - equals _.  A member is also named by
 * LAYOUT.MEMBER, or by CONSTANT.MEMBER if it is no structure's but that constant's.
 */
bool lexicon_means(const struct lexicon_entry *e, const char *word);

/* Return whether a comma-separated list of names has the word; case is ignored and - equals _. */
bool lexicon_listed(const char *names, const char *word);

/* Return what users call a table: its enum, or what its constants begin with; NULL: nothing. */
const char *lexicon_table_name(const struct xlat *x);

/* Offer the entry's names to a search for the nearest word. */
void lexicon_offer(const struct lexicon_entry *e, struct nearest *n);

/* Write the entry. */
void lexicon_write(const struct lexicon_entry *e, struct prose *p);
