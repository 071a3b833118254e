// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace why: find by experiment why a perf_event_open(2) is refused. */
#include "verbs/cmd.h"
#include "verbs/why/why.h"

static int why_one(struct judge *k, struct judge_call *c)
{
	const struct why_seen seen = { .times = 0 };

	return why_call(k, c, &seen);
}

static int why_run(void *state, const struct verb_args *args)
{
	static const struct judge_verb verb = {
		.name = "why", .does = "try", .of_refused = true, .one = why_one,
		.command = why_command,
	};

	return judge_run(state, &verb, args);
}

static const struct verb_group groups[] = {
	{ "Call", judge_options, 0, 0 },
	{ "How to show it", options_json, JUDGE_OPTIONS, 0 },
	{ NULL, options_full, JUDGE_OPTIONS, 0 },
	{ NULL, options_plain, JUDGE_OPTIONS, 0 },
	{ 0 },
};

const struct verb why_verb = {
	.name = "why",
	.summary = "Find by experiment why a perf_event_open is refused",
	.usage =
"why [OPTION]... ATTR\n"
"why [OPTION]... -e EVENT\n"
"why [OPTION]... DUMP:LINE\n"
"why [OPTION]... -- COMMAND [ARG]...",
	.about =
"Find out by experiment why a perf_event_open(2) is refused: make it again with one thing "
"changed at a time, then two, to find the smallest change with which it opens.\n"
"\n"
"ATTR is a struct perf_event_attr as for pevtrace check; DUMP:LINE is a call of a dump. A "
"COMMAND is traced, and each call that failed in it is examined.",
	.notes =
"The exit status is 0 if the cause was found, 1 if it was not, or if the call opens, 2 on "
"misuse and trouble.",
	.examples =
"pevtrace why -e cycles,precise_ip=3\n"
"pevtrace why -- perf record true",
	.operand = "ATTR|DUMP:LINE|COMMAND",
	.groups = groups,
	.size = sizeof(struct judge),
	.init = judge_init,
	.run = why_run,
};
