// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pevtrace decode DUMP: a dump feeds a session, as a traced program would.  Of a perf.data file
 * its events and records are decoded one by one.
 */
#include "core/abi/tables.h"
#include "verbs/decode/decode.h"

#include <sys/stat.h>

#include "core/abi/attr.h"
#include "core/abi/attr_text.h"
#include "core/lib/die.h"
#include "core/lib/pager.h"
#include "core/model/event_name.h"
#include "formats/dump/reader.h"
#include "formats/perfdata/perfdata.h"
#include "verbs/cli/input.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/showing.h"
#include "verbs/cli/views.h"
#include "verbs/cmd.h"

/* Address of the attr in the call that it is decoded with. */
#define AT 0x100000

struct perfdata_decoding {
	struct machine machine;
	struct showing out;
	struct perfdata *data;
	struct buf name;
};

/* Begin an item: "NAME: " in text, kind and name in JSON. */
static void perfdata_begin(struct perfdata_decoding *d, const char *kind,
			   const struct perfdata_event *e)
{
	const char *name = e ? e->name : NULL;

	if (e && !name) {
		buf_reset(&d->name);
		event_name_perf(e->attr, e->attr_len, perfdata_names(d->data), &d->name);
		name = buf_str(&d->name);
	}
	showing_begin(&d->out, true);
	if (!d->out.json) {
		if (!name)
			return;
		text_escaped(&d->out.line, name);
		buf_adds(&d->out.line, ": ");
		return;
	}
	json_add_string(&d->out.object, "kind", kind);
	if (name)
		sink_symbol(d->out.sink, "name", name);
}

static void show_event(struct perfdata_decoding *d, const struct perfdata_event *e)
{
	struct call c = { .arch = e->format.arch };
	struct text_cursor why = { .why = "" };
	struct attr_text a;
	struct sink *s;

	attr_text_bytes(&why, e->attr, e->attr_len, &a);
	attr_text_capture(&a, &c, AT);
	perfdata_begin(d, "event", e);
	s = d->out.sink;
	attr_emit(&c, AT_SYSCALL_ENTER, "attr", AT, perfdata_names(d->data), s);
	if (d->out.json)
		json_add_bytes(&d->out.object, "attr_bytes", a.bytes, a.len);
	d->out.text.results = true;
	sink_begin(s, "ids", SINK_ARRAY);
	for (size_t i = 0; i < e->nids; i++)
		sink_uint(s, NULL, e->ids[i]);
	sink_end(s);
	showing_end(&d->out);
	call_free(&c);
}

/* In text, write the record's object without a key, as in a trace. */
static void perfdata_on_record(void *ctx, const struct perfdata_record *r)
{
	static const struct record_format none;
	const struct field *f = layout_perf_event_header.fields;
	const struct xlat *own = &xlat_perf_user_event_type;
	const struct xlat_entry *e = xlat_find(own, r->type);
	struct perfdata_decoding *d = ctx;
	struct sink *s;

	perfdata_begin(d, "record", r->event);
	s = d->out.sink;
	if (d->out.json)
		json_add_uint(&d->out.object, "offset", r->offset);
	if (r->type >= PERF_RECORD_HEADER_ATTR) {
		/* type and length of a record of the perf tool */
		sink_begin(s, "record", SINK_OBJECT);
		sink_enum(s, f[PERF_EVENT_HEADER_TYPE].name, own, r->type);
		if (e && s->full)
			sink_note(s, "meaning", e->meaning);
		sink_uint(s, f[PERF_EVENT_HEADER_SIZE].name, r->len);
		if (r->payload)
			sink_notef(s, "behind", "followed by %llu bytes",
				   (unsigned long long)r->payload);
		sink_end(s);
	} else {
		record_emit(r->bytes, r->len, r->event ? &r->event->format : &none,
			    perfdata_names(d->data), s, NULL);
	}
	showing_end(&d->out);
}

/*
 * Decode the events of a perf.data file and, with --records, its records.  path is its name
 * in messages.  Return the exit status.
 */
static int perfdata_decode(FILE *f, const char *path, const struct options *o)
{
	struct perfdata_decoding d = { .data = NULL };
	bool ok = false;

	if (o->json_path) {
		warn("--json=FILE cannot be combined with %s, a perf.data file; use --json "
		     "and -o FILE", path);
		return EXIT_TROUBLE;
	}
	if (o->summary || o->separate || o->stacks || o->symbols || o->select.chosen) {
		warn("%s is a perf.data file and has no calls: use only --records, --json, "
		     "-v, -s, -o and --color", path);
		return EXIT_TROUBLE;
	}
	showing_open(&d.out, o);
	machine_open(&d.machine);
	d.data = perfdata_open(f, path, &d.machine.names);
	if (d.data) {
		for (size_t i = 0; i < perfdata_nevents(d.data); i++)
			show_event(&d, perfdata_event(d.data, i));
		if (o->records)
			perfdata_records(d.data, perfdata_on_record, &d);
		ok = perfdata_whole(d.data);
		perfdata_close(d.data);
	}
	machine_close(&d.machine);
	buf_free(&d.name);
	return showing_close(&d.out) && ok ? EXIT_YES : EXIT_TROUBLE;
}

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
	enum input_kind kind;
	const char *path;
	struct stat st;
	FILE *f;
	int status;

	if (decode_one_wanted(d))
		return decode_one(d, args);
	verb_want(args, 1);
	kind = input_operand(args, 0, &d->events);
	d->log = kind == INPUT_LOG ? args->words[0] : NULL;
	d->attr = kind == INPUT_ATTR ? args->words[0] : NULL;
	if (d->log || d->attr || d->events.n || d->c_source || d->arch)
		return decode_one(d, args);
	options_finish(o);
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
	{ "config", 0, .why = "type and config are an event: pevtrace decode 1:3, or sched:sched_switch" },
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
"decode [OPTION]... DUMP | PERF.DATA | LOG | ATTR | EVENT\n"
"decode [OPTION]... --attr=ATTR\n"
"decode [OPTION]... --ioctl=NUMBER [ARG]\n"
"decode [OPTION]... --record=RECORDS [--attr=ATTR]\n"
"decode [OPTION]... --errno=ERRNO",
	.about =
"Show a dump of pevtrace --json=DUMP as the trace showed it, or decode a perf.data file, the attrs "
"of a log of strace or perf -vv, the attr of an event, or a single thing of perf_event_open(2).",
	.notes =
"ATTR and RECORDS may be @FILE, or - for standard input; both may be binary. A SET, STATUS "
"or SIGNAL is a list separated by commas; a leading ! negates it. The exit status is 0, or "
"2 on misuse and trouble.",
	.examples =
"pevtrace decode --summary dump.jsonl\n"
"pevtrace decode --c-source cycles:pp\n"
"pevtrace decode --errno=EOPNOTSUPP",
	.operand = "DUMP|PERF.DATA|LOG|ATTR|EVENT",
	.groups = groups,
	.foreign = foreign,
	.size = sizeof(struct decode_one),
	.init = options_init,
	.run = decode_run,
};
