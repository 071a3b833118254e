// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/die.h"

#define AT(member) offsetof(struct options, member)

/* Setters ------------------------------------------------------------------------- */

static void set_json(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)opt;
	o->json = true;
	o->json_path = arg;
}

static void set_clock(void *to, const char *arg, const struct verb_option *opt)
{
	struct text_options *t = to;

	(void)arg, (void)opt;
	if (t->clock < CLOCK_EPOCH)
		t->clock++;
}

static void set_symbols(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)arg, (void)opt;
	o->symbols = o->records = true;
}

static void set_count(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)arg, (void)opt;
	o->count = o->summary = true;
}

static void set_follow(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)arg, (void)opt;
	o->separate = o->follow;
	o->follow = true;
}

static void options_set_quiet(void *to, const char *arg, const struct verb_option *opt)
{
	(void)arg, (void)opt;
	++*(int *)to;
}

static void set_trace(void *to, const char *arg, const struct verb_option *opt)
{
	(void)opt;
	selection_trace(to, arg);
}

static void set_status(void *to, const char *arg, const struct verb_option *opt)
{
	(void)opt;
	selection_status(to, arg);
}

static void set_signal(void *to, const char *arg, const struct verb_option *opt)
{
	(void)opt;
	selection_signal(to, arg);
}

void options_set_color(void *to, const char *arg, const struct verb_option *opt)
{
	static const enum color_when when[] = { COLOR_ALWAYS, COLOR_NEVER, COLOR_AUTO };

	*(enum color_when *)to = arg ? when[verb_word(arg, opt)] : COLOR_ALWAYS;
}

void options_set_pids(void *to, const char *arg, const struct verb_option *opt)
{
	char *copy = xstrdup(arg), *save, *word;
	struct options *o = to;

	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		o->pids = xrealloc(o->pids, (o->npids + 1) * sizeof(*o->pids));
		o->pids[o->npids++] = (pid_t)verb_number(word, opt->name, 1, 1 << 22);
	}
	if (!arg[strspn(arg, ", ")])
		die("--%s requires a PID, not '%s'", opt->name, arg);
	free(copy);
}

/* Tables -------------------------------------------------------------------------- */

#define COLOR								\
	{ .name = "color", .arg = "WHEN", .optional = true, .words = "always never auto", \
	  .help = "color the output", .set = options_set_color, .at = AT(color) }

const struct verb_option options_plain[] = {
	{ .name = "output", .key = 'o', .arg = "FILE", .set = verb_set_text, .at = AT(output),
	  .help = "write to FILE instead of standard output" },
	COLOR,
	{ 0 },
};

const struct verb_option options_log[] = {
	{ .name = "output", .key = 'o', .arg = "FILE", .set = verb_set_text, .at = AT(output),
	  .help = "write to FILE instead of standard error" },
	COLOR,
	{ 0 },
};

const struct verb_option options_json[] = {
	{ .name = "json", .key = 'j', .set = verb_set_true, .at = AT(json),
	  .help = "write JSON, one object per line" },
	{ 0 },
};

const struct verb_option options_dump[] = {
	{ .name = "json", .key = 'j', .optional = true, .arg = "FILE", .set = set_json,
	  .help = "write a dump (JSON Lines) instead of text, to -o or standard output; with "
		  "FILE write it there, beside the text" },
	{ 0 },
};

#define FULL(string_limit)						\
	{ .name = "no-abbrev", .key = 'v', .set = verb_set_true, .at = AT(text.full), \
	  .help = "show every member of a structure, zero or not" },	\
	{ .name = "string-limit", .key = 's', .arg = "N", .set = verb_set_size, \
	  .at = AT(text.max_string), .most = 1 << 20,			\
	  .help = "show up to N bytes of a string (default " string_limit ")" }

const struct verb_option options_full[] = { FULL("32"), { 0 } };
const struct verb_option options_full_strings[] = { FULL("4096"), { 0 } };

