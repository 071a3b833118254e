// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace codegen DUMP: a C program that makes the calls of a dump. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "core/lib/die.h"
#include "formats/codegen/gather.h"
#include "verbs/cli/input.h"
#include "verbs/cli/options.h"
#include "verbs/cmd.h"

struct generating {
	struct c_choice choice;
	pid_t pid;
	const char *output;
};

#define AT(member) offsetof(struct generating, member)

static const struct verb_option options[] = {
	{ .name = "all", .set = verb_set_true, .at = AT(choice.all),
	  .help = "include opens that failed, and probes: events that were opened and closed "
		  "without being used" },
	{ .name = "event", .arg = "N", .set = verb_set_int, .at = AT(choice.event), .least = 1,
	  .most = INT_MAX, .help = "include only event N, with its group and its ring" },
	{ .name = "pid", .key = 'p', .arg = "PID", .set = verb_set_int, .at = AT(pid), .least = 1,
	  .most = INT_MAX, .help = "choose the process, if several opened events" },
	{ .name = "output", .key = 'o', .arg = "FILE", .set = verb_set_text, .at = AT(output),
	  .help = "write to FILE instead of standard output" },
	{ 0 },
};

static bool write_program(const struct generating *g, const struct buf *text)
{
	FILE *f = create_stream(g->output);
	bool ok = f && fwrite(text->data, 1, text->len, f) == text->len && !fflush(f);

	if (!ok)
		warn("cannot write to %s: %s", g->output ? g->output : "standard output",
		     create_error(errno));
	if (f && f != stdout && fclose(f) && ok) {
		warn("cannot write to %s: %s", g->output, strerror(errno));
		ok = false;
	}
	return ok;
}

/* Warn of differences from the traced program; return whether they are equal. */
static bool warn_differences(const struct gathered *all)
{
	const struct c_program *p = all->program;

	if (all->left_out)
		warn("only process %d is included; %zu other process%s used events, too; "
		     "select one with --pid", (int)all->pid, all->left_out,
		     all->left_out == 1 ? "" : "es");
	if (p->missing)
		warn("%zu call%s left out; see the comments in the program", p->missing,
		     p->missing == 1 ? "" : "s");
	if (p->threads > 1)
		warn("%zu threads made the calls; the program has one thread",
		     p->threads);
	if (p->inexact)
		warn("%zu call%s used a descriptor or an address that the program cannot "
		     "reproduce",
		     p->inexact, p->inexact == 1 ? "" : "s");
	return !all->left_out && !p->missing && p->threads <= 1 && !p->inexact;
}

static int codegen_run(void *state, const struct verb_args *args)
{
	struct generating *g = state;
	int status = EXIT_TROUBLE;
	struct gathered all = { .dump = NULL };
	struct buf text = { 0 };
	const char *path;
	bool read;
	FILE *f;

	if (g->choice.all && g->choice.event)
		die("--all and --event are mutually exclusive");
	verb_want(args, 1);
	if (g->output && !strcmp(g->output, "-"))
		g->output = NULL;
	f = input_session(args, 0, false, !g->output, &path);
	read = gather_read(&all, f, path, g->pid, g->choice.event);
	if (read && c_program_choose(all.program, &g->choice)) {
		c_program_write(all.program, &text);
		if (write_program(g, &text))
			status = warn_differences(&all) ? EXIT_YES : EXIT_NO;
	} else if (read && g->choice.event) {
		warn("%s: process %d did not open event %u", path, (int)all.pid, g->choice.event);
	} else if (read) {
		warn("%s: all opens of process %d failed or were probes; include them with --all",
		     path, (int)all.pid);
	}
	buf_free(&text);
	gathered_free(&all);
	input_close(f);
	return status;
}

const struct verb codegen_verb = {
	.name = "codegen",
	.summary = "Write a C program that makes perf calls, or opens an event",
	.usage = "codegen [OPTION]... DUMP | EVENT\n"
		 "codegen [OPTION]... -- COMMAND [ARG]...",
	.about =
"Write a C program that makes the perf calls of a program that pevtrace --json=DUMP traced: "
"it opens the same events, sets them up in the same way, reads their records and prints "
"their counts. Of a COMMAND, it has the calls that were traced; of an EVENT, those that count, or "
"sample, what a command does.",
	.notes =
"A DUMP of - is standard input. The exit status is 0 if the program has all calls, 1 if "
"some had to be left out, 2 on misuse and trouble.",
	.examples =
"pevtrace codegen -o again.c dump.jsonl && cc -o again again.c\n"
"pevtrace codegen -o sample.c cpu-clock,sample_freq=1000\n"
"pevtrace codegen -o stat.c -- perf stat -e task-clock true",
	.operand = "DUMP|EVENT|COMMAND",
	.groups = (const struct verb_group[]){ { "Program", options, 0, 0 }, { 0 } },
	.size = sizeof(struct generating),
	.run = codegen_run,
};
