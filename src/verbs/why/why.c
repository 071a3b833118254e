// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace why: find by the rules, and by experiment, why a perf_event_open(2) is refused. */
#include "verbs/why/why.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/abi/attr_member.h"
#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "verbs/cmd.h"
#include "verbs/measure/refusal.h"

/* Options --------------------------------------------------------------------------- */

static void set_flags(void *to, const char *arg, const struct verb_option *o)
{
	struct text_cursor c = { .at = arg, .end = arg + strlen(arg) };
	struct why *k = to;

	if (!value_read(&c, &xlat_perf_event_open_flags, &k->flags))
		die("%s requires PERF_FLAG_ names or a number, not '%s': %s", o->typed, arg,
		    c.why);
	k->flags_given = true;
}

#define AT(member) offsetof(struct why, member)

static const struct verb_option call_options[] = {
	{ .name = "event", .key = 'e', .arg = "EVENT", .set = options_set_event,
	  .at = AT(events),
	  .help = "name events: cycles:u, sched:sched_switch, cpu-clock,sample_freq=999 (see "
		  "pevtrace(1), EVENT SYNTAX); {a,b} is a group; repeatable" },
	{ .name = "pid", .key = 'p', .arg = "PID", .set = verb_set_signed, .at = AT(pid),
	  .help = "measure this task; 0, the default, is pevtrace itself, -1 all" },
	{ .name = "all-cpus", .key = 'a', .set = verb_set_true, .at = AT(all),
	  .help = "measure all tasks of a CPU: of CPU 0, unless -C names another" },
	{ .name = "cpu", .key = 'C', .arg = "CPU", .set = verb_set_signed, .at = AT(cpu),
	  .help = "measure on this CPU; -1, the default, is any" },
	{ .name = "cgroup", .arg = "CGROUP", .set = verb_set_text, .at = AT(cgroup),
	  .help = "measure the tasks of that cgroup directory, instead of -p" },
	{ .name = "group-fd", .arg = "FD", .set = verb_set_signed, .at = AT(group_fd),
	  .help = "join the group of an event that pevtrace inherited as FD" },
	{ .name = "leader", .arg = "ATTR", .set = verb_set_text, .at = AT(leader),
	  .help = "open ATTR first, and the rest as members of its group" },
	{ .name = "flags", .arg = "FLAGS", .set = set_flags,
	  .help = "pass these PERF_FLAG_ names, or that number" },
	{ 0 },
};

static const struct verb_option trial_options[] = {
	{ .name = "rules-only", .set = verb_set_true, .at = AT(rules_only),
	  .help = "make no call: show what the kernel's rules say of it" },
	{ .name = "once", .set = verb_set_true, .at = AT(once),
	  .help = "make the call once, and compare the result with the rules" },
	{ 0 },
};

static const struct verb_option quiet_option[] = {
	{ .name = "quiet", .key = 'q', .set = verb_set_true, .at = AT(quiet),
	  .help = "show only the cause, the fix and the verdict" },
	{ 0 },
};

enum { OPTIONS = offsetof(struct why, options), NOT_GIVEN = INT32_MIN };

static void why_init(void *state)
{
	struct why *k = state;

	k->pid = k->cpu = NOT_GIVEN;
	k->group_fd = -1;
	options_init(&k->options);
}

/* The command line ------------------------------------------------------------------ */

