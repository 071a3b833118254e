// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace help: show the help of a verb, or list the verbs. */

#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "verbs/cmd.h"

struct help_state {
	bool list, complete;
};

static const struct verb_option options[] = {
	{ .name = "list", .help = "list all verbs and options as fields separated by tabs",
	  .set = verb_set_true, .at = offsetof(struct help_state, list) },
	{ .name = "complete",
	  .help = "list how the last WORD of a command line can go on, for completion in shells",
	  .set = verb_set_true, .at = offsetof(struct help_state, complete) },
	{ 0 },
};

static int help_run(void *state, const struct verb_args *args)
{
	const struct help_state *h = state;
	const struct verb *v = *args->all;
	const char *best;
	struct nearest n;

	if (h->complete) {
		complete_words(args->all, args->words, args->n);
		verb_exit_flushed();
	}
	if (args->n > 1)
		verb_want(args, 1);
	if (args->n)
		v = verb_find(args->all, args->words[0]);
	if (!v) {
		best = verb_nearest(args->all, args->words[0], &n);
		die("unknown verb '%s'; %s%s%s", args->words[0],
		    *best ? "did you mean " : "see pevtrace --help", best, *best ? "?" : "");
	}
	if (h->list)
		verb_list(args->all);
	else
		verb_help(v, args->all);
	verb_exit_flushed();
}

const struct verb help_verb = {
	.name = "help",
	.summary = "Show the help of a verb",
	.usage = "help [VERB]\n"
		 "help --complete -- WORD...",
	.about =
"Show the help of VERB, or of pevtrace itself.",
	.operand = "VERB",
	.groups = (const struct verb_group[]){ { "Format", options, 0, 0 }, { 0 } },
	.size = sizeof(struct help_state),
	.run = help_run,
};
