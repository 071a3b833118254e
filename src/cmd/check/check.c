// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace check: what the kernel says to a perf_event_open(2), and why. */
#include "cmd/check/check.h"

#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/die.h"

static const char help[] =
"Usage: pevtrace check [OPTION]... ATTR\n"
"       pevtrace check [OPTION]... -e EVENT\n"
"       pevtrace check [OPTION]... DUMP:LINE\n"
"Say what the kernel answers to a perf_event_open(2), and by which of its rules;\n"
"then make the call, close the event at once, and compare.\n"
"\n"
"ATTR is a struct perf_event_attr as pevtrace decode --attr takes it: bytes in\n"
"hexadecimal, or text of C, pevtrace, strace, perf -vv, perf evlist -v; @FILE or -\n"
"for standard input; NULL is the null pointer. DUMP:LINE is a call of a dump.\n"
"\n"
CHECK_HELP
"      --offline           do not make the call\n"
"\n"
"  -j, --json              as JSON, one object a line\n"
"  -v, --no-abbrev         every field, and the rules that were passed\n"
CHECK_HELP_SHOW
"\n"
"The exit status is 0 where the event opens, 1 where it is refused or rules and\n"
"kernel disagree, 2 on misuse and trouble.\n";

/* The size that the kernel wrote into the attr, for the note behind the result. */
static void note_size(struct check_call *c, const struct check_result *r)
{
	uint8_t head[8];

	if (!r->asked || r->trial.error != E2BIG || c->len < sizeof(head))
		return;
	memcpy(head, c->attr, sizeof(head));
	memcpy(head + 4, &r->trial.size, sizeof(r->trial.size));
	call_add_capture(&c->call, AT_SYSCALL_EXIT, c->call.args[0], sizeof(head), head,
			 sizeof(head));
}

/* Judges, asks and shows; the exit status. */
static int check_one(struct check *k, struct check_call *c)
{
	struct check_result r;

	check_ask(k, c, &r);
	note_size(c, &r);
	check_show(&k->out, &k->machine, &k->facts, c, &r);
	c->opens = r.verdict == CHECK_OPENS;
	return c->opens ? EXIT_YES : EXIT_NO;
}

static const struct check_verb verb = {
	.name = "check", .does = "check", .help = help, .offline = true, .one = check_one,
};

int cmd_check(int argc, char **argv)
{
	return check_run(&verb, argc, argv);
}
