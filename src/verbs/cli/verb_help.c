// SPDX-License-Identifier: LGPL-2.1-or-later
/* Help and lists, made of the descriptions of verbs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/pager.h"
#include "formats/text/text_wrap.h"
#include "verbs/cli/verb.h"

/* Where the text of options begins: on a narrow terminal, below their names. */
enum { COLUMN = 29, NARROW_COLUMN = 8, COLUMNS = 79 };

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
	size_t width = terminal_columns(STDOUT_FILENO);

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

/* Print a word, and wrap the len bytes of text from the column behind it. */
static void help_row(const char *word, const char *text, size_t len)
{
	fputs(word, stdout);
	wrap(text, len, strlen(word));
}

/* Wrap each line of text as a paragraph; "  WORD  TEXT" is a row of a table. */
static void help_text(const char *text)
{
	for (size_t len; *text; text += len + !!text[len]) {
		const char *gap = *text == ' ' ? strstr(text + 2, "  ") : NULL;
		size_t word = gap ? (size_t)(gap - text) + strspn(gap, " ") : 0;
		struct buf head = { 0 };

		len = strcspn(text, "\n");
		word = word < len ? word : 0;
		buf_add(&head, text, word);
		help_row(buf_str(&head), text + word, len - word);
		buf_free(&head);
	}
}

static void help_option(const struct verb_option *o)
{
	char *words = o->words ? verb_words(o->words) : NULL;
	size_t column = help_width() < 2 * COLUMN ? NARROW_COLUMN : COLUMN;
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
	if (head.len + 2 > column)
		printf("%s\n%*s", buf_str(&head), (int)column, "");
	else
		printf("%-*s", (int)column, buf_str(&head));
	wrap(buf_str(&text), text.len, column);
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
	for (; *all; all++) {
		struct buf name = { 0 };

		buf_addf(&name, "  %-10s ", (*all)->name);
		help_row(buf_str(&name), (*all)->summary, strlen((*all)->summary));
		buf_free(&name);
	}
}

/* Print each form of usage as a row. */
static void help_usage(const char *usage)
{
	const char *word = "Usage: pevtrace ";

	for (size_t len; *usage; usage += len + !!usage[len], word = "       pevtrace ") {
		len = strcspn(usage, "\n");
		help_row(word, usage, len);
	}
}

/* Print each line whole, so that it can be copied. */
static void help_examples(const char *text)
{
	for (size_t len; *text; text += len + !!text[len]) {
		len = strcspn(text, "\n");
		printf("  %.*s\n", (int)len, text);
	}
}

void verb_help(const struct verb *v, const struct verb *const *all)
{
	pager_start();
	help_usage(v->usage);
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
		help_examples(v->examples);
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