/* Take the operands; die unless they and the options go together. */
static void take_args(struct why *k, const struct verb_args *args)
{
	if (args->command) {
		k->command = args->command;
		verb_want(args, 1);
		if (k->rules_only || k->once)
			die("--rules-only and --once cannot be combined with a command");
	} else if (args->n > 1 && !program_is(args->words[0])) {
		die("why: unexpected argument '%s'; quote an attr that contains blanks",
		    args->words[1]);
	} else {
		if (args->n > 1)
			verb_want(args, 1);
		k->what = args->words[0];
		k->kind = k->what && strcmp(k->what, "-") ? input_file_kind(k->what) : INPUT_NONE;
		if (k->kind != INPUT_NONE)
			input_check(args, k->what, k->kind, NULL);
	}
	k->pid_given = k->pid != NOT_GIVEN;
	k->pid = k->pid_given ? k->pid : 0;
	k->cpu_given = k->cpu != NOT_GIVEN;
	k->cpu = k->cpu_given ? k->cpu : -1;
	if ((k->command || k->kind == INPUT_DUMP) &&
	    (k->pid_given || k->all || k->cpu_given || k->flags_given || k->leader ||
	     k->group_fd != -1 || k->cgroup))
		die("-p, -a, -C, --cgroup, --group-fd, --leader and --flags cannot be "
		    "combined with a command or a dump");
	if (!k->what && !k->command && !k->events.n)
		die("nothing to %s: name an event, an attr, a dump, DUMP:LINE or -- COMMAND; see "
		    "pevtrace why --help", k->rules_only || k->once ? "check" : "try");
	if (k->options.machine && strcmp(k->options.machine, MACHINE_HERE) && k->once)
		die("--machine and --once are mutually exclusive: another machine cannot be asked");
	k->elsewhere = k->options.machine && strcmp(k->options.machine, MACHINE_HERE);
	k->rules_only |= k->elsewhere;
	if (k->events.n && (k->what || k->command))
		die("-e cannot be combined with an attr, DUMP:LINE or a command");
	if (k->leader && k->group_fd != -1)
		die("--leader and --group-fd are mutually exclusive");
	if (k->rules_only && k->once)
		die("--rules-only and --once are mutually exclusive");
	if (k->all && k->pid_given)
		die("-a and -p are mutually exclusive");
	if (k->cgroup && (k->pid_given || k->all))
		die("--cgroup and -%c are mutually exclusive", k->all ? 'a' : 'p');
	if (k->all) {
		k->pid = -1;
		k->pid_given = true;
		k->cpu = k->cpu_given ? k->cpu : 0;
		k->cpu_given = true;
	}
	if (k->cgroup) {
		k->pid = open(k->cgroup, O_RDONLY | O_CLOEXEC);
		if (k->pid < 0)
			die("cannot open '%s' for --cgroup: %s", k->cgroup, strerror(errno));
		k->pid_given = true;
		k->flags |= PERF_FLAG_PID_CGROUP;
	}
}

static int why_run(void *state, const struct verb_args *args)
{
	struct why *k = state;
	unsigned long line = 0;
	char *path = NULL;
	int status = EXIT_TROUBLE;

	k->args = args;
	take_args(k, args);
	if (k->what && k->kind == INPUT_NONE)
		path = why_dump_of(k->what, &line);
	if (path && (k->leader || k->group_fd != -1))
		die("--leader and --group-fd cannot be combined with DUMP:LINE");
	if (args->all)	/* else learn runs this, which has warned */
		mounts_warn_facts();
	/* do not raise the limits of a command */
	if (!k->command && k->kind != INPUT_DUMP && !k->rules_only &&
	    !descriptors_want(WHY_DESCRIPTORS))
		refusal_descriptors("why", WHY_DESCRIPTORS);
	else
		status = why_answer_all(k, path, line);
	if (k->cgroup)
		close(k->pid);
	free(k->events.texts);
	free(path);
	return status;
}

static const struct verb_group groups[] = {
	{ "Call", call_options, 0, 0 },
	{ "What to try", trial_options, 0, 0 },
	{ NULL, options_machine, OPTIONS, 0 },
	{ "How to show it", options_json, OPTIONS, 0 },
	{ NULL, options_full, OPTIONS, 0 },
	{ NULL, quiet_option, 0, 0 },
	{ NULL, options_plain, OPTIONS, 0 },
	{ 0 },
};

const struct verb why_verb = {
	.name = "why",
	.summary = "Find out why a perf_event_open is refused",
	.usage =
"why [OPTION]... EVENT | ATTR | LOG | DUMP | DUMP:LINE\n"
"why [OPTION]... -e EVENT\n"
"why [OPTION]... -- COMMAND [ARG]...",
	.about =
"Find out by experiment why a perf_event_open(2) is refused: make it again with one thing "
"changed at a time, then two, to find the smallest change with which it opens. With "
"--rules-only, make no call, and show by which of its rules the kernel refuses it; with --once, "
"make it once, close the event at once, and compare.\n"
"\n"
"ATTR is a struct perf_event_attr as for pevtrace decode --attr: bytes, or text of strace, perf, "
"gdb, bpftrace, C, Go, Rust, Python or pevtrace; @FILE or - for standard input; NULL "
"is the null pointer. DUMP:LINE is a call of a dump. A COMMAND is traced, and each call that "
"failed in it, or in a DUMP, is examined.",
	.notes =
"With --rules-only and --once, -v shows the rules that the call passes, too.\n"
"\n"
"The exit status is 0 if the cause was found, 1 if it was not, or if the call opens, 2 on "
"misuse and trouble; with --rules-only and --once 0 if the event opens, 1 if it is refused or "
"rules and kernel disagree, 2 also if a fact that decides it cannot be read.",
	.examples =
"pevtrace why cycles:ppp\n"
"pevtrace why --rules-only -e cycles:k\n"
"pevtrace why -- perf record true",
	.operand = "ATTR|EVENT|DUMP|DUMP:LINE|LOG|COMMAND",
	.groups = groups,
	.size = sizeof(struct why),
	.init = why_init,
	.run = why_run,
};
