// SPDX-License-Identifier: LGPL-2.1-or-later
/* The command line of the verbs that take calls. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr_value.h"
#include "cmd/check/check.h"
#include "lib/die.h"
#include "lib/scan_text.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

enum { OPT_CGROUP = 256, OPT_COLOR, OPT_FLAGS, OPT_GROUP_FD, OPT_LEADER, OPT_OFFLINE };

static const struct option long_options[] = {
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "color", optional_argument, NULL, OPT_COLOR },
	{ "cpu", required_argument, NULL, 'C' },
	{ "event", required_argument, NULL, 'e' },
	{ "flags", required_argument, NULL, OPT_FLAGS },
	{ "group-fd", required_argument, NULL, OPT_GROUP_FD },
	{ "help", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },
	{ "leader", required_argument, NULL, OPT_LEADER },
	{ "no-abbrev", no_argument, NULL, 'v' },
	{ "offline", no_argument, NULL, OPT_OFFLINE },
	{ "output", required_argument, NULL, 'o' },
	{ "pid", required_argument, NULL, 'p' },
	{ "string-limit", required_argument, NULL, 's' },
	{ NULL, 0, NULL, 0 },
};

/* An int as the call takes it; may be negative. */
static int32_t int_of(const char *text, const char *option)
{
	int64_t v;

	if (!scan_signed(text, SCAN_C, INT32_MIN, INT32_MAX, &v))
		die("%s needs a number, not '%s'", option, text);
	return (int32_t)v;
}

static uint64_t flags_of(const char *text)
{
	struct text_cursor c = { .at = text, .end = text + strlen(text) };
	uint64_t v;

	if (!value_read(&c, &xlat_perf_event_open_flags, &v))
		die("--flags needs names of PERF_FLAG_ or a number, not '%s': %s", text,
		    c.why);
	return v;
}

static void one_option(struct check *k, int opt, const char *arg)
{
	switch (opt) {
	case 'C':
		k->cpu = int_of(arg, "-C");
		k->cpu_given = true;
		break;
	case 'e':
		k->events = xrealloc(k->events, (k->nevents + 1) * sizeof(*k->events));
		k->events[k->nevents++] = arg;
		break;
	case 'j':
		k->options.json = true;
		break;
	case 'o':
		k->options.output = arg;
		break;
	case 'p':
		k->pid = int_of(arg, "-p");
		k->pid_given = true;
		break;
	case 's':
		k->options.text.max_string = (size_t)option_number(arg, "-s", 0, 1 << 20);
		break;
	case 'v':
		k->options.text.full = true;
		break;
	case OPT_CGROUP:
		k->cgroup = arg;
		break;
	case OPT_COLOR:
		k->options.color = option_color(arg);
		break;
	case OPT_FLAGS:
		k->flags = flags_of(arg);
		k->flags_given = true;
		break;
	case OPT_GROUP_FD:
		k->group_fd = int_of(arg, "--group-fd");
		break;
	case OPT_LEADER:
		k->leader = arg;
		break;
	case OPT_OFFLINE:
		if (!k->verb->offline)
			die("--offline is for pevtrace check: %s finds out by trying",
			    k->verb->name);
		k->offline = true;
		break;
	}
}

static void validate(struct check *k)
{
	if (!k->what && !k->command && !k->events)
		die("nothing to %s: name an attr, DUMP:LINE or -e EVENT; see pevtrace %s "
		    "--help", k->verb->does, k->verb->name);
	if (k->events && (k->what || k->command))
		die("-e says what to %s: nothing else with it", k->verb->does);
	if (k->leader && k->group_fd != -1)
		die("--leader opens the event that --group-fd would name: give one of them");
	if (k->cgroup && k->pid_given)
		die("--cgroup and -p do not go together: a cgroup takes the pid's place");
	if (k->cgroup) {
		k->pid = open(k->cgroup, O_RDONLY | O_CLOEXEC);
		if (k->pid < 0)
			die("cannot open '%s' for --cgroup: %s", k->cgroup, strerror(errno));
		k->pid_given = true;
		k->flags |= PERF_FLAG_PID_CGROUP;
	}
}

static _Noreturn void die_of_more(const struct check *k, const char *arg)
{
	die("'%s' is one argument too many; %s takes one attr, in quotes where it has "
	    "blanks", arg, k->verb->name);
}

/* What is left once the options are over: they end at --. */
static void rest(struct check *k, int argc, char **argv)
{
	bool ended = optind > 1 && !strcmp(argv[optind - 1], "--");

	if (optind < argc && k->verb->command && ended && !k->what) {
		k->command = argv + optind;
		if (k->pid_given || k->cpu_given || k->flags_given || k->leader ||
		    k->group_fd != -1 || k->cgroup)
			die("a command says itself what it opens: no -p, -C, --cgroup, "
			    "--group-fd, --leader or --flags with it");
		return;
	}
	if (optind < argc && !k->what)
		k->what = argv[optind++];
	if (optind < argc)
		die_of_more(k, argv[optind]);
}

void check_parse(struct check *k, int argc, char **argv)
{
	int opt;

	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, "-:C:e:hjo:p:s:v", long_options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			options_say(k->verb->help);
		case ':':
		case '?':
			options_wrong(opt, argv, k->verb->name);
		case 1:
			if (k->what)
				die_of_more(k, optarg);
			k->what = optarg;
			break;
		default:
			one_option(k, opt, optarg);
		}
	}
	rest(k, argc, argv);
	validate(k);
}
