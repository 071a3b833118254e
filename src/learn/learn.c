// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace learn: lessons about perf_event_open(2) on the reader's own kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/give.h"
#include "lib/die.h"
#include "lib/nearest.h"

struct command {
	bool all, no_input, markdown;
	const char *output;
	enum color_when color;
	char **names;		/* NULL-terminated */
};

static void offer_lessons(struct nearest *n)
{
	for (size_t i = 0; i < nlessons; i++)
		nearest_try(n, lessons[i].name);
}

static const struct lesson *find_lesson(const char *name)
{
	struct nearest n;

	for (size_t i = 0; i < nlessons; i++)
		if (!strcmp(lessons[i].name, name))
			return &lessons[i];
	nearest_start(&n, name, strlen(name));
	offer_lessons(&n);
	die("no such lesson: '%s'; %s%s%s", name,
	    *n.best ? "did you mean " : "'pevtrace learn' lists them", n.best,
	    *n.best ? "?" : "");
}

#define AT(member) offsetof(struct command, member)

static const struct verb_option options[] = {
	{ .name = "all", .set = verb_set_true, .at = AT(all),
	  .help = "give all lessons" },
	{ .name = "no-input", .set = verb_set_true, .at = AT(no_input),
	  .help = "show answers without asking; the default if input or output is no terminal" },
	{ .name = "markdown", .set = verb_set_true, .at = AT(markdown),
	  .help = "write lessons as Markdown; implies --no-input" },
	{ .name = "output", .key = 'o', .arg = "FILE", .set = verb_set_text, .at = AT(output),
	  .help = "write to FILE instead of standard output; implies --no-input" },
	{ .name = "color", .arg = "WHEN", .optional = true, .words = "always never auto",
	  .help = "color the output", .set = options_set_color, .at = AT(color) },
	{ 0 },
};

/* The list ----------------------------------------------------------------------------- */

static const struct learn_need *find_learn_need(const char *word, size_t len)
{
	for (size_t i = 0; i < nlearn_needs; i++)
		if (strlen(learn_needs[i].name) == len &&
		    !strncmp(learn_needs[i].name, word, len))
			return &learn_needs[i];
	die("lessons: unknown word of %%needs: '%.*s'", (int)len, word);
}

/* Write "(needs root and tracefs: here)", a line for each need. */
static void list_needs(const struct lesson *lesson, struct host *h, FILE *out)
{
	const char *at = lesson->needs ? lesson->needs : "";

	for (size_t len; *at; at += len, at += strspn(at, " ")) {
		const struct learn_need *need = find_learn_need(at, len = strcspn(at, " "));

		fprintf(out, "%16s(needs %s: %s)\n", "", need->meaning, need->here(h) ?
			"here" : "not here; the lesson adapts");
	}
}

static void list_lessons(FILE *out, const struct command *c)
{
	struct host *h = host_new("/sys", NULL);

	if (c->markdown)
		fputs("# Lessons\n\n```\n", out);
	for (size_t i = 0; i < nlessons; i++) {
		fprintf(out, "%-15s %s\n", lessons[i].name, lessons[i].summary);
		list_needs(&lessons[i], h, out);
	}
	fputs(c->markdown ? "```\n" : "\n'pevtrace learn NAME' starts a lesson.\n", out);
	host_free(h);
}

/* Lessons ------------------------------------------------------------------------------ */

/* Give a lesson.  Set *missed if a question was not answered. */
static enum given give_one(const struct command *c, const struct lesson *lesson, FILE *out,
			   bool *missed)
{
	struct learn l = {
		.lesson = lesson,
		.text = {
			.out = out, .markdown = c->markdown,
			.color = !c->markdown && color_wanted(c->color, isatty(fileno(out))),
		},
		.ask = !c->no_input && !c->markdown && !c->output &&
		       isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
	};
	enum given how = give_lesson(&l);

	*missed |= l.missed;
	return how;
}

/* Give the named lessons, or all.  Return the exit status. */
static int give_lessons(const struct command *c, FILE *out)
{
	bool missed = false, trouble = false;

	for (size_t i = 0; c->all ? i < nlessons : !!c->names[i]; i++) {
		enum given how;

		if (i)
			putc('\n', out);
		how = give_one(c, c->all ? &lessons[i] : find_lesson(c->names[i]), out, &missed);
		if (how == GIVEN_UP)
			return EXIT_NO;
		trouble |= how == GIVEN_NOT;
	}
	return trouble ? EXIT_TROUBLE : missed ? EXIT_NO : EXIT_YES;
}

static int learn_run(void *state, const struct verb_args *args)
{
	struct command *c = state;
	FILE *out = stdout;
	int status = EXIT_YES;
	bool failed;

	c->names = args->words;
	if (c->all && *c->names)
		die("--all cannot be combined with a lesson: '%s'", *c->names);
	for (char **n = c->names; *n; n++)
		find_lesson(*n);
	if (c->output)
		out = fopen(c->output, "we");
	if (!out)
		die("cannot write '%s': %s; name another file with -o", c->output,
		    strerror(errno));
	if (c->all || *c->names)
		status = give_lessons(c, out);
	else
		list_lessons(out, c);
	failed = ferror(out);
	/* cppcheck-suppress useClosedFile ; closed on the other branch only */
	if ((c->output ? fclose(out) : fflush(out)) || failed) {
		warn("cannot write to %s: %s", c->output ? c->output : "standard output",
		     strerror(errno));
		return EXIT_TROUBLE;
	}
	return status;
}

const struct verb learn_verb = {
	.name = "learn",
	.summary = "Learn perf_event_open by lessons that run on this kernel",
	.usage =
"learn\n"
"learn [OPTION]... LESSON...\n"
"learn [OPTION]... --all",
	.about =
"Learn perf_event_open(2) by doing: each lesson makes real calls on this kernel, shows "
"them as a trace does, and asks questions about them. Without LESSON, list all lessons.",
	.notes =
"Answers may be spelled in any usual way: 24, 0x18, \"24 bytes\"; a name with or without "
"its PERF_ prefix. A wrong answer gets a hint, a second one the solution. \"quit\", ^D and "
"^C end the lesson.\n"
"\n"
"The exit status is 0 if all questions were answered; 1 if one was not, or the lesson was "
"ended early; 2 on misuse, or if a lesson cannot run on this machine.",
	.examples =
"pevtrace learn counting",
	.operand = "LESSON",
	.own = "LESSON",
	.offer = offer_lessons,
	.groups = (const struct verb_group[]){ { "Options", options, 0, 0 }, { 0 } },
	.size = sizeof(struct command),
	.run = learn_run,
};
