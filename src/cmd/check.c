// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace check: what the kernel says to a perf_event_open(2), and why. */
#include "cmd/check.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/attr_value.h"
#include "abi/layout.h"
#include "cmd/cmd.h"
#include "cmd/decode_one.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Where the attr lies in the memory of the call that is shown. */
#define AT 0x100000

/* The descriptor that the leader of --leader would have. */
enum { LEADER_FD = 3 };

enum { OPT_CGROUP = 256, OPT_COLOR, OPT_FLAGS, OPT_GROUP_FD, OPT_LEADER, OPT_OFFLINE };

static const char help[] =
"Usage: pevtrace check [OPTION]... ATTR\n"
"       pevtrace check [OPTION]... DUMP:LINE\n"
"Say what the kernel answers to a perf_event_open(2), and by which of its rules;\n"
"then make the call, close the event at once, and compare.\n"
"\n"
"ATTR is a struct perf_event_attr as pevtrace decode --attr takes it: bytes in\n"
"hexadecimal, or text of C, pevtrace, strace, perf -vv, perf evlist -v; @FILE or -\n"
"for standard input; NULL is the null pointer. DUMP:LINE is a call of a dump.\n"
"\n"
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

static const struct option long_options[] = {
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "color", optional_argument, NULL, OPT_COLOR },
	{ "cpu", required_argument, NULL, 'C' },
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

struct check {
	struct options options;
	const char *what, *leader, *cgroup;
	int32_t pid, cpu, group_fd;
	bool pid_given, cpu_given, flags_given;
	uint64_t flags;
	bool offline;
	struct machine machine;
	struct facts facts;
	struct showing out;
	uint32_t attr_size;	/* of the kernel, found out once; 0: not known */
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
		k->offline = true;
		break;
	}
}

static void check_options(struct check *k)
{
	if (!k->what)
		die("nothing to check: name an attr or DUMP:LINE; see pevtrace check --help");
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

static void parse(struct check *k, int argc, char **argv)
{
	int opt;

	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, "-:C:hjo:p:s:v", long_options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			fputs(help, stdout);
			exit(fflush(stdout) ? EXIT_TROUBLE : EXIT_YES);
		case ':':
			die("option '%s' needs an argument; see pevtrace check --help",
			    argv[optind - 1]);
		case '?':
			die("unknown option '%s'; see pevtrace check --help",
			    argv[optind - 1]);
		case 1:
			if (k->what)
				die("'%s' is one argument too many; check takes one attr, in "
				    "quotes where it has blanks", optarg);
			k->what = optarg;
			break;
		default:
			one_option(k, opt, optarg);
		}
	}
	if (optind < argc && !k->what)
		k->what = argv[optind++];
	if (optind < argc)
		die("'%s' is one argument too many; check takes one attr, in quotes where "
		    "it has blanks", argv[optind]);
	check_options(k);
}

/* Judging and asking ------------------------------------------------------------------ */

static struct rule_ask ask_of(const struct check *k, const struct check_call *c)
{
	return (struct rule_ask){
		.attr = c->len ? c->attr : NULL, .len = c->len,
		.pid = call_int(&c->call, 1), .cpu = call_int(&c->call, 2),
		.group_fd = call_int(&c->call, 3), .flags = c->call.args[4],
		.facts = &k->facts.rules,
	};
}

/* What can only be found out by opening events of our own. */
static void try_facts(struct check *k, const struct rule_ask *ask)
{
	struct rule_facts *f = &k->facts.rules;
	const struct layout *l = &layout_perf_event_attr;

	if (!k->attr_size)
		k->attr_size = trial_attr_size();
	f->machine.attr_size = k->attr_size;
	if (layout_get(l, ATTR_TYPE, ask->attr, ask->len) == PERF_TYPE_BREAKPOINT &&
	    !(ask->flags & PERF_FLAG_PID_CGROUP))
		f->target.breakpoint = trial_breakpoint(ask->pid, ask->cpu,
			layout_get(l, ATTR_BP_TYPE, ask->attr, ask->len));
}

static void find_facts(struct check *k, const struct check_call *c,
		       const struct rule_ask *ask, bool tries)
{
	struct rule_target *t = &k->facts.rules.target;

	facts_target(&k->facts, ask);
	if (c->group.event != FACT_UNKNOWN)
		t->group = c->group;
	if (c->from_dump && ask->flags & PERF_FLAG_PID_CGROUP && !k->cgroup)
		t->cgroup_dir = t->cgroup_perf = FACT_UNKNOWN;
	if (tries)
		try_facts(k, ask);
}

static enum check_verdict verdict(struct check_result *r)
{
	if (r->asked && r->trial.error != r->judged.error) {
		r->open = rules_explain(&r->judged, r->trial.error);
		return r->open ? CHECK_UNFORESEEN : CHECK_DISAGREEMENT;
	}
	return r->judged.error ? CHECK_REFUSED : CHECK_OPENS;
}

