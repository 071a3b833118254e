// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace check: what the kernel says to a perf_event_open(2), and why. */
#include "cmd/check.h"

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
"  -e, --event=EVENT       an event by name: cycles:u, sched:sched_switch,\n"
"                          cpu-clock,sample_freq=999 (see pevtrace(1), OPENING\n"
"                          EVENTS); {a,b} is a group\n"
"  -p, --pid=PID           the task: 0, the default, is pevtrace itself, -1 all\n"
"  -C, --cpu=CPU           the CPU: -1, the default, is any\n"
"      --cgroup=DIR        that cgroup's tasks, in place of -p\n"
"      --group-fd=FD       an event that pevtrace has inherited as FD\n"
"      --leader=ATTR       open ATTR first, and this as a member of its group\n"
"      --flags=FLAGS       PERF_FLAG_ names or a number\n"
"      --offline           do not make the call\n"
"\n"
"  -j, --json              as JSON, one object a line\n"
"  -v, --no-abbrev         every field, and the rules that were passed\n"
"  -s, --string-limit=N    bytes of a string to show (default 32)\n"
"  -o, --output=FILE       write there, not to standard output\n"
"      --color[=WHEN]      always, never or auto\n"
"  -h, --help              print this help\n"
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
	call_add_capture(&c->call, AT_EXIT, c->call.args[0], sizeof(head), head,
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
