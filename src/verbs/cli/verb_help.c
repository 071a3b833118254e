// SPDX-License-Identifier: LGPL-2.1-or-later
/* The descriptions of verbs: their options one by one, the words of an option, help and lists. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "core/lib/pager.h"
#include "formats/text/text_fit.h"
#include "verbs/cli/verb.h"

/* Where the text of options begins: on a narrow terminal, below their names. */
enum { COLUMN = 29, NARROW_COLUMN = 8, COLUMNS = 79 };

static const struct verb_option common[] = {
	{ .name = "help", .key = 'h', .help = "show examples and common options; --help: everything" },
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

/* Words of options ------------------------------------------------------------------- */

char *verb_words(const char *words)
{
	char *copy = xstrdup(words), *to = copy;

	for (const char *w = words; *w; w += *w == '|' ? strcspn(w, " ") : 1)
		if (*w != '|')
			*to++ = *w;
	*to = '\0';
	return copy;
}

static _Noreturn void unknown_word(const char *word, const struct verb_option *o)
{
	struct buf valid = { 0 };
	struct nearest n;

	nearest_start(&n, word, strlen(word));
	for (const char *w = o->words; *w; w += !!*w) {
		size_t len = strcspn(w, " |");
		char *one = xstrndup(w, len);

		/* a synonym is not listed */
		if (w == o->words || w[-1] != '|')
			buf_addf(&valid, "%s%s",
				 w == o->words ? "" : strchr(w, ' ') ? ", " : " or ", one);
		nearest_try(&n, one);
		free(one);
		w += len;
	}
	die("%s requires %s, not '%s'%s", o->typed, buf_str(&valid), word, nearest_hint(&n));
}

bool verb_is_word(const char *w, const char *text, size_t len)
{
	for (;; w++) {
		size_t n = strcspn(w, " |"), same = 0;

		/* strace accepts an _ for a - */
		while (same < n && same < len && w[same] == (text[same] == '_' ? '-' : text[same]))
			same++;
		if (same == n && same == len)
			return true;
		w += n;
		if (*w != '|')
			return false;
	}
}

bool verb_pattern_matches(const char *pattern, const char *name)
{
	if (pattern[strcspn(pattern, "*?[")])
		return !fnmatch(pattern, name, FNM_CASEFOLD);
	return strcasestr(name, pattern);
}

unsigned int verb_word(const char *word, const struct verb_option *o)
{
	unsigned int i = 0;

	for (const char *w = o->words; *w; i++) {
		if (verb_is_word(w, word, strlen(word)))
			return i;
		w += strcspn(w, " ");
		w += *w == ' ';
	}
	unknown_word(word, o);
}

/* Help ------------------------------------------------------------------------------- */

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

/* Append "  -p, --attach=PID". */
static void add_option(struct buf *out, const struct verb_option *o)
{
	buf_addf(out, o->key ? "  -%c" : "    ", o->key);
	if (o->name)
		buf_addf(out, "%s--%s", o->key ? ", " : "  ", o->name);
	if (o->arg)
		buf_addf(out, "%s%s%s", !o->name ? " " : o->optional ? "[=" : "=", o->arg,
			 o->optional ? "]" : "");
}

static void help_options(const struct verb *v)
{
	const struct verb_group *last = NULL;
	struct verb_at at = { 0 };

	for (const struct verb_option *o; (o = verb_next(v, &at)); last = at.group) {
		char *words = o->words ? verb_words(o->words) : NULL;
		size_t column = help_width() < 2 * COLUMN ? NARROW_COLUMN : COLUMN;
		struct buf head = { 0 }, text = { 0 };

		if (at.group != last && at.group->heading)
			printf("\n%s:\n", at.group->heading);
		add_option(&head, o);
		buf_adds(&text, o->help);
		for (size_t i = 0; words && words[i]; i++)
			buf_addf(&text, "%s%s%c", i ? "" : ": ", words[i] == ' ' ? "," : "",
				 words[i]);
		if (head.len + 2 > column)
			printf("%s\n%*s", buf_str(&head), (int)column, "");
		else
			printf("%-*s", (int)column, buf_str(&head));
		wrap(buf_str(&text), text.len, column);
		buf_free(&head);
		buf_free(&text);
		free(words);
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

/* Print examples, each line whole, so that it can be copied; return how many. */
static size_t help_examples(const struct verb *v, size_t most)
{
	size_t n = 0, len;

	if (v->examples)
		printf("\nExamples:\n");
	for (const char *line = v->examples; line && *line && n < most; n++) {
		len = strcspn(line, "\n");
		printf("  %.*s\n", (int)len, line);
		line += len + !!line[len];
	}
	return n;
}

enum { BRIEF_LINES = 25, BRIEF_EXAMPLES = 5 };

/* Print options that have letters, the beginning of their text, in one line each. */
static void brief_options(const struct verb *v, size_t most)
{
	enum { ROOM = COLUMNS - COLUMN - sizeof("...") };
	struct verb_at at = { 0 };

	printf("\nOptions:\n");
	for (const struct verb_option *o; most && (o = verb_next(v, &at));) {
		size_t len = strcspn(o->help, ";");
		struct buf head = { 0 };

		if (!o->key || !o->name)
			continue;
		add_option(&head, o);
		if (len > ROOM)
			for (len = ROOM; len && (o->help[len] != ' ' || o->help[len - 1] == ','); len--)
				;
		printf("%-*s %.*s%s\n", COLUMN - 1, buf_str(&head), (int)len, o->help,
		       o->help[len] == ' ' ? " ..." : "");
		buf_free(&head);
		most--;
	}
}

void verb_brief(const struct verb *v, const struct verb *const *all)
{
	const char *rest = strchr(v->usage, '\n');
	size_t examples;

	help_row("Usage: pevtrace ", v->usage, rest ? (size_t)(rest - v->usage) : strlen(v->usage));
	examples = help_examples(v, BRIEF_EXAMPLES);
	if (all && *all == v)
		help_verbs(all);
	else
		brief_options(v, BRIEF_LINES - 7 - examples);
	printf("pevtrace %s%s--help shows all of it.\n", all && *all == v ? "" : v->name,
	       all && *all == v ? "" : " ");
}

void verb_help(const struct verb *v, const struct verb *const *all)
{
	const char *head = "Usage: pevtrace ", *line;
	size_t len;

	pager_start();
	for (line = v->usage; *line; line += len + !!line[len], head = "       pevtrace ") {
		len = strcspn(line, "\n");
		help_row(head, line, len);
	}
	help_text(v->about);
	if (all && *all == v)
		help_verbs(all);
	help_options(v);
	if (v->notes) {
		putchar('\n');
		help_text(v->notes);
	}
	help_examples(v, SIZE_MAX);
}

static const char *or_dash(const char *field)
{
	return field && *field ? field : "-";
}

void verb_list(const struct verb *const *all)
{
	pager_start();
	for (const struct verb *v; (v = *all); all++) {
		struct verb_at at = { 0 };

		printf("verb\t%s\t%s\t%s\n", v->name, or_dash(v->operand), v->summary);
		for (const struct verb_option *o; (o = verb_next(v, &at));) {
			const char key[] = { '-', o->key, '\0' };
			char *words = o->words ? verb_words(o->words) : NULL;

			printf("option\t%s\t%s\t%s%s\t%s\t%s\t%s\t%s\n", v->name,
			       o->key ? key : "-", o->name ? "--" : "-", o->name ? o->name : "",
			       !o->arg ? "no" : o->optional ? "optional" : "required",
			       or_dash(o->arg), or_dash(words), o->help);
			free(words);
		}
	}
}
