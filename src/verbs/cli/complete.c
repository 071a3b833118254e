// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/complete.h"

#include <stdio.h>
#include <string.h>

#include "verbs/cli/complete_internal.h"

/* A command line up to the word under the cursor. */
struct line {
	const struct verb *v;
	const struct verb *const *all;
	const struct verb_option *wants; /* the option whose argument comes next, or NULL */
	const struct verb_option *operands; /* the option that says what operands are, or NULL */
	bool ended;		/* by --: no options follow */
};

static const struct verb_option *long_option(const struct verb *v, const char *name, size_t len)
{
	struct verb_at at = { 0 };
	const struct verb_option *o;

	while ((o = verb_next(v, &at)))
		if (o->name && strlen(o->name) == len && !strncmp(o->name, name, len))
			break;
	return o;
}

/*
 * Return the option in a word of short options that has an argument, and in *arg the argument
 * in the word, which is empty if it is the next word; NULL if none has one.
 */
static const struct verb_option *short_option(const struct verb *v, const char *word,
					      const char **arg)
{
	for (const char *key = word + 1; *key; key++) {
		struct verb_at at = { 0 };
		const struct verb_option *o;

		while ((o = verb_next(v, &at)) && o->key != *key)
			;
		if (!o || !o->arg || o->optional)
			continue;
		*arg = key + 1;
		return o;
	}
	return NULL;
}

/* Return whether an operand is a command: of some verbs only behind --. */
static bool takes_command(const struct line *l)
{
	return l->v->command ||
	       (l->ended && l->v->operand && strstr(l->v->operand, "COMMAND"));
}

/* Read a word before the cursor. Return whether a command begins with it. */
static bool read_word(struct line *l, const char *word)
{
	const char *arg;

	if (l->wants) {
		l->wants = NULL;
	} else if (!l->ended && !strcmp(word, "--")) {
		l->ended = true;
	} else if (l->ended || *word != '-') {
		return takes_command(l);
	} else if (word[1] == '-') {
		const struct verb_option *o = long_option(l->v, word + 2, strcspn(word + 2, "="));

		if (o && o->arg && !o->optional && !strchr(word, '='))
			l->wants = o;
		if (o && o->operand)
			l->operands = o;
	} else {
		l->wants = short_option(l->v, word, &arg);
		if (l->wants && *arg)
			l->wants = NULL;
	}
	return false;
}

static void complete_argument(struct completion *c, const struct line *l,
			      const struct verb_option *o);

/* Complete NAME=ARG of -e, or ARG of -e trace=. */
static void complete_expr(struct completion *c, const struct line *l)
{
	struct verb_at at = { 0 };
	bool named = false;

	for (const struct verb_option *o; !named && (o = verb_next(l->v, &at));) {
		struct buf name = { 0 };

		buf_addf(&name, "%s=", o->name);
		named = o->expr && complete_key(c, buf_str(&name));
		if (named)
			complete_argument(c, l, o);
		buf_free(&name);
	}
	if (named)
		return;
	if (!strchr(c->typed, ','))
		verb_offer_exprs(l->v, &c->offers);
	complete_argument(c, l, long_option(l->v, "trace", strlen("trace")));
}

static void complete_argument(struct completion *c, const struct line *l,
			      const struct verb_option *o)
{
	if (o->exprs)
		complete_expr(c, l);
	else if (o->words)
		complete_list(c, o->words);
	else
		complete_kinds(c, l->v, l->all, o->arg);
}

static void complete_option_names(struct completion *c, const struct verb *v)
{
	struct verb_at at = { 0 };

	for (const struct verb_option *o; (o = verb_next(v, &at));) {
		const char key[] = { '-', o->key, '\0' };
		struct buf name = { 0 };

		if (o->name)
			buf_addf(&name, "--%s%s", o->name, o->arg && !o->optional ? "=" : "");
		/* a short option is offered where the long one does not begin like the word */
		if (o->key && (!o->name || !strcmp(c->typed, key)))
			complete_with(c, key, o->help);
		if (o->name)
			complete_with(c, buf_str(&name), o->help);
		buf_free(&name);
	}
}

/* Complete a word that begins with a dash: the name of an option, or its argument. */
static void complete_option(struct completion *c, const struct line *l)
{
	const char *word = c->typed, *equals = strchr(word, '='), *arg;
	const struct verb_option *o;

	if (word[1] != '-') {
		o = short_option(l->v, word, &arg);
	} else {
		o = equals ? long_option(l->v, word + 2, (size_t)(equals - word - 2)) : NULL;
		arg = equals ? equals + 1 : NULL;
	}
	if (!o || !o->arg || (word[1] != '-' && !*arg)) {
		complete_option_names(c, l->v);
		return;
	}
	buf_add(&c->head, word, (size_t)(arg - word));
	c->typed = arg;
	complete_argument(c, l, o);
}

static void complete_last(struct completion *c, const struct line *l, size_t index)
{
	if (l->wants) {
		complete_argument(c, l, l->wants);
	} else if (!l->ended && *c->typed == '-') {
		complete_option(c, l);
	} else {
		if (l->operands)
			l->operands->offer(&c->offers);
		else if (l->v->operand)
			complete_kinds(c, l->v, l->all, l->v->operand);
		if (takes_command(l))
			printf(":command %zu\n", index);
	}
}

void complete_words(const struct verb *const *all, char *const *words, size_t n)
{
	struct line l = { .v = *all, .all = all };
	struct completion c;
	const struct verb *named = n > 1 ? verb_find(all, words[0]) : NULL;
	size_t i = !!named;

	complete_start(&c, n ? words[n - 1] : "");
	if (named)
		l.v = named;
	for (; n && i < n - 1; i++) {
		if (read_word(&l, words[i])) {
			printf(":command %zu\n", i);
			return;
		}
	}
	if (n < 2 && *c.typed != '-')
		for (; *all; all++)
			complete_with(&c, (*all)->name, (*all)->summary);
	complete_last(&c, &l, i);
	buf_free(&c.head);
}