static void ask_kernel(const struct check *k, const struct check_call *c,
		       const struct rule_ask *ask, struct check_result *r)
{
	const struct trial_leader leader = {
		.attr = c->group.attr, .len = c->group.len, .pid = ask->pid,
		.cpu = c->group.cpu, .flags = ask->flags & PERF_FLAG_PID_CGROUP,
		.ring = c->group.ring == FACT_YES,
	};

	r->not_asked = k->offline ? "--offline" : c->not_here;
	if (r->not_asked)
		return;
	if (!trial_open(ask, c->open_leader ? &leader : NULL, &r->trial))
		r->not_asked = "there could be no child to make the call";
	else if (r->trial.leader_error)
		r->not_asked = "its group leader could not be opened here";
	r->asked = !r->not_asked;
}

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
	struct check_result r = { .asked = false };
	struct rule_ask ask;

	check_call_prepare(c, &k->machine.names);
	ask = ask_of(k, c);
	find_facts(k, c, &ask, !k->offline);
	rules_judge(&ask, &r.judged);
	ask_kernel(k, c, &ask, &r);
	r.verdict = verdict(&r);
	c->call.failed = r.asked ? r.trial.error : r.judged.error;
	c->call.ret = r.asked ? r.trial.error : r.judged.error;
	note_size(c, &r);
	check_show(&k->out, &k->machine, &k->facts, c, &r);
	return r.verdict == CHECK_OPENS ? EXIT_YES : EXIT_NO;
}

/* What to check ----------------------------------------------------------------------- */

static void take_attr(struct check_call *c, const struct attr_text *a)
{
	memcpy(c->label, a->label, sizeof(c->label));
	c->call.args[0] = AT;
	attr_text_capture(a, &c->call, AT);
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

static int check_attr(struct check *k, const struct attr_text *a,
		      const struct attr_text *leader)
{
	struct check_call *c = xmalloc(sizeof(*c));
	int status;

	check_call_init(c);
	if (a)
		take_attr(c, a);
	if (leader)
		join(k, c, leader);
	check_call_args(c, k->pid, k->cpu, leader ? LEADER_FD : k->group_fd, k->flags);
	status = check_one(k, c);
	check_call_free(c);
	free(c);
	return status;
}

/* The leader first, as a call of its own; the others only if it opens. */
static bool take_leader(struct check *k, struct attr_text *leader, int *status)
{
	if (!decode_one_single_attr(k->leader, "--leader", leader)) {
		*status = EXIT_TROUBLE;
		return false;
	}
	*status = check_attr(k, leader, NULL);
	return *status == EXIT_YES;
}

static int worse(int a, int b)
{
	return a > b ? a : b;
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
			return check_attr(k, &a, leader);
		warn("cannot read the attr: %s", cursor.why);
		return EXIT_TROUBLE;
	}
	attr_reader_init(&r, buf_str(text), text->len);
	for (; (got = attr_reader_next(&r, &a)) == ATTR_READ; n++)
		status = worse(status, check_attr(k, &a, leader));
	if (got == ATTR_BAD)
		warn("cannot read the attr: %s; check takes bytes, an attr as C, strace or "
		     "perf write it, or DUMP:LINE", r.in.why);
	else if (!n)
		warn("there is no attr in what check was given");
	return got == ATTR_BAD || !n ? EXIT_TROUBLE : status;
}

static int check_operand(struct check *k)
{
	struct attr_text leader;
	struct buf text = { 0 };
	int status = EXIT_YES;

	if (k->leader && !take_leader(k, &leader, &status))
		return status;
	if (!strcmp(k->what, "NULL"))
		return check_attr(k, NULL, k->leader ? &leader : NULL);
	status = EXIT_TROUBLE;
	if (decode_one_read(k->what, "check", &text))
		status = check_text(k, &text, k->leader ? &leader : NULL);
	buf_free(&text);
	return status;
}

/* "FILE:123", where there is such a file; its name for the caller to free. */
static char *dump_of(const char *what, unsigned long *line)
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

/*
 * The tasks of the dump are not there any more: what was asked of one is asked
 * of ourselves, or of -p.
 */
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
		pid = call_int(&c->call, 1);
		check_call_args(c, k->pid_given ? k->pid : pid > 0 ? 0 : pid,
				k->cpu_given ? k->cpu : call_int(&c->call, 2),
				call_int(&c->call, 3), flags);
		status = check_one(k, c);
	}
	check_call_free(c);
	free(c);
	return status;
}

int cmd_check(int argc, char **argv)
{
	struct check k = { .cpu = -1, .group_fd = -1, .options.text.max_string = 32 };
	unsigned long line = 0;
	char *path;
	int status;

	parse(&k, argc, argv);
	path = dump_of(k.what, &line);
	if (path && (k.leader || k.group_fd != -1))
		die("the group of a call in a dump is told there: no --leader, no --group-fd");
	if (!showing_open(&k.out, &k.options))
		return EXIT_TROUBLE;
	machine_open(&k.machine);
	facts_open(&k.facts, k.machine.host);
	status = path ? check_dump(&k, path, line) : check_operand(&k);
	facts_close(&k.facts);
	machine_close(&k.machine);
	free(path);
	if (k.cgroup)
		close(k.pid);
	return showing_close(&k.out) ? status : EXIT_TROUBLE;
}
