// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/die.h"
#include "lib/scan_text.h"

/* Long options without a short one. */
enum {
	OPT_STATUS = OPTIONS_OWN, OPT_SIGNAL, OPT_NO_SECCOMP, OPT_RECORDS, OPT_SUMMARY,
	OPT_LOOK_EVERY, OPT_KEEP_GOING, OPT_AS_KERNEL, OPT_EXPLAIN,
};

static const char help[] =
"Usage: pevtrace [OPTION]... COMMAND [ARG]...\n"
"       pevtrace trace [OPTION]... COMMAND [ARG]...\n"
"       pevtrace [OPTION]... -p PID\n"
"       pevtrace decode [OPTION]... DUMP|perf.data\n"
"       pevtrace diff [OPTION]... DUMP DUMP\n"
"       pevtrace check [OPTION]... ATTR|DUMP:LINE\n"
"       pevtrace open -e EVENTS [OPTION]... [COMMAND [ARG]...]\n"
"       pevtrace watch [OPTION]... [COMMAND [ARG]...]\n"
"       pevtrace codegen [OPTION]... DUMP\n"
"       pevtrace explain [OPTION]... WORD|DUMP|DUMP:LINE\n"
"       pevtrace features [OPTION]... [KIND|NAME]...\n"
"       pevtrace conform [OPTION]...\n"
"       pevtrace why [OPTION]... ATTR|DUMP:LINE|-- COMMAND [ARG]...\n"
"       pevtrace replay [OPTION]... DUMP\n"
"       pevtrace learn [OPTION]... [LESSON]...\n"
"       pevtrace report [OPTION]... DUMP\n"
"Show what a program asks of perf_event_open(2), and what became of it.\n"
"\n"
"What to trace:\n"
"  -p, --attach=PID           a running process with its threads; repeatable\n"
"  -f, --follow-forks         follow new processes and threads (always done)\n"
"  -b, --detach-on=execve     let go of children that run another program\n"
"      --no-seccomp           stop at all calls, without a seccomp filter\n"
"\n"
"What to do to it:\n"
"  -e inject=SET:DO[:when=W]  DO: error=E retval=N delay_enter=T delay_exit=T\n"
"                             signal=S; W: a count, or a condition such as\n"
"                             'precise_ip>0'\n"
"      --as-kernel=RELEASE    refuse what that older kernel would have refused\n"
"\n"
"What to show:\n"
"  -e, --expr=EXPR            trace=SET, status=SET or signal=SET, see below, or\n"
"                             inject=, see above\n"
"      --trace=SET            calls: names, %open %ioctl %memory %poll %read\n"
"                             %desc %pass %process, all; default perf: the\n"
"                             calls that concern perf\n"
"      --status=SET           outcomes: successful failed unfinished\n"
"                             unavailable detached; default all\n"
"      --signal=SET           signals of tasks that use perf; default all\n"
"  -v, --no-abbrev            every field, zero or not\n"
"  -s, --string-limit=N       bytes of a string to show (default 32)\n"
"  -y, --decode-fds           what descriptors are: 5<cpu-clock cpu0>\n"
"  -k, --stack-traces         the stack behind each call\n"
"      --records              the records in the ring buffers\n"
"      --symbols              the functions at the addresses in records\n"
"      --look-every=MS        look into the rings that often, too\n"
"      --summary              at the end: every event, its group and ring, how\n"
"                             it was started, read, and what it counted\n"
"      --explain[=HOW]        no calls: their story in English, at the end; HOW\n"
"                             is brief, deep or kernel, see pevtrace-explain(1)\n"
"  -c, --summary-only         no calls: the summary, and a table of calls,\n"
"                             errors and times\n"
"\n"
"How to show it:\n"
"  -o, --output=FILE          write there, not to standard error\n"
"  -j, --json[=FILE]          a dump (JSON Lines) instead of text, to -o or\n"
"                             standard output; with FILE beside the text\n"
"      --keep-going           decode: pass over lines that cannot be read\n"
"  -ff, --output-separately   with -o: a file for each task, FILE.PID\n"
"  -t, --absolute-timestamps  time of day; -tt with microseconds, -ttt since\n"
"                             the epoch\n"
"  -r, --relative-timestamps  time since the line before\n"
"  -T, --syscall-times        time spent in each call\n"
"  -q, --quiet                no messages on attaching; -qq no exits either\n"
"      --color[=WHEN]         always, never or auto\n"
"  -h, --help                 print this help\n"
"  -V, --version              print the version\n"
"\n"
"decode also takes single things (an attr, an ioctl, records, a config, an\n"
"error); the other verbs have options of their own: see their --help, and\n"
"pevtrace-VERB(1).\n"
"\n"
"A SET is a list with commas; ! before it turns it round. The exit status is\n"
"COMMAND's own; 2 if pevtrace itself was misused or got into trouble.\n";