const struct verb_option options_calls[] = {
	{ .name = "trace", .arg = "SET", .set = set_trace, .at = AT(select),
	  .help = "show these calls: names, %open %ioctl %memory %poll %read %desc %pass "
		  "%process, all, none, or perf, the calls that concern perf" },
	{ .name = "decode-fds", .key = 'y', .set = verb_set_true, .at = AT(text.labels),
	  .help = "show the event behind each descriptor: 5<cpu-clock cpu0>" },
	{ .name = "symbols", .set = set_symbols,
	  .help = "show records with the functions at their addresses" },
	{ 0 },
};

const struct verb_option options_times[] = {
	{ .name = "absolute-timestamps", .key = 't', .set = set_clock, .at = AT(text),
	  .help = "show the time of day; -tt: with microseconds, -ttt: since the epoch" },
	{ .name = "relative-timestamps", .key = 'r', .set = verb_set_true,
	  .at = AT(text.relative), .help = "show the time since the previous line" },
	{ .name = "syscall-times", .key = 'T', .set = verb_set_true, .at = AT(text.duration),
	  .help = "show the time spent in each call" },
	{ 0 },
};

const struct verb_option options_session[] = {
	{ .name = "status", .arg = "STATUS", .set = set_status, .at = AT(select),
	  .words = SELECT_STATUSES, .help = "show calls with these outcomes" },
	{ .name = "signal", .arg = "SIGNAL", .set = set_signal, .at = AT(select),
	  .help = "show these signals of tasks that use perf (default all)" },
	{ .name = "stack-traces", .key = 'k', .set = verb_set_true, .at = AT(stacks),
	  .help = "show the stack of each call" },
	{ .name = "records", .set = verb_set_true, .at = AT(records),
	  .help = "show the records in the ring buffers" },
	{ .name = "summary", .set = verb_set_true, .at = AT(summary),
	  .help = "at the end, show every event: its group and ring, how it was enabled and "
		  "read, and what it counted" },
	{ .name = "summary-only", .key = 'c', .set = set_count,
	  .help = "show no calls, but the summary and a table of calls, errors and times" },
	{ 0 },
};

const struct verb_option options_files[] = {
	{ .name = "follow-forks", .key = 'f', .set = set_follow,
	  .help = "accepted for compatibility with strace: children are always followed" },
	{ .name = "output-separately", .set = verb_set_true, .at = AT(separate),
	  .help = "with -o, write a file for each task, FILE.PID; also -ff" },
	{ .name = "quiet", .key = 'q', .set = options_set_quiet, .at = AT(text.quiet),
	  .help = "show no messages about attaching or an empty trace; -qq: nor about exits" },
	{ 0 },
};

const struct verb_option options_keep_going[] = {
	{ .name = "keep-going", .set = verb_set_true, .at = AT(keep_going),
	  .help = "skip lines that cannot be read" },
	{ 0 },
};

/* After the last option ----------------------------------------------------------- */

bool color_wanted(enum color_when when, bool terminal)
{
	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	return terminal && !getenv("NO_COLOR");
}

void options_init(struct options *o)
{
	*o = (struct options){ .text.max_string = 32, .story.level = STORY_NORMAL };
	selection_init(&o->select);
	o->text.status = o->select.status;
}

void options_finish(struct options *o)
{
	bool dump_only = o->json && !o->json_path;

	o->text.status = o->select.status;
	o->keep = o->keep || o->summary || o->explain;
	if (o->separate && (!o->output || !strcmp(o->output, "-")))
		die("-ff requires a file name: add -o FILE");
	if (o->separate && o->keep)
		die("-ff cannot be combined with -c, --explain or --summary, which cover all "
		    "tasks");
	if (o->separate && dump_only)
		die("-ff cannot be combined with --json, as a dump is one file; use --json=FILE");
	if (o->output && o->json_path && !strcmp(o->output, o->json_path))
		die("text and dump cannot both go to '%s': name two files", o->output);
	if ((o->count || o->explain) && dump_only)
		die("%s cannot be combined with --json; use --json=FILE",
		    o->count ? "-c" : "--explain");
}

void options_free(struct options *o)
{
	free(o->pids);
	injections_free(o->inject);
}
