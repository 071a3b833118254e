// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace learn: lessons about perf_event_open(2) on the reader's own kernel. */
#include <stdlib.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "verbs/cli/showing.h"
#include "verbs/learn/learn.h"

struct command {
	struct options options;
	bool all, no_input, markdown;
	const char *check;
	struct showing out;
	char **names;		/* NULL-terminated */
	struct instruments instruments;
	struct lesson_text text;
};

static void offer_lessons(struct nearest *n)
{
	for (size_t i = 0; i < nlessons; i++)
		nearest_try(n, lessons[i].name);
}

/* Return the lesson of that name, or NULL if it is a task's; else die.  task: one is wanted. */
static const struct lesson *find_lesson(const char *name, bool task)
{
	struct nearest n;

	for (size_t i = 0; i < nlessons; i++)
		if (!strcmp(lessons[i].name, name))
			return &lessons[i];
	if (task_find(name))
		return NULL;
	nearest_start(&n, name, strlen(name));
	if (!task)
		offer_lessons(&n);
	for (const struct learn_task_desc *d = learn_task_descs; d->name; d++)
		nearest_try(&n, d->name);
	die("no such lesson or task: '%s'; %s%s%s", name,
	    *n.best ? "did you mean " : "'pevtrace learn' lists them", n.best,
	    *n.best ? "?" : "");
}

#define AT(member) offsetof(struct command, member)

static const struct verb_option options[] = {
	{ .name = "all", .set = verb_set_true, .at = AT(all),
	  .help = "give all lessons" },
	{ .name = "check", .arg = "TASK", .set = verb_set_text, .at = AT(check), .command = true,
	  .help = "trace a program, and say whether it does the task, or what is missing" },
	{ .name = "no-input", .set = verb_set_true, .at = AT(no_input),
	  .help = "show answers without asking; the default if input or output is no terminal" },
	{ .name = "markdown", .set = verb_set_true, .at = AT(markdown),
	  .help = "write lessons as Markdown; implies --no-input" },
	{ .name = "output", .key = 'o', .arg = "FILE", .set = verb_set_text, .at = AT(options.output),
	  .help = "write to FILE instead of standard output; implies --no-input" },
	{ .name = "color", .arg = "WHEN", .optional = true, .words = "always never auto",
	  .help = "color the output", .set = options_set_choice,
	  .at = AT(options.color) },
	{ 0 },
};

/* The list ----------------------------------------------------------------------------- */

static void list_all(struct command *c)
{
	FILE *out = c->text.out;

	if (c->markdown)
		fputs("# Lessons\n\n```\n", out);
	for (size_t i = 0; i < nlessons; i++) {
		const char *words = lessons[i].needs ? lessons[i].needs : "";
		const struct learn_need *need;

		fprintf(out, "%-15s %s\n", lessons[i].name, lessons[i].summary);
		while ((need = learn_need_next(&words))) {
			struct buf why = { 0 };

			fprintf(out, "%16s(needs %s: %s)\n", "", need->meaning,
				learn_need_works(&c->instruments, need, &why) ? "here" :
				need->instrument < INSTRUMENTS &&
				instrument_fails(&c->instruments, need->instrument) ?
				"dead here; the lesson adapts" : "not here; the lesson adapts");
			buf_free(&why);
		}
	}
	fputs(c->markdown ? "```\n\n# Tasks\n\n```\n" : "\nTasks, programs to write:\n\n", out);
	for (const struct learn_task_desc *d = learn_task_descs; d->name; d++)
		fprintf(out, "%-15s %s\n", d->name, d->title);
	fputs(c->markdown ? "```\n" :
	      "\n'pevtrace learn NAME' starts a lesson, or says what to write; 'pevtrace learn\n"
	      "--check NAME ./program' checks it.\n", out);
}

/* Lessons ------------------------------------------------------------------------------ */

