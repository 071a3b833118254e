// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/options.h"

#include <stdlib.h>

#include "core/lib/die.h"
#include "core/lib/pager.h"

/* Arguments that are words of strace's ------------------------------------------------ */

/* Call add for each word of a list; a leading ! is passed to it as not. */
static void each(const char *list, const struct verb_option *opt, struct options *o,
		 void (*add)(struct options *o, unsigned int word, bool not))
{
	bool not = *list == '!';
	char *copy = xstrdup(list + not), *save, *word = strtok_r(copy, ",", &save);

	if (!word)
		verb_word("", opt);
	for (; word; word = strtok_r(NULL, ",", &save))
		add(o, verb_word(word, opt), not);
	free(copy);
}

static const char precisions[] = "s ms us ns";

static unsigned int precision(const char *arg, const struct verb_option *opt)
{
	return arg ? 3 * verb_word(arg, opt) : 6;
}

static void set_time(void *to, const char *arg, const struct verb_option *opt)
{
	*(struct text_time *)to = (struct text_time){ true, precision(arg, opt) };
}

/* Skip a prefix of word; return whether it was there. */
static bool skip_word(const char **word, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*word, prefix, len))
		return false;
	*word += len;
	return true;
}

/* Without an argument each further -t shows more; else [format:]FORMAT,[precision:]PRECISION. */
static void set_clock(void *to, const char *arg, const struct verb_option *opt)
{
	const struct verb_option digits = { .typed = opt->typed, .words = precisions };
	struct text_options *t = &((struct options *)to)->text;
	char *copy = xstrdup(arg ? arg : ""), *save;
	const char *word = strtok_r(copy, ",", &save);

	if (t->clock == CLOCK_OFF)
		t->clock = CLOCK_TIME;
	else if (!arg && !t->clock_digits)
		t->clock_digits = 6;
	else if (!arg)
		t->clock = CLOCK_UNIX;
	for (; word; word = strtok_r(NULL, ",", &save)) {
		bool exact = skip_word(&word, "precision:");

		if (exact || (!skip_word(&word, "format:") && strlen(word) <= 2))
			t->clock_digits = precision(word, &digits);
		else
			t->clock = verb_word(word, opt);
	}
	free(copy);
}

static void set_hex(void *to, const char *arg, const struct verb_option *opt)
{
	struct text_options *t = &((struct options *)to)->text;

	(void)arg, (void)opt;
	t->hex = t->hex == HEX_NEVER ? HEX_NON_ASCII : HEX_ALL;
}

static void set_hex_words(void *to, const char *arg, const struct verb_option *opt)
{
	static const enum text_hex hex[] = {
		HEX_NEVER, HEX_NON_ASCII_CHARS, HEX_NON_ASCII, HEX_ALL,
	};
	struct options *o = to;

	o->text.hex = arg ? hex[verb_word(arg, opt)] : HEX_ALL;
}

static void add_quiet(struct options *o, unsigned int word, bool not)
{
	/* in the order of the option's words; pevtrace has no messages of two kinds */
	static const unsigned int messages[] = {
		QUIET_ATTACH, QUIET_EXIT, QUIET_SUPERSEDED, 0, 0, QUIET_ALL, 0,
	};

	if (not)
		o->text.quiet &= ~messages[word];
	else
		o->text.quiet |= messages[word];
}

static void set_quiet(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;
	unsigned int *quiet = &o->text.quiet;

	if (arg) {
		*quiet = *arg == '!' ? QUIET_ALL : 0;
		each(arg, opt, o, add_quiet);
	} else if (!(*quiet & QUIET_ATTACH)) {
		*quiet |= QUIET_ATTACH;
	} else {
		*quiet |= *quiet & QUIET_EXIT ? QUIET_ALL : QUIET_EXIT;
	}
}

#define LABELS "path all none"

static void add_label(struct options *o, unsigned int word, bool not)
{
	if (word > 2)
		die("--decode-fds: pevtrace names the events behind descriptors, not other files; "
		    "use path or all, or strace");
	o->text.labels = (word < 2) != not;
}

static void set_labels(void *to, const char *arg, const struct verb_option *opt)
{
	struct verb_option known = *opt;
	struct options *o = to;

	known.words = LABELS " dev eventfd pidfd signalfd socket";
	each(arg ? arg : "path", &known, o, add_label);
}

