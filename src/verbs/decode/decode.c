// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace decode DUMP: a dump feeds a session, as a traced program would. */
#include <sys/stat.h>

#include "core/lib/die.h"
#include "core/lib/pager.h"
#include "formats/dump/reader.h"
#include "formats/perfdata/perfdata.h"
#include "verbs/cli/input.h"
#include "verbs/cli/options.h"
#include "verbs/cli/views.h"
#include "verbs/cmd.h"
#include "verbs/decode/decode.h"
#include "verbs/decode/decode_one.h"
#include "verbs/decode/decode_perfdata.h"

int decode_dump(FILE *f, const char *path, struct options *options)
{
	struct reader *r = reader_open(f, path, options->keep_going);
	struct session session;
	struct views views;
	bool whole, written;

	if (!r)
		return EXIT_TROUBLE;
	if (!views_start(&views, &session, options, reader_names(r), reader_facts(r))) {
		reader_close(r);
		return EXIT_TROUBLE;
	}
	if (!views_show_lines(&views))
		reader_progress(r);
	whole = reader_run(r, &session);
	written = views_end(&views, &session);
	reader_close(r);
	return whole && written ? EXIT_YES : EXIT_TROUBLE;
}

static int decode_run(void *state, const struct verb_args *args)
{
	struct decode_one *d = state;
	struct options *o = &d->options;
	const char *path;
	struct stat st;
	FILE *f;
	int status;

	if (decode_one_wanted(d))
		return decode_one(d, args);
	options_finish(o);
	verb_want(args, 1);
	o->to_stdout = true;
	if (!o->output && !o->no_pager && !input_is_terminal(args->words[0]))
		pager_start();
	f = input_open(args->words[0], &path);
	if (!fstat(fileno(f), &st) && !S_ISREG(st.st_mode))
		setvbuf(f, NULL, _IONBF, 0); /* show what a slow writer has written */
	status = perfdata_is(f) ? perfdata_decode(f, path, o) : decode_dump(f, path, o);
	input_close(f);
	options_free(o);
	return status;
}

static void decode_init(void *state)
{
	options_init(&((struct decode_one *)state)->options);
}

static const struct verb_option options[] = {
	{ .name = "expr", .key = 'e', .arg = "EXPR", .exprs = true,
	  .help = "trace=, status=, signal=, quiet= or decode-fds=, as the options of these names" },
	{ 0 },
};

enum {
	OPTIONS = offsetof(struct decode_one, options),
	GIVEN = offsetof(struct decode_one, of_dumps),
};

static const struct verb_foreign foreign[] = {
	OPTIONS_FOREIGN
	{ 0 },
};

static const struct verb_group groups[] = {
	{ "What to decode instead of a dump", decode_one_options, 0, 0 },
	{ "How to show it", options_plain, OPTIONS, 0 },
	{ NULL, options_dump, OPTIONS, 0 },
	{ NULL, options_full, OPTIONS, 0 },
	{ "What to show of a dump", options, OPTIONS, GIVEN },
	{ NULL, options_calls, OPTIONS, GIVEN },
	{ NULL, options_session, OPTIONS, GIVEN },
	{ NULL, options_times, OPTIONS, GIVEN },
	{ NULL, options_files, OPTIONS, GIVEN },
	{ NULL, options_keep_going, OPTIONS, GIVEN },
	{ 0 },
};

const struct verb decode_verb = {
	.name = "decode",
	.summary = "Decode dumps, perf.data files, attrs, ioctls, records, errors",
	.usage =
"decode [OPTION]... DUMP\n"
"decode [OPTION]... --attr=ATTR\n"
"decode [OPTION]... --ioctl=NUMBER [ARG]\n"
"decode [OPTION]... --record=RECORDS [--attr=ATTR]\n"
"decode [OPTION]... --config=TYPE:VALUE\n"
"decode [OPTION]... --errno=ERRNO",
	.about =
"Show a dump of pevtrace --json=DUMP as the trace showed it, or decode a perf.data file or "
"a single thing of perf_event_open(2).",
	.notes =
"ATTR and RECORDS may be @FILE, or - for standard input; both may be binary. A SET, STATUS "
"or SIGNAL is a list separated by commas; a leading ! negates it. The exit status is 0, or "
"2 on misuse and trouble.",
	.examples =
"pevtrace decode --summary dump.jsonl\n"
"pevtrace decode --attr='{type=PERF_TYPE_SOFTWARE, config=0}'\n"
"pevtrace decode --errno=EOPNOTSUPP",
	.operand = "DUMP",
	.groups = groups,
	.foreign = foreign,
	.size = sizeof(struct decode_one),
	.init = decode_init,
	.run = decode_run,
};
