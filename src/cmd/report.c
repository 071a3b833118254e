// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace report DUMP: a dump as one page for a browser, or for Perfetto. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/input.h"
#include "cli/options.h"
#include "cmd/cmd.h"
#include "lib/die.h"
#include "report/chrome.h"
#include "report/report.h"

enum { MAX_CALLS = 200000 };

struct reporting {
	struct options options;
	size_t max_calls;
	bool chrome;
};

#define AT(member) offsetof(struct reporting, member)

static void report_set_format(void *to, const char *arg, const struct verb_option *o)
{
	*(bool *)to = verb_word(arg, o);
}

static const struct verb_option options[] = {
	{ .name = "format", .arg = "FORMAT", .words = "html chrome", .set = report_set_format,
	  .at = AT(chrome),
	  .help = "write a page, or trace events for ui.perfetto.dev and chrome://tracing" },
	{ .name = "calls", .arg = "N", .set = verb_set_size, .at = AT(max_calls), .least = 1,
	  .most = INT_MAX, .help = "show the first N calls on the page (default 200000)" },
	{ .name = "output", .key = 'o', .arg = "FILE", .set = verb_set_text,
	  .at = AT(options.output), .help = "write to FILE instead of standard output" },
	{ 0 },
};

static void report_init(void *state)
{
	struct reporting *g = state;

	options_init(&g->options);
	g->max_calls = MAX_CALLS;
}

static bool report_views(struct reporting *g, struct reader *r, const char *path,
			 struct output *out)
{
	const struct report_about about = {
		.reader = r, .dump = path, .max_calls = g->max_calls,
	};
	const struct session_setup setup = {
		.source = reader_names(r), .keep = true,
	};
	struct session s;
	bool whole;

	session_start(&s, &setup, reader_facts(r));
	session_add_view(&s, g->chrome ? chrome_view_new(&s.names, reader_facts(r), out) :
					 report_view_new(&about, s.model, &s.names, out));
	whole = reader_run(r, &s);
	session_end(&s);
	return whole;
}

static int report_file(struct reporting *g, FILE *f, const char *path)
{
	struct reader *r = reader_open(f, path, g->options.keep_going);
	struct output *out = NULL;
	bool ok = false;

	if (r)
		out = output_open(g->options.output, STDOUT_FILENO, OUTPUT_ONE);
	if (out) {
		ok = report_views(g, r, path, out);
		ok = output_close(out) && ok;
	}
	if (r)
		reader_close(r);
	return ok ? EXIT_YES : EXIT_TROUBLE;
}

static int report_run(void *state, const struct verb_args *args)
{
	struct reporting *g = state;
	const char *path;
	int status;
	FILE *f;

	verb_want(args, 1);
	f = input_open(args->words[0], &path);
	status = input_has_calls(f, path) ? report_file(g, f, path) : EXIT_TROUBLE;
	input_close(f);
	options_free(&g->options);
	return status;
}

static const struct verb_group groups[] = {
	{ "Output", options, 0, 0 },
	{ "Input", options_keep_going, AT(options), 0 },
	{ 0 },
};

const struct verb report_verb = {
	.name = "report",
	.summary = "Show a dump as an HTML page, or in Perfetto",
	.usage = "report [OPTION]... DUMP",
	.about =
"Write a dump of pevtrace --json=DUMP as one HTML page, which needs no network and no "
"server: a timeline of tasks and events, the graph of events and rings, the members of each "
"attr, what failed and why, and every call.",
	.notes =
"A DUMP of - is standard input. The exit status is 0, or 2 on misuse and trouble.",
	.examples =
"pevtrace report -o page.html dump.jsonl\n"
"pevtrace report --format=chrome -o trace.json dump.jsonl",
	.operand = "DUMP",
	.groups = groups,
	.size = sizeof(struct reporting),
	.init = report_init,
	.run = report_run,
};
