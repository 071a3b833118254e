// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace check: what the kernel answers to a perf_event_open(2), and why. */
#include "verbs/check/check.h"

#include <errno.h>
#include <string.h>

#include "verbs/cmd.h"
#include "core/lib/die.h"

/* Capture the size that the kernel wrote into the attr, for the note after the result. */
static void note_size(struct judge_call *c, const struct judge_result *r)
{
	uint8_t head[8];

	if (!r->asked || r->trial.error != E2BIG || c->len < sizeof(head))
		return;
	memcpy(head, c->attr, sizeof(head));
	memcpy(head + 4, &r->trial.size, sizeof(r->trial.size));
	call_add_capture(&c->call, AT_SYSCALL_EXIT, c->call.args[0], sizeof(head), head,
			 sizeof(head));
}

/* Judge a call, make it and show the result; return the exit status. */
static int check_one(struct judge *k, struct judge_call *c)
{
	struct judge_result r;

	judge_ask(k, c, &r);
	note_size(c, &r);
	check_show(k, c, &r);
	c->opens = r.verdict == JUDGE_OPENS;
	return c->opens ? EXIT_YES : EXIT_NO;
}

static int check_run(void *state, const struct verb_args *args)
{
	static const struct judge_verb verb = {
		.name = "check", .does = "check", .one = check_one,
	};

	return judge_run(state, &verb, args);
}

static const struct verb_option options[] = {
	{ .name = "offline", .set = verb_set_true, .at = offsetof(struct judge, offline),
	  .help = "do not make the call" },
	{ 0 },
};

static const struct verb_group groups[] = {
	{ "Call", judge_options, 0, 0 },
	{ NULL, options, 0, 0 },
	{ "How to show it", options_json, JUDGE_OPTIONS, 0 },
	{ NULL, options_full, JUDGE_OPTIONS, 0 },
	{ NULL, options_plain, JUDGE_OPTIONS, 0 },
	{ 0 },
};

const struct verb check_verb = {
	.name = "check",
	.summary = "Show what the kernel answers to a perf_event_open, and why",
	.usage =
"check [OPTION]... ATTR\n"
"check [OPTION]... -e EVENT\n"
"check [OPTION]... DUMP:LINE",
	.about =
"Show what the kernel answers to a perf_event_open(2), and by which of its rules; then make "
"the call, close the event at once, and compare.\n"
"\n"
"ATTR is a struct perf_event_attr as for pevtrace decode --attr: bytes in hexadecimal, or "
"text of C, pevtrace, strace, perf -vv, perf evlist -v; @FILE or - for standard input; NULL "
"is the null pointer. DUMP:LINE is a call of a dump.",
	.notes =
"With -v, show the rules that the call passes, too. The exit status is 0 if the event "
"opens, 1 if it is refused or rules and kernel disagree, 2 on misuse and trouble.",
	.examples =
"pevtrace check -e cycles:k\n"
"pevtrace check -p 1 '{type=PERF_TYPE_SOFTWARE, config=0}'\n"
"pevtrace check dump.jsonl:7",
	.operand = "ATTR|DUMP:LINE",
	.groups = groups,
	.size = sizeof(struct judge),
	.init = judge_init,
	.run = check_run,
};
