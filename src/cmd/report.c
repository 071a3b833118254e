// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace report DUMP: a dump as one page for a browser, or for Perfetto. */
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/input.h"
#include "cmd/cmd.h"
#include "lib/die.h"
#include "report/chrome.h"
#include "report/report.h"
#include "session/retell.h"

enum { OPT_CALLS = 256, OPT_FORMAT, OPT_KEEP_GOING, MAX_CALLS = 200000 };

static const char help[] =
"Usage: pevtrace report [OPTION]... DUMP\n"
"Show a dump that pevtrace --json=DUMP has recorded as one HTML page, which needs\n"
"no network and no server: a timeline of tasks and events, the graph of events and\n"
"rings, the fields of each attr, what failed and why, and every call.\n"
"\n"
"  -o, --output=FILE     write to FILE, not to standard output\n"
"      --format=FORMAT   html, or chrome: trace events, which ui.perfetto.dev and\n"
"                        chrome://tracing open\n"
"      --calls=N         html: the first N calls only; 200000 unless told\n"
"      --keep-going      pass over lines that cannot be read\n"
"  -h, --help            print this help\n"
"  -V, --version         print the version\n"
"\n"
"A DUMP of - is standard input. The exit status is 0, or 2 on misuse and trouble.\n";

static const struct option long_options[] = {
	{ "calls", required_argument, NULL, OPT_CALLS },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "help", no_argument, NULL, 'h' },
	{ "keep-going", no_argument, NULL, OPT_KEEP_GOING },
	{ "output", required_argument, NULL, 'o' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

struct reporting {
	struct options options;
	size_t max_calls;
	bool chrome;
};

static bool is_chrome(const char *format)
{
	if (strcmp(format, "html") && strcmp(format, "chrome"))
		die("--format takes html or chrome, not '%s'", format);
	return !strcmp(format, "chrome");
}

static void one_option(struct reporting *g, int opt, const char *arg, char **argv)
{
	switch (opt) {
	case 'h':
		options_say(help);
	case 'V':
		options_say(PACKAGE_STRING "\n");
	case 'o':
		g->options.output = arg;
		break;
	case OPT_CALLS:
		g->max_calls = (size_t)option_number(arg, "--calls", 1, INT_MAX);
		break;
	case OPT_FORMAT:
		g->chrome = is_chrome(arg);
		break;
	case OPT_KEEP_GOING:
		g->options.keep_going = true;
		break;
	default:
		options_wrong(opt, argv, "report");
	}
}

static const char *parse(struct reporting *g, int argc, char **argv)
{
	int opt;

	options_init(&g->options);
	g->options.no_text = g->options.keep = true;
	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, ":ho:V", long_options, NULL)) != -1)
		one_option(g, opt, optarg, argv);
	if (argc - optind != 1)
		die("pevtrace report takes one dump, not %d; see pevtrace report --help",
		    argc - optind);
	return argv[optind];
}

static bool tell(struct reporting *g, struct reader *r, const char *path, struct output *out)
{
	const struct report_about about = {
		.replay = r, .dump = path, .max_calls = g->max_calls,
	};
	struct session s;
	bool whole;

	if (!retell_start(&s, &g->options, r))
		return false;
	session_add_view(&s, g->chrome ? chrome_view_new(&s.names, reader_facts(r), out) :
					 report_view_new(&about, s.model, &s.names, out));
	whole = retell(&s, r);
	return session_end(&s) && whole;
}

static int report(struct reporting *g, FILE *f, const char *path)
{
	struct reader *r = reader_open(f, path, g->options.keep_going);
	struct output *out = NULL;
	bool ok = false;

	if (r)
		out = output_open(g->options.output, STDOUT_FILENO, false);
	if (out) {
		ok = tell(g, r, path, out);
		ok = output_close(out) && ok;
	}
	if (r)
		reader_close(r);
	return ok ? EXIT_YES : EXIT_TROUBLE;
}

int cmd_report(int argc, char **argv)
{
	struct reporting g = { .max_calls = MAX_CALLS };
	const char *path = parse(&g, argc, argv);
	FILE *f = input_open(path, &path);
	int status = input_has_calls(f, path) ? report(&g, f, path) : EXIT_TROUBLE;

	input_close(f);
	options_free(&g.options);
	return status;
}
