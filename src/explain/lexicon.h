/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A dictionary of every name in the tables: constants, members, ioctls, calls and
 * their arguments, rules, PMUs, tables, structures, and functions of the kernel.
 */
#ifndef PEVTRACE_EXPLAIN_LEXICON_H
#define PEVTRACE_EXPLAIN_LEXICON_H

#include "abi/xlat.h"
#include "explain/prose.h"
#include "lib/nearest.h"

enum lexicon_kind {
	LEXICON_CONSTANT, LEXICON_MEMBER, LEXICON_IOCTL, LEXICON_CALL, LEXICON_ARGUMENT,
	LEXICON_RULE, LEXICON_PMU, LEXICON_TABLE, LEXICON_LAYOUT, LEXICON_STEP,
};

/* One of them; of the pointers those that belong to the kind. */
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
	const struct pmu_desc *pmu;
	const struct step_desc *step;
};

/* Calls hook for each entry there is, in the order of the tables. */
void lexicon_each(void (*hook)(void *ctx, const struct lexicon_entry *e), void *ctx);

/*
 * Whether somebody who writes the word may mean the entry: its name, with or
 * without the prefix that all names of its table have, or a part of it, in
 * letters of any size, with - or _; of a member also LAYOUT.MEMBER.
 */
bool lexicon_means(const struct lexicon_entry *e, const char *word);

/* Offers the entry's names to a search for the nearest. */
void lexicon_offer(const struct lexicon_entry *e, struct nearest *n);

/* Writes the entry. */
void lexicon_tell(const struct lexicon_entry *e, struct prose *p);

#endif