/* Give the named lessons and tasks, or all lessons.  Return the exit status. */
static int give_lessons(struct command *c)
{
	bool missed = false, trouble = false;

	for (size_t i = 0; c->all ? i < nlessons : !!c->names[i]; i++) {
		const struct lesson *lesson = c->all ? &lessons[i] : find_lesson(c->names[i], false);
		struct learn *l = xmalloc(sizeof(*l));
		enum given how = GIVEN;

		*l = (struct learn){
			.lesson = lesson, .instruments = &c->instruments, .text = c->text,
			.ask = !c->no_input && !c->markdown && !c->options.output &&
			       isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
		};
		if (i)
			putc('\n', c->text.out);
		if (lesson)
			how = give_lesson(l);
		else
			task_show(task_find(c->names[i]), &c->text, &c->instruments);
		missed |= l->missed;
		free(l);
		if (how == GIVEN_UP)
			return EXIT_NO;
		trouble |= how == GIVEN_NOT;
	}
	return trouble ? EXIT_TROUBLE : missed ? EXIT_NO : EXIT_YES;
}

static int learn_do(struct command *c)
{
	const char *missing = mounts_proc_missing();

	if (!c->all && !c->check && !*c->names) {
		list_all(c);
		return EXIT_YES;
	}
	if (missing) {
		warn("a %s: %s", c->check ? "program cannot be checked" : "lesson cannot be given",
		     missing);
		return EXIT_TROUBLE;
	}
	mounts_warn_facts();
	return c->check ? task_check(task_find(c->check), c->names, &c->text, &c->instruments) :
	       give_lessons(c);
}

static int learn_run(void *state, const struct verb_args *args)
{
	struct command *c = state;
	int status;

	c->names = args->words;
	if (c->all && (c->check || *c->names))
		die("--all cannot be combined with %s: '%s'", c->check ? "--check" : "a lesson",
		    c->check ? c->check : *c->names);
	if (c->check && find_lesson(c->check, true))
		die("'%s' is a lesson; 'pevtrace learn' lists the tasks", c->check);
	if (c->check && !*c->names)
		die("--check requires a program: pevtrace learn --check %s ./program [ARG]...",
		    c->check);
	for (char **n = c->names; !c->check && *n; n++)
		find_lesson(*n, false);
	showing_open(&c->out, &c->options);
	c->text = (struct lesson_text){
		.out = c->out.out, .markdown = c->markdown,
		.color = !c->markdown && c->out.text.color,
	};
	c->instruments.host = host_new("/sys", NULL);
	status = learn_do(c);
	host_free(c->instruments.host);
	return showing_close(&c->out) ? status : EXIT_TROUBLE;
}

const struct verb learn_verb = {
	.name = "learn",
	.summary = "Learn perf_event_open by lessons and tasks on this kernel",
	.usage =
"learn\n"
"learn [OPTION]... LESSON|TASK...\n"
"learn [OPTION]... --all\n"
"learn [OPTION]... --check TASK PROGRAM [ARG]...",
	.about =
"Learn perf_event_open(2) by doing: each lesson makes real calls on this kernel, shows "
"them as a trace does, and asks questions about them. A task is a program to write; --check "
"traces it, and judges by its calls and records. Without LESSON, list all lessons and tasks.",
	.notes =
"Answers may be spelled in any usual way: 24, 0x18, \"24 bytes\"; a name with or without "
"its PERF_ prefix. A wrong answer gets a hint, a second one the solution. \"quit\", ^D and "
"^C end the lesson.\n"
"\n"
"The exit status is 0 if all questions were answered, or the program does the task; 1 if not, or "
"the lesson was ended early; 2 on misuse, or if this machine cannot run the lesson or task.",
	.examples =
"pevtrace learn counting\n"
"pevtrace learn --check count-loop ./program",
	.operand = "LESSON|TASK",
	.own = "LESSON",
	.offer = offer_lessons,
	.groups = (const struct verb_group[]){ { "Options", options, 0, 0 }, { 0 } },
	.size = sizeof(struct command),
	.init = options_init,
	.run = learn_run,
};
