// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which entries there are, and which of them a word means. */
#include "render/lexicon.h"

#include <ctype.h>
#include <string.h>

/* All of them ---------------------------------------------------------------------- */

static void each_constant(void (*hook)(void *, const struct lexicon_entry *), void *ctx)
{
	for (size_t t = 0; xlat_tables[t]; t++) {
		struct lexicon_entry e = { .table = xlat_tables[t] };

		e.kind = LEXICON_TABLE;
		e.name = e.table->name;
		hook(ctx, &e);
		e.kind = LEXICON_CONSTANT;
		for (size_t i = 0; i < e.table->n; i++) {
			e.constant = &e.table->entries[i];
			e.name = e.constant->name;
			hook(ctx, &e);
		}
	}
}

static void each_member(void (*hook)(void *, const struct lexicon_entry *), void *ctx)
{
	for (size_t l = 0; layouts[l]; l++) {
		struct lexicon_entry e = { .layout = layouts[l] };

		e.kind = LEXICON_LAYOUT;
		e.name = e.layout->name;
		hook(ctx, &e);
		e.kind = LEXICON_MEMBER;
		for (size_t i = 0; i < e.layout->n; i++) {
			e.member = &e.layout->fields[i];
			e.name = e.member->name;
			hook(ctx, &e);
		}
	}
}

static void each_call(void (*hook)(void *, const struct lexicon_entry *), void *ctx)
{
	for (size_t c = 0; c < CALL_COUNT; c++) {
		struct lexicon_entry e = { .call = &call_descs[c] };

		e.kind = LEXICON_CALL;
		e.name = e.call->name;
		hook(ctx, &e);
		e.kind = LEXICON_ARGUMENT;
		for (e.argument = 0; e.argument < e.call->nargs; e.argument++) {
			e.name = e.call->args[e.argument].name;
			if (e.call->class == CLASS_OPEN)
				hook(ctx, &e);
		}
	}
	for (size_t i = 0; i < ioctl_ndescs; i++) {
		struct lexicon_entry e = {
			.kind = LEXICON_IOCTL, .name = ioctl_descs[i].name,
			.ioctl = &ioctl_descs[i],
		};

		hook(ctx, &e);
	}
}

/* A function is one entry, however many steps go through it. */
static bool is_first(const struct step_desc *d)
{
	for (const struct step_desc *k = step_descs; k < d; k++)
		if (!strcmp(k->function, d->function))
			return false;
	return true;
}

static void each_other(void (*hook)(void *, const struct lexicon_entry *), void *ctx)
{
	struct lexicon_entry e = { .kind = LEXICON_RULE };

	for (size_t i = 0; i < RULE_COUNT; i++) {
		e.rule = &rule_descs[i];
		e.name = e.rule->name;
		hook(ctx, &e);
	}
	e = (struct lexicon_entry){ .kind = LEXICON_PMU };
	for (e.pmu = pmu_descs; e.pmu->name; e.pmu++) {
		e.name = e.pmu->name;
		hook(ctx, &e);
	}
	e = (struct lexicon_entry){ .kind = LEXICON_STEP };
	for (e.step = step_descs; e.step->step; e.step++) {
		e.name = e.step->function;
		if (is_first(e.step))
			hook(ctx, &e);
	}
}

void lexicon_each(void (*hook)(void *ctx, const struct lexicon_entry *e), void *ctx)
{
	each_member(hook, ctx);
	each_constant(hook, ctx);
	each_call(hook, ctx);
	each_other(hook, ctx);
}

/* Words ---------------------------------------------------------------------------- */

static bool same_letter(char a, char b)
{
	return (a == '-' ? '_' : tolower((unsigned char)a)) ==
	       (b == '-' ? '_' : tolower((unsigned char)b));
}

/* The same word, up to n letters of it. */
static bool same(const char *a, const char *b, size_t n)
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

/* The name, or what is left of it when its prefix is cut off before one of its _. */
static bool tail(const char *name, const char *prefix, const char *word)
{
	size_t cut = strlen(prefix);

	for (size_t i = 0; i <= cut; i++)
		if ((!i || name[i - 1] == '_' || i == cut) && name[i] &&
		    same(name + i, word, SIZE_MAX))
			return true;
	return false;
}

bool lexicon_means(const struct lexicon_entry *e, const char *word)
{
	const char *dot = strchr(word, '.');
	size_t n;

	if (e->kind == LEXICON_MEMBER && dot) {
		n = strlen(e->layout->name);
		return (size_t)(dot - word) == n && same(e->layout->name, word, n) &&
		       same(e->member->name, dot + 1, SIZE_MAX);
	}
	if (e->kind == LEXICON_LAYOUT && !strncmp(word, "struct ", 7))
		word += 7;
	return tail(e->name, prefix_of(e), word);
}

void lexicon_offer(const struct lexicon_entry *e, struct nearest *n)
{
	nearest_try(n, e->name);
	nearest_try(n, e->name + strlen(prefix_of(e)));
}