static const struct option long_options[] = {
	OPTIONS_SHOW_LONG,
	{ "as-kernel", required_argument, NULL, OPT_AS_KERNEL },
	{ "attach", required_argument, NULL, 'p' },
	{ "detach-on", required_argument, NULL, 'b' },
	{ "explain", optional_argument, NULL, OPT_EXPLAIN },
	{ "expr", required_argument, NULL, 'e' },
	{ "follow-forks", no_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ "keep-going", no_argument, NULL, OPT_KEEP_GOING },
	{ "look-every", required_argument, NULL, OPT_LOOK_EVERY },
	{ "no-seccomp", no_argument, NULL, OPT_NO_SECCOMP },
	{ "output-separately", no_argument, NULL, 'F' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "records", no_argument, NULL, OPT_RECORDS },
	{ "signal", required_argument, NULL, OPT_SIGNAL },
	{ "stack-traces", no_argument, NULL, 'k' },
	{ "status", required_argument, NULL, OPT_STATUS },
	{ "summary", no_argument, NULL, OPT_SUMMARY },
	{ "summary-only", no_argument, NULL, 'c' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

void options_say(const char *text)
{
	fputs(text, stdout);
	if (fflush(stdout))
		die("cannot write to standard output: %s", strerror(errno));
	exit(EXIT_YES);
}

void options_wrong(int opt, char *const *argv, const char *verb)
{
	const char *word = argv[optind - 1], *space = verb ? " " : "";

	verb = verb ? verb : "";
	if (opt == ':')
		die("option '%s' needs an argument; see pevtrace%s%s --help", word, space, verb);
	if (optopt && optopt < OPTIONS_FIRST)
		die("unknown option '-%c'; see pevtrace%s%s --help", optopt, space, verb);
	die("unknown option '%s'; see pevtrace%s%s --help", word, space, verb);
}

long option_number(const char *text, const char *option, long least, long most)
{
	uint64_t n;

	if (!scan_whole(text, SCAN_DECIMAL, (uint64_t)least, (uint64_t)most, &n))
		die("%s needs a number from %ld to %ld, not '%s'", option, least,
		    most, text);
	return (long)n;
}

void options_pids(struct options *o, const char *list)
{
	char *copy = xstrdup(list), *save, *word;

	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		o->pids = xrealloc(o->pids, (o->npids + 1) * sizeof(*o->pids));
		o->pids[o->npids++] = (pid_t)option_number(word, "-p", 1, 1 << 22);
	}
	free(copy);
}

enum color_when option_color(const char *word)
{
	if (!word || !strcmp(word, "always"))
		return COLOR_ALWAYS;
	if (!strcmp(word, "never"))
		return COLOR_NEVER;
	if (strcmp(word, "auto"))
		die("--color takes always, never or auto, not '%s'", word);
	return COLOR_AUTO;
}

bool color_wanted(enum color_when when, bool terminal)
{
	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	return terminal && !getenv("NO_COLOR");
}

bool options_show(struct options *o, int opt, const char *arg)
{
	switch (opt) {
	case 'j':
		o->json = true;
		o->json_path = arg;
		return true;
	case 'o':
		o->output = arg;
		return true;
	case 'r':
		o->text.relative = true;
		return true;
	case 's':
		o->text.max_string = (size_t)option_number(arg, "-s", 0, 1 << 20);
		return true;
	case 't':
		if (o->text.clock < CLOCK_EPOCH)
			o->text.clock++;
		return true;
	case 'T':
		o->text.duration = true;
		return true;
	case 'v':
		o->text.full = true;
		return true;
	case 'y':
		o->text.labels = true;
		return true;
	case OPTIONS_COLOR:
		o->color = option_color(arg);
		return true;
	case OPTIONS_SYMBOLS:
		o->symbols = o->records = true;
		return true;
	case OPTIONS_SET:
		selection_trace(&o->select, arg);
		return true;
	default:
		return false;
	}
}

void options_explain(struct options *o, const char *words)
{
	char *copy = xstrdup(words ? words : ""), *save, *word;

	o->explain = true;
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (!strcmp(word, "brief"))
			o->story.level = STORY_BRIEF;
		else if (!strcmp(word, "deep"))
			o->story.level = STORY_DEEP;
		else if (!strcmp(word, "kernel"))
			o->story.kernel = true;
		else
			die("--explain takes brief, deep and kernel, not '%s'", word);
	}
	free(copy);
}

