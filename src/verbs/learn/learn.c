// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace learn: lessons about perf_event_open(2) on the reader's own kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/host/proc.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "verbs/learn/learn.h"

struct command {
	bool all, no_input, markdown;
	const char *output;
	enum choice color;
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
	  .help = "color the output", .set = options_set_choice, .at = AT(color) },
	{ 0 },
};

/* The list ----------------------------------------------------------------------------- */

static void list_lessons(FILE *out, const struct command *c, struct instruments *is)
{
	if (c->markdown)
		fputs("# Lessons\n\n```\n", out);
	for (size_t i = 0; i < nlessons; i++) {
		const char *words = lessons[i].needs ? lessons[i].needs : "";
		const struct learn_need *need;

		fprintf(out, "%-15s %s\n", lessons[i].name, lessons[i].summary);
		while ((need = learn_need_next(&words))) {
			struct buf why = { 0 };

			fprintf(out, "%16s(needs %s: %s)\n", "", need->meaning,
				learn_need_works(is, need, &why) ? "here" :
				need->instrument < INSTRUMENTS &&
				instrument_fails(is, need->instrument) ?
				"dead here; the lesson adapts" : "not here; the lesson adapts");
			buf_free(&why);
		}
	}
	fputs(c->markdown ? "```\n" : "\n'pevtrace learn NAME' starts a lesson.\n", out);
}

/* Lessons ------------------------------------------------------------------------------ */

/* Give the named lessons, or all.  Return the exit status. */
static int give_lessons(const struct command *c, FILE *out, struct instruments *is)
{
	const char *missing = mounts_proc_missing();
	bool missed = false, trouble = false;

	if (missing) {
		warn("a lesson cannot be given: %s", missing);
		return EXIT_TROUBLE;
	}
	mounts_warn_facts();
	for (size_t i = 0; c->all ? i < nlessons : !!c->names[i]; i++) {
		struct learn *l = xmalloc(sizeof(*l));
		enum given how;

		*l = (struct learn){
			.lesson = c->all ? &lessons[i] : find_lesson(c->names[i]),
			.instruments = is,
			.text = {
				.out = out, .markdown = c->markdown, .color = !c->markdown &&
					color_wanted(c->color, isatty(fileno(out))),
			},
			.ask = !c->no_input && !c->markdown && !c->output &&
			       isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
		};
		if (i)
			putc('\n', out);
		how = give_lesson(l);
		missed |= l->missed;
		free(l);
		if (how == GIVEN_UP)
			return EXIT_NO;
		trouble |= how == GIVEN_NOT;
	}
	return trouble ? EXIT_TROUBLE : missed ? EXIT_NO : EXIT_YES;
}

static int learn_run(void *state, const struct verb_args *args)
{
	struct command *c = state;
	struct instruments instruments = { .host = NULL };
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
	instruments.host = host_new("/sys", NULL);
	if (c->all || *c->names)
		status = give_lessons(c, out, &instruments);
	else
		list_lessons(out, c, &instruments);
	host_free(instruments.host);
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
