// SPDX-License-Identifier: LGPL-2.1-or-later
/* The command line of verbs that judge calls. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/attr_value.h"
#include "verbs/judge/judge.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

/* Return the int in text, which may be negative. */
static int32_t int_of(const char *text, const struct verb_option *o)
{
	int64_t v;

	if (!scan_signed(text, SCAN_C, INT32_MIN, INT32_MAX, &v))
		die("%s requires a number, not '%s'", o->typed, text);
	return (int32_t)v;
}

static void set_flags(void *to, const char *arg, const struct verb_option *o)
{
	struct text_cursor c = { .at = arg, .end = arg + strlen(arg) };
	struct judge *k = to;

	if (!value_read(&c, &xlat_perf_event_open_flags, &k->flags))
		die("%s requires names of PERF_FLAG_ or a number, not '%s': %s", o->typed, arg,
		    c.why);
	k->flags_given = true;
}

static void judge_set_event(void *to, const char *arg, const struct verb_option *o)
{
	struct judge *k = to;

	(void)o;
	k->events = xrealloc(k->events, (k->nevents + 1) * sizeof(*k->events));
	k->events[k->nevents++] = arg;
}

static void set_pid(void *to, const char *arg, const struct verb_option *o)
{
	struct judge *k = to;

	k->pid = int_of(arg, o);
	k->pid_given = true;
}

static void set_cpu(void *to, const char *arg, const struct verb_option *o)
{
	struct judge *k = to;

	k->cpu = int_of(arg, o);
	k->cpu_given = true;
}

static void set_group_fd(void *to, const char *arg, const struct verb_option *o)
{
	((struct judge *)to)->group_fd = int_of(arg, o);
}

#define AT(member) offsetof(struct judge, member)

const struct verb_option judge_options[] = {
	{ .name = "event", .key = 'e', .arg = "EVENT", .set = judge_set_event,
	  .help = "name events: cycles:u, sched:sched_switch, cpu-clock,sample_freq=999 (see "
		  "pevtrace(1), EVENT SYNTAX); {a,b} is a group; repeatable" },
	{ .name = "pid", .key = 'p', .arg = "PID", .set = set_pid,
	  .help = "measure this task; 0, the default, is pevtrace itself, -1 all" },
	{ .name = "cpu", .key = 'C', .arg = "CPU", .set = set_cpu,
	  .help = "measure on this CPU; -1, the default, is any" },
	{ .name = "cgroup", .arg = "CGROUP", .set = verb_set_text, .at = AT(cgroup),
	  .help = "measure the tasks of that cgroup directory, instead of -p" },
	{ .name = "group-fd", .arg = "FD", .set = set_group_fd,
	  .help = "join the group of an event that pevtrace inherited as FD" },
	{ .name = "leader", .arg = "ATTR", .set = verb_set_text, .at = AT(leader),
	  .help = "open ATTR first, and the rest as members of its group" },
	{ .name = "flags", .arg = "FLAGS", .set = set_flags,
	  .help = "pass these PERF_FLAG_ names, or that number" },
	{ 0 },
};

void judge_init(void *state)
{
	struct judge *k = state;

	k->cpu = k->group_fd = -1;
	options_init(&k->options);
}

static void validate(struct judge *k)
{
	if (!k->what && !k->command && !k->events)
		die("nothing to %s: name an attr, DUMP:LINE or -e EVENT; see pevtrace %s "
		    "--help", k->verb->does, k->verb->name);
	if (k->events && (k->what || k->command))
		die("-e cannot be combined with an attr, DUMP:LINE or a command");
	if (k->leader && k->group_fd != -1)
		die("--leader and --group-fd are mutually exclusive");
	if (k->cgroup && k->pid_given)
		die("--cgroup and -p are mutually exclusive");
	if (k->cgroup) {
		k->pid = open(k->cgroup, O_RDONLY | O_CLOEXEC);
		if (k->pid < 0)
			die("cannot open '%s' for --cgroup: %s", k->cgroup, strerror(errno));
		k->pid_given = true;
		k->flags |= PERF_FLAG_PID_CGROUP;
	}
}

void judge_take_args(struct judge *k, const struct verb_args *args)
{
	if (k->verb->command && !args->before && args->n) {
		k->command = args->words;
		if (k->pid_given || k->cpu_given || k->flags_given || k->leader ||
		    k->group_fd != -1 || k->cgroup)
			die("-p, -C, --cgroup, --group-fd, --leader and --flags cannot be "
			    "combined with a command");
	} else if (args->n > 1) {
		die("%s: unexpected argument '%s'; quote an attr that contains blanks",
		    k->verb->name, args->words[1]);
	} else {
		k->what = args->words[0];
	}
	validate(k);
}
