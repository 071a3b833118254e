// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which entries the dictionary has, and which of them a word names. */
#include "explain/lexicon.h"

#include <ctype.h>
#include <string.h>

/* Words ---------------------------------------------------------------------------- */

static bool same_letter(char a, char b)
{
	return (a == '-' || a == ' ' ? '_' : tolower((unsigned char)a)) ==
	       (b == '-' || b == ' ' ? '_' : tolower((unsigned char)b));
}

/* Compare up to n letters of two words. */
static bool same_word(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!same_letter(a[i], b[i]))
			return false;
		if (!a[i])
			return true;
	}
	return true;
}

static const char *prefix_of(const struct lexicon_entry *e)
{
	return e->kind == LEXICON_CONSTANT ? e->table->prefix :
	       e->kind == LEXICON_IOCTL ? "PERF_EVENT_IOC_" : "";
}

/* Return whether a comma-separated list of names has the word of len bytes. */
static bool listed(const char *names, const char *word, size_t len)
{
	for (size_t n; *names; names += n + (names[n] == ',')) {
		n = strcspn(names, ",");
		if (len == n && same_word(names, word, n))
			return true;
	}
	return false;
}

bool lexicon_listed(const char *names, const char *word)
{
	return listed(names, word, strlen(word));
}

bool lexicon_means(const struct lexicon_entry *e, const char *word)
{
	const char *dot = strchr(word, '.');
	size_t cut = strlen(prefix_of(e));

	if (e->kind == LEXICON_MEMBER && dot)
		return listed(e->layout->part ? e->layout->part : e->layout->name, word,
			      (size_t)(dot - word)) &&
		       same_word(e->member->name, dot + 1, SIZE_MAX);
	if ((e->kind == LEXICON_LAYOUT || e->kind == LEXICON_WORD) &&
	    !strncmp(word, "struct ", 7))
		word += 7;
	if (e->kind == LEXICON_WORD && lexicon_listed(e->word->also, word))
		return true;
	/* the name without some or all words of its prefix */
	for (size_t i = 0; i <= cut; i++)
		if ((!i || e->name[i - 1] == '_' || i == cut) && e->name[i] &&
		    same_word(e->name + i, word, SIZE_MAX))
			return true;
	return false;
}

void lexicon_offer(const struct lexicon_entry *e, struct nearest *n)
{
	nearest_try(n, e->name);
	nearest_try(n, e->name + strlen(prefix_of(e)));
}

const char *lexicon_table_name(const struct xlat *x)
{
	return x->btf ? x->btf : *x->prefix ? x->prefix : NULL;
}

/* All of them ---------------------------------------------------------------------- */

/* The hook to call for each entry. */
struct visitor {
	void (*hook)(void *ctx, const struct lexicon_entry *e);
	void *ctx;
};

static void visit(const struct visitor *v, struct lexicon_entry *e, enum lexicon_kind kind,
		 const char *name)
{
	e->kind = kind;
	e->name = name;
	v->hook(v->ctx, e);
}

static void each_other(const struct visitor *v)
{
	struct lexicon_entry rule = { 0 }, flaw = { 0 }, pmu = { 0 }, step = { 0 }, word = { 0 };

	for (size_t i = 0; i < RULE_COUNT; i++) {
		rule.rule = &rule_descs[i];
		visit(v, &rule, LEXICON_RULE, rule.rule->name);
	}
	for (flaw.flaw = flaw_descs; flaw.flaw->name; flaw.flaw++)
		visit(v, &flaw, LEXICON_FLAW, flaw.flaw->name);
	for (pmu.pmu = pmu_descs; pmu.pmu->name; pmu.pmu++)
		visit(v, &pmu, LEXICON_PMU, pmu.pmu->name);
	for (step.step = step_descs; step.step->step; step.step++) {
		const struct step_desc *first = step_descs;

		/* a function of several steps is one entry */
		while (strcmp(first->function, step.step->function))
			first++;
		if (first == step.step)
			visit(v, &step, LEXICON_STEP, first->function);
	}
	for (word.word = word_descs; word.word->name; word.word++)
		visit(v, &word, LEXICON_WORD, word.word->name);
}

void lexicon_each(void (*hook)(void *ctx, const struct lexicon_entry *e), void *ctx)
{
	const struct visitor v = { hook, ctx };

	for (size_t l = 0; layouts[l]; l++) {
		struct lexicon_entry e = { .layout = layouts[l] };

		if (!e.layout->part)
			visit(&v, &e, LEXICON_LAYOUT, e.layout->name);
		for (size_t i = 0; i < e.layout->n; i++) {
			e.member = &e.layout->fields[i];
			visit(&v, &e, LEXICON_MEMBER, e.member->name);
		}
	}
	for (size_t x = 0; xlat_tables[x]; x++) {
		struct lexicon_entry e = { .table = xlat_tables[x] };

		if (lexicon_table_name(e.table))
			visit(&v, &e, LEXICON_TABLE, lexicon_table_name(e.table));
		for (size_t i = 0; i < e.table->n; i++) {
			e.constant = &e.table->entries[i];
			visit(&v, &e, LEXICON_CONSTANT, e.constant->name);
		}
	}
	for (size_t c = 0; c < CALL_COUNT; c++) {
		struct lexicon_entry e = { .call = &call_descs[c] };

		visit(&v, &e, LEXICON_CALL, e.call->name);
		if (e.call->class != CLASS_OPEN)
			continue;
		for (e.argument = 0; e.argument < e.call->nargs; e.argument++)
			visit(&v, &e, LEXICON_ARGUMENT, e.call->args[e.argument].name);
	}
	for (size_t i = 0; i < ioctl_ndescs; i++) {
		struct lexicon_entry e = { .ioctl = &ioctl_descs[i] };

		visit(&v, &e, LEXICON_IOCTL, e.ioctl->name);
	}
	each_other(&v);
}