static void set_sort(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	o->counts_by = opt->typed;
	o->counts.sort = (enum count_sort)verb_word(arg, opt);
}

static void add_column(struct options *o, unsigned int word, bool not)
{
	struct call_counts_form *f = &o->counts;

	if (not)
		die("--summary-columns lists what to show; it cannot be negated");
	for (size_t i = 0; i < f->ncolumns; i++)
		if (f->columns[i] == word)
			die("--summary-columns: a column is named twice");
	f->columns[f->ncolumns++] = (enum count_column)word;
}

static void set_columns(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	o->counts_by = opt->typed;
	o->counts.ncolumns = 0;
	each(arg, opt, o, add_column);
	for (size_t i = 0; i < o->counts.ncolumns; i++)
		if (o->counts.columns[i] == COUNT_NAME)
			return;
	o->counts.columns[o->counts.ncolumns++] = COUNT_NAME;
}

#define AT(member) offsetof(struct options, member)

/* Other setters ------------------------------------------------------------------- */

static void set_json(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)opt;
	o->json = true;
	o->json_path = arg;
}

/* -c: show the tables in place of the calls; -C: beside them. */
static void set_count(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)arg;
	o->table = o->summary = true;
	*(opt->key == 'c' ? &o->count : &o->beside) = true;
}

static void set_outcome(void *to, const char *arg, const struct verb_option *opt)
{
	struct selection *s = to;

	(void)arg;
	if (s->outcome && s->outcome != opt->key)
		warn("only the last of -z and -Z takes effect; --status= shows several outcomes");
	s->outcome = opt->key;
	s->status = opt->key == 'z' ? STATUS_SUCCESSFUL : STATUS_FAILED;
}

static void set_nothing(void *to, const char *arg, const struct verb_option *opt)
{
	(void)to, (void)arg, (void)opt;
}

static void set_follow(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	(void)opt;
	o->follow += !arg;
}

static void set_width(void *to, const char *arg, const struct verb_option *opt)
{
	struct options *o = to;

	if (*arg && arg[strspn(arg, "0123456789")] && strcmp(arg, "full"))
		die("--width requires a number of columns or full, not '%s'", arg);
	o->text.any_width = !strcmp(arg, "full");
	o->text.width = o->text.any_width ? 0 : (unsigned int)verb_number(arg, opt, 20, 10000);
}

void options_set_choice(void *to, const char *arg, const struct verb_option *opt)
{
	static const enum choice when[] = { CHOICE_ALWAYS, CHOICE_NEVER, CHOICE_AUTO };

	*(enum choice *)to = arg ? when[verb_word(arg, opt)] : CHOICE_ALWAYS;
}

void options_set_pids(void *to, const char *arg, const struct verb_option *opt)
{
	static const char pid_ends[] = ", \t\n"; /* pidof and pgrep print such lists */
	char *copy = xstrdup(arg), *save, *word;
	struct options *o = to;

	for (word = strtok_r(copy, pid_ends, &save); word;
	     word = strtok_r(NULL, pid_ends, &save)) {
		size_t i = 0;
		pid_t pid;

		if (!scan_is_digit(*word))
			die("%s requires a PID, not '%s'; pidof(1) finds those of a name",
			    opt->typed, word);
		pid = (pid_t)verb_number(word, opt, 1, 1 << 22);

		/* a process may be named several times */
		while (i < o->npids && o->pids[i] != pid)
			i++;
		if (i < o->npids)
			continue;
		APPEND(o->pids, o->npids) = pid;
	}
	if (!arg[strspn(arg, pid_ends)])
		die("%s requires a PID, not '%s'", opt->typed, arg);
	free(copy);
}

void options_set_event(void *to, const char *arg, const struct verb_option *opt)
{
	struct event_texts *e = to;

	(void)opt;
	APPEND(e->texts, e->n) = arg;
}

void options_read_events(struct event_texts *e, struct host *h, struct event_list *list)
{
	for (size_t i = 0; i < e->n; i++)
		if (!event_list_add(list, h, e->texts[i]))
			die("-e '%s': at character %zu: %s", e->texts[i], list->at + 1, list->why);
	free(e->texts);
}

