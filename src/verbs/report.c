// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace report DUMP: a dump as one page for a browser, for Perfetto, or for perf. */
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "formats/perfdata/perfout.h"
#include "formats/report/report.h"
#include "verbs/cli/input.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/options.h"
#include "verbs/cmd.h"

enum { MAX_CALLS = 200000 };

struct reporting {
	struct options options;
	size_t max_calls;
	enum report_format { FORMAT_HTML, FORMAT_CHROME, FORMAT_PERF_DATA } format;
};

#define AT(member) offsetof(struct reporting, member)

static void report_set_format(void *to, const char *arg, const struct verb_option *o)
{
	*(enum report_format *)to = (enum report_format)verb_word(arg, o);
}

static const struct verb_option options[] = {
	{ .name = "format", .arg = "FORMAT", .words = "html chrome perf-data",
	  .set = report_set_format, .at = AT(format),
	  .help = "write a page; trace events for ui.perfetto.dev and chrome://tracing; or the "
		  "records in the dump as a perf.data file" },
	{ .name = "calls", .arg = "N", .set = verb_set_size, .at = AT(max_calls), .least = 1,
	  .most = INT_MAX, .help = "show the first N calls on the page (default 200000)" },
	{ .name = "output", .key = 'o', .arg = "FILE", .set = verb_set_text,
	  .at = AT(options.output), .help = "write to FILE instead of standard output, or, where "
		  "that is a terminal, of DUMP.html" },
	{ 0 },
};

/* Append the first paragraph of the explanation: who measured what, and what became of it. */
static void report_summary(void *ctx, struct buf *out)
{
	const struct story_options o = { .kernel = false };
	struct buf text = { 0 };
	const char *line, *next;
	struct prose p;

	prose_init(&p, &text, 0);
	story_write(ctx, &o, &p);
	prose_free(&p);
	line = buf_str(&text);
	next = strchr(line, '\n');
	if (next && next[1] == '-' && next[2] == '-') /* that was a heading */
		line = next + 2 + strspn(next + 1, "-");
	line += strspn(line, "- ");
	buf_add(out, line, strcspn(line, "\n"));
	buf_free(&text);
}

static bool report_dump(const struct reporting *g, struct reader *r, const char *path,
			struct output *text, struct perfout *perf_data)
{
	struct machine machine;
	struct buf words = { 0 };
	struct report_about about = {
		.reader = r, .dump = path,
		.max_calls = g->max_calls ? g->max_calls : MAX_CALLS, .summary = report_summary,
	};
	const char *release = reader_facts(r)->release;
	const struct session_setup setup = {
		.source = reader_names(r), .keep = true,
	};
	struct session s;
	struct view *v, *story = NULL;
	bool whole;

	reader_progress(r);
	machine_open_file(&machine, g->options.machine);
	machine_add_words(&machine, &words);
	about.machine = buf_str(&words);
	session_start(&s, &setup, reader_facts(r));
	s.names.machine = machine.names.machine;
	if (perf_data) {
		model_keep_few(s.model);
		v = perfout_view_new(perf_data, reader_facts(r), s.model, &s.names, false);
	} else if (g->format == FORMAT_CHROME) {
		v = chrome_view_new(&s.names, reader_facts(r), text);
	} else {
		story = story_view_new(s.model, &s.names, reader_facts(r)->arch,
				       release ? release_read(&release) : 0);
		about.summary_ctx = story;
		v = report_view_new(&about, s.model, &s.names, text);
	}
	session_add_view(&s, v);
	if (story) /* freed after the page, which it tells the summary */
		session_add_view(&s, story);
	whole = reader_run(r, &s);
	if (perf_data && reader_stopped(r))
		perfout_cut_short(perf_data);
	session_end(&s);
	machine_close(&machine);
	buf_free(&words);
	return whole;
}

/*
 * Append where a page goes that would else go to a terminal: beside the dump.  Return false after a
 * warn() if there is another file.
 */
static bool report_beside(const char *dump, struct buf *page)
{
	struct stat s;

	if (!strcmp(dump, "-")) {
		warn("standard output is a terminal: write the page to a file with -o");
		return false;
	}
	/* a name that begins with | would be a command */
	buf_addf(page, "%s%s.html", output_is_command(dump) ? "./" : "", dump);
	if (stat(buf_str(page), &s) || (S_ISREG(s.st_mode) && report_is_page(buf_str(page))))
		return true;
	warn("'%s' was not written by pevtrace: write the page to another file with -o",
	     buf_str(page));
	return false;
}

static int report_run(void *state, const struct verb_args *args)
{
	struct reporting *g = state;
	const char *to = g->options.output, *path;
	bool beside = !to && g->format == FORMAT_HTML && isatty(STDOUT_FILENO);
	struct buf page = { 0 };
	struct output *text = NULL;
	struct perfout *perf_data = NULL;
	struct reader *r = NULL;
	struct stat in, out;
	bool ok = false;
	FILE *f;

	verb_want(args, 1);
	if (beside && !report_beside(args->n ? args->words[0] : "-", &page)) {
		buf_free(&page);
		return EXIT_TROUBLE;
	}
	to = beside ? buf_str(&page) : to;
	f = input_session(args, 0, true, !to || !strcmp(to, "-"), &path);
	r = reader_open(f, path, g->options.keep_going);
	if (r && to && !fstat(fileno(f), &in) && !stat(to, &out) && S_ISREG(in.st_mode) &&
	    in.st_dev == out.st_dev && in.st_ino == out.st_ino)
		warn("'%s' is the dump: write to another file with -o", to);
	else if (r && g->format == FORMAT_PERF_DATA)
		perf_data = perfout_open(to ? to : "-");
	else if (r)
		text = output_open(to, STDOUT_FILENO, OUTPUT_ONE, CREATE_PUBLIC);
	if (text || perf_data)
		ok = report_dump(g, r, path, text, perf_data);
	if (perf_data)
		ok = perfout_close(perf_data) && ok;
	if (text && !output_close(text))
		ok = false;
	else if (text && beside)
		warn("wrote '%s'", to);
	buf_free(&page);
	if (r)
		reader_close(r);
	input_close(f);
	options_free(&g->options);
	return ok ? EXIT_YES : EXIT_TROUBLE;
}

static const struct verb_group groups[] = {
	{ "Output", options, 0, 0 },
	{ "Input", options_keep_going, AT(options), 0 },
	{ NULL, options_machine, AT(options), 0 },
	{ 0 },
};

const struct verb report_verb = {
	.name = "report",
	.summary = "Show a dump as an HTML page, in Perfetto, or in perf",
	.usage = "report [OPTION]... DUMP\n"
		 "report [OPTION]... -- COMMAND [ARG]...",
	.about =
"Write a dump of pevtrace --json=DUMP, or the trace of a COMMAND with its records, as one "
"HTML page, which needs no network and no server: a timeline of tasks and events, the graph of "
"events and rings, the members of each "
"attr, what failed and why, and every call.",
	.notes =
"A DUMP of - is standard input. The exit status is 0, or 2 on misuse and trouble.",
	.examples =
"pevtrace report dump.jsonl\n"
"pevtrace report -o page.html dump.jsonl\n"
"pevtrace report -o page.html -- perf record -e cpu-clock true\n"
"pevtrace report --format=chrome -o trace.json dump.jsonl\n"
"pevtrace report --format=perf-data -o perf.data dump.jsonl",
	.operand = "DUMP|COMMAND",
	.groups = groups,
	.size = sizeof(struct reporting),
	.init = options_init,
	.run = report_run,
};
