// SPDX-License-Identifier: LGPL-2.1-or-later
/* Help and lists, made of the descriptions of verbs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb.h"
#include "explain/prose.h"
#include "lib/buf.h"
#include "lib/die.h"
#include "lib/pager.h"
#include "text/text_wrap.h"

enum { COLUMN = 29, COLUMNS = 79 };

static const struct verb_option common[] = {
	{ .name = "help", .key = 'h', .help = "show this help" },
	{ .name = "version", .key = 'V', .help = "show the version" },
	{ 0 },
};

static const struct verb_group common_group = { "General", common, 0, 0 };

const struct verb_option *verb_next(const struct verb *v, struct verb_at *at)
{
	if (!at->group)
		at->group = v->groups;
	at->option = at->option ? at->option + 1 : at->group->options;
	while (!at->option || !at->option->help) {
		if (at->group == &common_group)
			return NULL;
		at->group = at->group->options ? at->group + 1 : &common_group;
		at->option = at->group->options;
	}
	return at->option;
}

_Noreturn void verb_exit_flushed(void)
{
	if ((fflush(stdout) || ferror(stdout)) && !pager_was_left())
		die("cannot write to standard output: %s", strerror(errno));
	exit(EXIT_YES);
}

/* Return the columns of help: less than COLUMNS only on a terminal that has no more. */
static size_t help_width(void)
{
	size_t width = prose_width(STDOUT_FILENO);

	return width < COLUMNS ? width : COLUMNS;
}

/* Print the first len bytes of text, wrapped between indent and the width; end the line. */
static void wrap(const char *text, size_t len, size_t indent)
{
	struct buf out = { 0 };

	text_fill(&out, text, len, indent, indent, help_width());
	puts(buf_str(&out));
	buf_free(&out);
}

/* Wrap each line of text as a paragraph, except those that begin with a blank. */
static void help_text(const char *text)
{
	for (size_t len; *text; text += len + !!text[len]) {
		len = strcspn(text, "\n");
		if (*text == ' ')
			printf("%.*s\n", (int)len, text);
		else
			wrap(text, len, 0);
	}
}

static void help_option(const struct verb_option *o)
{
	char *words = o->words ? verb_words(o->words) : NULL;
	struct buf head = { 0 };
	struct buf text = { 0 };

	buf_addf(&head, o->key ? "  -%c" : "    ", o->key);
	if (o->name)
		buf_addf(&head, "%s--%s", o->key ? ", " : "  ", o->name);
	if (o->arg)
		buf_addf(&head, "%s%s%s", !o->name ? " " : o->optional ? "[=" : "=", o->arg,
			 o->optional ? "]" : "");
	buf_adds(&text, o->help);
	for (size_t i = 0; words && words[i]; i++)
		buf_addf(&text, "%s%s%c", i ? "" : ": ", words[i] == ' ' ? "," : "", words[i]);
	if (head.len + 2 > COLUMN)
		printf("%s\n%*s", buf_str(&head), COLUMN, "");
	else
		printf("%-*s", COLUMN, buf_str(&head));
	wrap(buf_str(&text), text.len, COLUMN);
	buf_free(&head);
	buf_free(&text);
	free(words);
}

static void help_options(const struct verb *v)
{
	const struct verb_group *last = NULL;
	struct verb_at at = { 0 };

	for (const struct verb_option *o; (o = verb_next(v, &at)); last = at.group) {
		if (at.group != last && at.group->heading)
			printf("\n%s:\n", at.group->heading);
		help_option(o);
	}
}

static void help_verbs(const struct verb *const *all)
{
	printf("\nVerbs:\n");
	for (; *all; all++)
		printf("  %-10s %s\n", (*all)->name, (*all)->summary);
}

/* Print each line of text after other, the first one after first. */
static void help_lines(const char *first, const char *other, const char *text)
{
	for (size_t len; *text; text += len + !!text[len], first = other) {
		len = strcspn(text, "\n");
		printf("%s%.*s\n", first, (int)len, text);
	}
}

void verb_help(const struct verb *v, const struct verb *const *all)
{
	pager_start();
	help_lines("Usage: pevtrace ", "       pevtrace ", v->usage);
	help_text(v->about);
	if (all && *all == v)
		help_verbs(all);
	help_options(v);
	if (v->notes) {
		putchar('\n');
		help_text(v->notes);
	}
	if (v->examples) {
		printf("\nExamples:\n");
		help_lines("  ", "  ", v->examples);
	}
}

static const char *or_dash(const char *field)
{
	return field && *field ? field : "-";
}

static void list_options(const struct verb *v)
{
	struct verb_at at = { 0 };

	for (const struct verb_option *o; (o = verb_next(v, &at));) {
		const char key[] = { '-', o->key, '\0' };
		char *words = o->words ? verb_words(o->words) : NULL;

		printf("option\t%s\t%s\t%s%s\t%s\t%s\t%s\t%s\n", v->name, o->key ? key : "-",
		       o->name ? "--" : "-", o->name ? o->name : "",
		       !o->arg ? "no" : o->optional ? "optional" : "required", or_dash(o->arg),
		       or_dash(words), o->help);
		free(words);
	}
}

void verb_list(const struct verb *const *all)
{
	pager_start();
	for (; *all; all++) {
		printf("verb\t%s\t%s\t%s\n", (*all)->name, or_dash((*all)->operand),
		       (*all)->summary);
		list_options(*all);
	}
}