static void one_option(struct options *o, int opt, const char *arg, int *forks)
{
	if (options_show(o, opt, arg))
		return;
	switch (opt) {
	case 'b':
		if (strcmp(arg, "execve"))
			die("-b takes execve, not '%s'", arg);
		o->detach_on_exec = true;
		break;
	case 'c':
		o->count = o->summary = true;
		break;
	case 'e':
		if (!strncmp(arg, "inject=", 7))
			injections_add(&o->inject, arg + 7);
		else
			selection_parse(&o->select, arg);
		break;
	case 'f':
		++*forks;
		break;
	case 'F':
		*forks = 2;
		break;
	case OPT_AS_KERNEL:
		injections_as_kernel(&o->inject, arg);
		break;
	case OPT_EXPLAIN:
		options_explain(o, arg);
		break;
	case OPT_KEEP_GOING:
		o->keep_going = true;
		break;
	case 'k':
		o->stacks = true;
		break;
	case 'p':
		options_pids(o, arg);
		break;
	case 'q':
		o->text.quiet++;
		break;
	case OPT_NO_SECCOMP:
		o->no_seccomp = true;
		break;
	case OPT_LOOK_EVERY:
		o->look_ms = (unsigned int)option_number(arg, "--look-every", 1, 3600000);
		break;
	case OPT_RECORDS:
		o->records = true;
		break;
	case OPT_SUMMARY:
		o->summary = true;
		break;
	case OPT_SIGNAL:
		selection_signal(&o->select, arg);
		break;
	case OPT_STATUS:
		selection_status(&o->select, arg);
		break;
	}
}

static void check_trace(const struct options *o)
{
	if (!o->argv && !o->npids)
		die("nothing to trace: name a command, or a process with -p; see "
		    "pevtrace --help");
	if (o->argv && o->npids)
		die("a command and -p do not go together; run pevtrace twice");
	if (o->keep_going)
		die("--keep-going is for pevtrace decode");
	if (o->look_ms && !o->records && !o->keep)
		die("--look-every needs something to look for: add --records, --explain or "
		    "--summary");
}

static void check_decode(struct options *o)
{
	if (!o->argv)
		die("nothing to decode: name a dump or a perf.data file, or - for standard input; see "
		    "pevtrace --help");
	else if (o->argv[1])
		die("decode takes one dump, and '%s' is another", o->argv[1]);
	if (o->npids || o->look_ms || o->no_seccomp || o->detach_on_exec || o->inject)
		die("-p, -b, --look-every, --no-seccomp, -e inject= and --as-kernel are for "
		    "tracing, not for a dump");
	o->to_stdout = true;
}

void options_check_show(const struct options *o)
{
	if (o->output && o->json_path && !strcmp(o->output, o->json_path))
		die("text and dump cannot both go to '%s': name two files", o->output);
}

static void check(const struct options *o)
{
	if (o->separate && (!o->output || !strcmp(o->output, "-")))
		die("-ff needs a file name: add -o FILE");
	if (o->separate && o->keep)
		die("-ff does not go with -c, --explain or --summary: these speak of all tasks");
	if (o->separate && o->json && !o->json_path)
		die("-ff does not go with --json: a dump is one file; "
		    "--json=FILE writes it beside the text");
	options_check_show(o);
	if ((o->count || o->explain) && o->json && !o->json_path)
		die("%s does not go with --json, which prints no %s; --json=FILE writes the dump "
		    "beside it", o->count ? "-c" : "--explain", o->count ? "tables" : "story");
}

void options_init(struct options *o)
{
	*o = (struct options){ .text.max_string = 32, .story.level = STORY_NORMAL };
	selection_init(&o->select);
	o->text.status = o->select.status;
}

void options_parse(struct options *o, enum options_of of, int argc, char **argv)
{
	int opt, forks = 0;

	options_init(o);
	opterr = 0; /* messages in our own form */
	optind = 1;
	while ((opt = getopt_long(argc, argv, "+:b:ce:fhkp:qV" OPTIONS_SHOW_SHORT,
				  long_options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			options_say(help);
		case 'V':
			options_say(PACKAGE_STRING "\n");
		case ':':
		case '?':
			options_wrong(opt, argv, NULL);
		default:
			one_option(o, opt, optarg, &forks);
		}
	}
	o->separate = forks > 1;
	o->text.status = o->select.status;
	o->keep = o->summary || o->explain;
	if (optind < argc)
		o->argv = argv + optind;
	check(o);
	if (of == OPTIONS_TRACE)
		check_trace(o);
	else
		check_decode(o);
}

void options_free(struct options *o)
{
	free(o->pids);
	injections_free(o->inject);
}
