// SPDX-License-Identifier: LGPL-2.1-or-later
/* The command line of the verbs that take calls, and the calls that it names. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/attr_value.h"
#include "cmd/check.h"
#include "cmd/decode_one.h"
#include "host/event_syntax.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

/* The descriptor that the leader of --leader would have. */
enum { LEADER_FD = 3 };

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

/* Options ----------------------------------------------------------------------------- */

/* An int as the call takes it; may be negative. */
static int32_t int_of(const char *text, const char *option)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 0);
	if (end == text || *end || errno || v < INT_MIN || v > INT_MAX)
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
		k->events = arg;
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

static void parse(struct check *k, int argc, char **argv)
{
	int opt;

	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, "-:C:e:hjo:p:s:v", long_options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			fputs(k->verb->help, stdout);
			exit(fflush(stdout) ? EXIT_TROUBLE : EXIT_YES);
		case ':':
			die("option '%s' needs an argument; see pevtrace %s --help",
			    argv[optind - 1], k->verb->name);
		case '?':
			die("unknown option '%s'; see pevtrace %s --help",
			    argv[optind - 1], k->verb->name);
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

/* The calls ------------------------------------------------------------------------------ */

static void take_attr(struct check_call *c, const struct attr_text *a)
{
	memcpy(c->label, a->label, sizeof(c->label));
	c->call.args[0] = CHECK_ATTR_AT;
	attr_text_capture(a, &c->call, CHECK_ATTR_AT);
}

/* It is opened on the same task and CPU, so that only its attr can be at fault. */
static void join(const struct check *k, struct check_call *c, const struct attr_text *leader)
{
	memcpy(c->leader_attr, leader->bytes, leader->len);
	c->group = (struct rule_group){
		.event = FACT_YES, .alive = FACT_YES, .leads = FACT_YES,
		.same_task = FACT_YES, .same_cgroup = FACT_YES, .ring = FACT_NO,
		.attr = c->leader_attr, .len = leader->len, .cpu = k->cpu,
	};
	c->open_leader = true;
}

/* opened: NULL, or, of an attr that is to be the leader, whether it can be. */
static int check_attr(struct check *k, const struct attr_text *a,
		      const struct attr_text *leader, bool *opened)
{
	struct check_call *c = xmalloc(sizeof(*c));
	int status;

	check_call_init(c);
	c->leads = opened;
	if (a)
		take_attr(c, a);
	if (leader)
		join(k, c, leader);
	check_call_args(c, k->pid, k->cpu, leader ? LEADER_FD : k->group_fd, k->flags);
	status = k->verb->one(k, c);
	if (opened)
		*opened = c->opens;
	check_call_free(c);
	free(c);
	return status;
}

/* The leader first, as a call of its own; the others only if it opens. */
static bool take_leader(struct check *k, struct attr_text *leader, int *status)
{
	bool opened;

	if (!decode_one_single_attr(k->leader, "--leader", leader)) {
		*status = EXIT_TROUBLE;
		return false;
	}
	*status = check_attr(k, leader, NULL, &opened);
	return opened;
}

static int check_text(struct check *k, const struct buf *text, const struct attr_text *leader)
{
	struct text_cursor cursor = { .why = "" };
	struct attr_text a;
	struct attr_reader r;
	enum attr_read got = ATTR_END;
	int status = EXIT_YES;
	size_t n = 0;

	if (decode_one_binary(text)) {
		if (attr_text_bytes(&cursor, (const uint8_t *)text->data, text->len, &a))
			return check_attr(k, &a, leader, NULL);
		warn("cannot read the attr: %s", cursor.why);
		return EXIT_TROUBLE;
	}
	attr_reader_init(&r, buf_str(text), text->len);
	for (; (got = attr_reader_next(&r, &a)) == ATTR_READ; n++)
		status = check_worse(status, check_attr(k, &a, leader, NULL));
	if (got == ATTR_BAD)
		warn("cannot read the attr: %s; %s takes bytes, an attr as C, strace or "
		     "perf write it, or DUMP:LINE", r.in.why, k->verb->name);
	else if (!n)
		warn("there is no attr in what %s was given", k->verb->name);
	return got == ATTR_BAD || !n ? EXIT_TROUBLE : status;
}

/* A member of a group joins its leader, which is opened before. */
static int check_events(struct check *k, const struct attr_text *leader)
{
	struct event_list l = { 0 };
	int status = EXIT_YES;

	if (!event_list_add(&l, k->machine.host, k->events)) {
		warn("-e '%s': at character %zu: %s", k->events, l.at + 1, l.why);
		status = EXIT_TROUBLE;
	}
	for (size_t i = 0; i < l.n; i++) {
		const struct event_spec *e = &l.events[i];

		status = check_worse(status, check_attr(k, &e->attr, e->leader == i ? leader :
							&l.events[e->leader].attr, NULL));
	}
	event_list_free(&l);
	return status;
}

static int check_operand(struct check *k)
{
	struct attr_text leader;
	struct buf text = { 0 };
	int status = EXIT_YES;

	if (k->leader && !take_leader(k, &leader, &status))
		return status;
	if (k->events)
		return check_events(k, k->leader ? &leader : NULL);
	if (!strcmp(k->what, "NULL"))
		return check_attr(k, NULL, k->leader ? &leader : NULL, NULL);
	status = EXIT_TROUBLE;
	if (decode_one_read(k->what, k->verb->name, &text))
		status = check_text(k, &text, k->leader ? &leader : NULL);
	buf_free(&text);
	return status;
}

char *check_dump_of(const char *what, unsigned long *line)
{
	const char *colon = strrchr(what, ':');
	char *path, *end;

	if (!colon || colon[1] < '0' || colon[1] > '9')
		return NULL;
	*line = strtoul(colon + 1, &end, 10);
	path = xstrdup(what);
	path[colon - what] = '\0';
	if (!*end && !access(path, F_OK))
		return path;
	free(path);
	return NULL;
}

/* With what was given beside it. */
static int check_dump(struct check *k, const char *path, unsigned long line)
{
	struct check_call *c = xmalloc(sizeof(*c));
	int status = EXIT_TROUBLE;
	uint64_t flags;
	int32_t pid;

	check_call_init(c);
	if (check_call_of_dump(c, path, line)) {
		flags = k->flags_given ? k->flags : c->call.args[4];
		if (k->cgroup) {
			c->not_here = NULL;
			flags |= PERF_FLAG_PID_CGROUP;
		}
		pid = check_pid_here(c);
		check_call_args(c, k->pid_given ? k->pid : pid,
				k->cpu_given ? k->cpu : call_int(&c->call, 2),
				call_int(&c->call, 3), flags);
		status = k->verb->one(k, c);
	}
	check_call_free(c);
	free(c);
	return status;
}

int check_run(const struct check_verb *verb, int argc, char **argv)
{
	struct check k = {
		.verb = verb, .cpu = -1, .group_fd = -1, .options.text.max_string = 32,
	};
	unsigned long line = 0;
	char *path = NULL;
	int status;

	parse(&k, argc, argv);
	if (k.what)
		path = check_dump_of(k.what, &line);
	if (path && (k.leader || k.group_fd != -1))
		die("the group of a call in a dump is told there: no --leader, no --group-fd");
	if (!showing_open(&k.out, &k.options))
		return EXIT_TROUBLE;
	machine_open(&k.machine);
	facts_open(&k.facts, k.machine.host);
	status = k.command ? verb->command(&k) :
		 path ? check_dump(&k, path, line) : check_operand(&k);
	facts_close(&k.facts);
	machine_close(&k.machine);
	free(path);
	if (k.cgroup)
		close(k.pid);
	return showing_close(&k.out) ? status : EXIT_TROUBLE;
}