static void set_max_size(void *to, const char *arg, const struct verb_option *o)
{
	static const char units[] = "KMG";
	size_t len = strlen(arg);
	const char *unit = len ? strchr(units, arg[len - 1]) : NULL;
	char *number = xstrdup(arg);
	uint64_t n;

	if (len && unit)
		number[len - 1] = '\0';
	if (!scan_whole(number, SCAN_DECIMAL, 1, 1 << 30, &n))
		die("%s requires a number of bytes, or of K, M or G, not '%s'", o->typed, arg);
	free(number);
	*(size_t *)to = (size_t)n << (unit ? 10 * (unit - units + 1) : 0);
}

/* Tables -------------------------------------------------------------------------- */

#define COLOR								\
	{ .name = "color", .arg = "WHEN", .optional = true, .words = "always never auto", \
	  .help = "color the output", .set = options_set_choice, .at = AT(color) }

const struct verb_option options_plain[] = {
	{ .name = "output", .key = 'o', .arg = "FILE", .set = verb_set_text, .at = AT(output),
	  .help = "write to FILE instead of standard output" },
	COLOR,
	{ .name = "no-pager", .set = verb_set_true, .at = AT(no_pager),
	  .help = "do not show output on a terminal by a pager" },
	{ 0 },
};

const struct verb_option options_log[] = {
	{ .name = "output", .key = 'o', .arg = "FILE", .set = verb_set_text, .at = AT(output),
	  .help = "write to FILE instead of standard error; '|COMMAND' writes to a command" },
	{ .name = "output-append-mode", .key = 'A', .set = verb_set_true, .at = AT(append),
	  .help = "append to the file of -o" },
	{ .name = "max-size", .arg = "SIZE", .set = set_max_size, .at = AT(max_size),
	  .help = "after SIZE bytes (K, M, G) of -o or --json=FILE go on in FILE.1, FILE.2 "
		  "..., each complete in itself" },
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

const struct verb_option options_perf_data[] = {
	{ .name = "perf-data", .arg = "FILE", .set = verb_set_text, .at = AT(perf_data),
	  .instead = "pevtrace report --format=perf-data -o FILE writes one from a dump",
	  .help = "write the records in the ring buffers to FILE, as perf.data; -: to standard "
		  "output, as a pipe" },
	{ 0 },
};

const struct verb_option options_full[] = {
	{ .name = "no-abbrev", .key = 'v', .set = verb_set_true, .at = AT(text.full),
	  .help = "show every member of a structure, zero or not" },
	{ .name = "string-limit", .key = 's', .arg = "N", .set = verb_set_size,
	  .at = AT(text.max_string), .most = 1 << 20,
	  .help = "show up to N bytes of a string (default 32)" },
	{ 0 },
};

const struct verb_option options_calls[] = {
	{ .name = "trace", .expr = "trace|t", .arg = "SET", .set = selection_trace,
	  .at = AT(select),
	  .help = "show these calls: names, numbers, /REGEX, %open %ioctl %memory %poll %read "
		  "%desc %pass %process, all, none, or perf, the calls that concern perf" },
	{ .name = "decode-fds", .key = 'y', .excludes = 'y', .expr = "decode-fds|decode-fd",
	  .arg = "WHAT", .optional = true, .bare = "path", .words = LABELS,
	  .set = set_labels,
	  .help = "show the event behind each descriptor: 5<cpu-clock cpu0>" },
	{ .key = 'x', .set = set_hex,
	  .help = "show strings that are not ASCII in hex; -xx: all strings" },
	{ .name = "strings-in-hex", .excludes = 'x', .arg = "WHAT", .optional = true,
	  .words = "none non-ascii-chars non-ascii all", .set = set_hex_words,
	  .help = "show these strings, or only these characters, in hex" },
	{ .name = "syscall-number", .key = 'n', .set = verb_set_true, .at = AT(text.nr),
	  .help = "show the number of each call" },
	{ .name = "columns", .arg = "N", .set = verb_set_int, .at = AT(text.column), .most = 1000,
	  .digits_of = 'a', .help = "align results at column N; also -aN" },
	{ .name = "symbols", .set = verb_set_true, .at = AT(symbols),
	  .help = "show records with the functions at their addresses" },
	{ 0 },
};

const struct verb_option options_times[] = {
	{ .name = "absolute-timestamps", .key = 't', .arg = "FORMAT", .optional = true,
	  .excludes = 't', .bare = "time", .words = "none time unix", .set = set_clock,
	  .help = "show the time of day; -tt: with microseconds, -ttt: since the epoch; or "
		  "FORMAT,PRECISION, such as time,ms" },
	{ .name = "relative-timestamps", .key = 'r', .arg = "PRECISION", .optional = true,
	  .words = "s ms us ns", .set = set_time, .at = AT(text.relative),
	  .help = "show the time since the previous line" },
	{ .name = "syscall-times", .key = 'T', .arg = "PRECISION", .optional = true,
	  .words = "s ms us ns", .set = set_time, .at = AT(text.duration),
	  .help = "show the time spent in each call" },
	{ 0 },
};

const struct verb_option options_session[] = {
	{ .name = "status", .expr = "status", .arg = "STATUS", .set = selection_status,
	  .at = AT(select),
	  .words = SELECT_STATUSES, .help = "show calls with these outcomes" },
	{ .name = "successful-only", .key = 'z', .set = set_outcome, .at = AT(select),
	  .help = "show calls that succeeded" },
	{ .name = "failed-only", .key = 'Z', .set = set_outcome, .at = AT(select),
	  .help = "show calls that failed" },
	{ .name = "signal", .expr = "signal|signals|s", .arg = "SIGNAL", .set = selection_signal,
	  .at = AT(select), .help = "show these signals of tasks that use perf (default all)" },
	{ .name = "stack-traces", .key = 'k', .arg = "WHAT", .optional = true,
	  .words = "symbol source", .set = verb_set_true, .at = AT(stacks),
	  .help = "show the stack of each call; both words show symbols and source lines" },
	{ .name = "width", .arg = "COLUMNS", .set = set_width,
	  .help = "omit members from lines that are longer, and break text there; 'full' omits "
		  "none (default: the terminal's width, or full)" },
	{ .name = "records", .set = verb_set_true, .at = AT(records),
	  .help = "show the records in the ring buffers" },
	{ .name = "summary", .set = verb_set_true, .at = AT(summary),
	  .help = "at the end, show every event: its group and ring, how it was enabled and "
		  "read, and what it counted; strace's --summary is -C" },
	{ .name = "summary-only", .key = 'c', .set = set_count,
	  .help = "show no calls, but the summary and a table of calls, errors and times" },
	{ .key = 'C', .set = set_count, .help = "show the tables of -c after the calls" },
	{ .name = "summary-sort-by", .key = 'S', .arg = "KEY", .words = COUNT_SORT_WORDS,
	  .set = set_sort, .help = "sort the table of calls" },
	{ .name = "summary-columns", .key = 'U', .arg = "LIST", .words = COUNT_COLUMN_WORDS,
	  .set = set_columns, .help = "show these columns of the table of calls" },
	{ .name = "summary-wall-clock", .key = 'w', .set = verb_set_true, .at = AT(wall_clock),
	  .help = "accepted for compatibility with strace: times are always wall-clock times" },
	{ 0 },
};

const struct verb_option options_files[] = {
	{ .name = "follow-forks", .key = 'f', .excludes = 'f', .bare = "", .set = set_follow,
	  .help = "accepted for compatibility with strace: children are always followed" },
	{ .key = 'F', .set = set_nothing, .help = "accepted, too: an old name of -f" },
	{ .name = "output-separately", .set = verb_set_true, .at = AT(separate),
	  .help = "with -o, write a file for each task, FILE.PID; also -ff" },
	{ .name = "quiet", .key = 'q', .excludes = 'q', .expr = "quiet|silent|silence|q",
	  .arg = "SET", .optional = true,
	  .words = "attach exit|exits thread-execve|superseded path-resolution personality all none",
	  .bare = "attach,personality", .set = set_quiet,
	  .help = "show no messages about attaching or an empty trace; -qq: nor about exits, "
		  "-qqq: none; or leave out those of SET" },
	{ 0 },
};

const struct verb_option options_machine[] = {
	{ .name = "machine", .arg = "FILE", .set = verb_set_text, .at = AT(machine),
	  .help = "judge for the machine of that file, which pevtrace list --tried --json writes, or of "
		  "a dump; here: of this one, if a log is its own; what it does not say is unknown" },
	{ 0 },
};

const struct verb_option options_keep_going[] = {
	{ .name = "keep-going", .set = verb_set_true, .at = AT(keep_going),
	  .help = "skip lines that cannot be read" },
	{ 0 },
};

/* After the last option ----------------------------------------------------------- */

bool color_wanted(enum choice when, bool terminal)
{
	const char *no_color;

	if (when != CHOICE_AUTO)
		return when == CHOICE_ALWAYS;
	no_color = getenv("NO_COLOR");
	return terminal && !terminal_is_dumb() && !(no_color && *no_color);
}

void options_init(void *options)
{
	struct options *o = options;

	*o = (struct options){
		.text.max_string = OPTIONS_MAX_STRING,
	};
	selection_init(&o->select);
	o->text.status = o->select.status;
}

/* Check the options of the table of calls, and those that have no effect beside it. */
static void finish_table(const struct options *o)
{
	const struct {
		bool given;
		const char *option;
	} of_calls[] = {
		{ o->text.clock != CLOCK_OFF, "-t" }, { o->text.relative.shown, "-r" },
		{ o->text.duration.shown, "-T" },	      { o->text.ip, "-i" },
		{ o->text.nr, "-n" },		      { o->text.labels, "-y" },
		{ o->stacks, "-k" },
	};

	if (o->count && o->beside)
		die("-c/--summary-only and -C are mutually exclusive: -c shows no calls, -C does");
	if (!o->table && (o->wall_clock || o->counts.ncolumns))
		die("%s must be given with -c/--summary-only or -C",
		    o->wall_clock ? "-w/--summary-wall-clock" : "-U/--summary-columns");
	if (!o->table && o->counts_by)
		warn("%s has no effect without -c or -C", o->counts_by);
	for (size_t i = 0; o->count && !o->json && i < sizeof(of_calls) / sizeof(*of_calls); i++)
		if (of_calls[i].given)
			warn("%s has no effect with -c/--summary-only", of_calls[i].option);
}

void options_finish(struct options *o)
{
	bool dump_only = o->json && !o->json_path;

	o->text.status = o->select.status;
	o->keep = o->keep || o->summary || o->explain;
	o->records |= o->symbols;
	finish_table(o);
	if (o->separate && o->follow > 1)
		die("-ff and --output-separately cannot be combined; use one of them");
	o->separate |= o->follow > 1;
	if (o->separate && (o->keep || o->table))
		die("-ff cannot be combined with -c, --explain or --summary, which cover all "
		    "tasks");
	if (o->separate && (!o->output || !strcmp(o->output, "-"))) {
		warn("-ff has no effect without -o FILE");
		o->separate = false;
	}
	if (o->separate && output_is_command(o->output))
		die("-ff cannot be combined with -o '%s', which is one command", o->output);
	if (o->append && (!o->output || output_is_command(o->output))) {
		warn("-A has no effect without -o FILE");
		o->append = false;
	}
	if (o->max_size && (o->separate || o->append))
		die("--max-size cannot be combined with %s", o->append ? "-A" : "-ff");
	if (o->max_size && !o->output && !o->json_path)
		die("--max-size must be given with -o FILE or --json=FILE");
	if (o->separate && dump_only)
		die("-ff cannot be combined with --json, as a dump is one file; use --json=FILE");
	if (o->output && o->json_path && !strcmp(o->output, o->json_path))
		die("text and dump cannot both go to '%s': name two files", o->output);
	if (o->perf_data && !strcmp(o->perf_data, "-") &&
	    (o->output ? !strcmp(o->output, "-") : dump_only || o->to_stdout))
		die("the trace and the perf.data file cannot both go to standard output: add "
		    "-o FILE");
	if (o->perf_data && ((o->output && !strcmp(o->perf_data, o->output)) ||
			     (o->json_path && !strcmp(o->perf_data, o->json_path))))
		die("the trace and the perf.data file cannot both go to '%s': name two files",
		    o->perf_data);
	if ((o->count || o->explain) && dump_only)
		die("%s cannot be combined with --json; use --json=FILE",
		    o->count ? "-c" : "--explain");
}

void options_free(struct options *o)
{
	free(o->pids);
	injections_free(o->inject);
	program_free(&o->program);
}
