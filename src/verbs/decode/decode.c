// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pevtrace decode DUMP: a dump feeds a session, as a traced program would.  Of a perf.data file
 * its events and records are decoded one by one.
 */
#include "verbs/decode/decode.h"
#include "verbs/decode/decode_log.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/abi/attr.h"
#include "core/abi/attr_member.h"
#include "core/abi/ioctl.h"
#include "core/abi/strings.h"
#include "core/abi/swap.h"
#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "formats/codegen/c_attr.h"
#include "formats/dump/reader.h"
#include "formats/perfdata/perfdata.h"
#include "verbs/cli/input.h"
#include "verbs/cli/showing.h"
#include "verbs/cli/views.h"
#include "verbs/cmd.h"

/* One thing, with no dump around it -------------------------------------------------- */

/* Address of the memory that decoded calls point to. */
#define AT 0x100000

/* What to decode: one thing, a record with its attr, or the attrs of a log or of events. */
struct decode_one {
	struct options options;
	const char *attr, *ioctl, *record, *error;
	const char *log;	/* a file with attrs, or NULL */
	struct event_list events;
	const char *operand;	/* ARG of --ioctl */
	const struct arch *arch; /* that the bytes are of */
	bool arch_given, c_source;
	const char *of_dumps;	/* name of an option that applies to dumps only, or NULL */
	struct machine machine;
	struct showing out;
	struct log_calls calls;	/* of the log */
	struct perfdata *data;	/* in place of a dump, or NULL */
	struct buf name;	/* of one of its events */
};

static const char *const use_arch = BIG_ENDIAN_HERE ?
	"if it is of a little-endian machine, use --arch=x86_64 or the like" :
	"if it is of a big-endian machine, use --arch=s390x";

static bool decode_swaps(const struct decode_one *d)
{
	return d->arch->big_endian != BIG_ENDIAN_HERE;
}

/* Return the names of this machine, if the bytes may be of one of its programs. */
static const struct names *decode_names(const struct decode_one *d)
{
	return d->machine.facts.host || arch_same_kernel(d->arch, arch_native()) ? &d->machine.names :
									   NULL;
}

/* attrs ---------------------------------------------------------------------- */

/* Convert the attr if need be; warn if its size makes sense in the other byte order only. */
static void decode_convert(const struct decode_one *d, struct attr_text *a)
{
	const struct field *f = &layout_perf_event_attr.fields[ATTR_SIZE];
	uint64_t other = swap_load(a->bytes + f->offset, f->width);

	if (decode_swaps(d))
		attr_text_swap(a);
	else if (a->given && other >= PERF_ATTR_SIZE_VER0 && other <= ATTR_TEXT_MAX)
		warn("the attr has size %llu in the other byte order; %s",
		     (unsigned long long)other, use_arch);
}

static void decode_show(struct decode_one *d, struct attr_text *a)
{
	struct call c;
	struct buf guess = { 0 };

	c = (struct call){ .arch = d->arch };
	decode_convert(d, a);
	attr_text_capture(a, &c, AT);
	showing_begin(&d->out, true);
	if (d->c_source) {
		c_attr_write(&d->out.line, &c, AT, decode_names(d));
		d->out.line.len--; /* showing_end() adds the last newline */
		showing_end(&d->out);
		call_free(&c);
		return;
	}
	if (*a->label && d->out.json) {
		sink_symbol(d->out.sink, "label", a->label);
	} else if (*a->label) {
		text_escaped(&d->out.line, a->label);
		buf_adds(&d->out.line, ": ");
	}
	decode_log_begin(a, &c, AT, decode_names(d), &d->out);
	decode_log_end(&d->calls, a, &c, decode_names(d), &d->out);
	if (machine_add_guess(&d->machine, a->bytes, a->len, &guess))
		sink_note(d->out.sink, "guess", buf_str(&guess));
	buf_free(&guess);
	showing_end(&d->out);
	call_free(&c);
}

static bool decode_each(void *ctx, struct attr_text *a)
{
	struct decode_one *d = ctx;

	/* numbers in a log are those of its own machine */
	if ((d->log || a->call.given) && machine_leave_here(&d->machine, d->options.machine) &&
	    !d->arch_given)
		d->arch = d->machine.names.arch;
	if (a->ioctl.given)
		decode_log_ioctl(&a->ioctl, arch_native(), decode_names(d), &d->out);
	else if (!a->again || a->call.error) /* perf -vv has the attr of several calls once */
		decode_show(d, a);
	return true;
}

/* ioctls --------------------------------------------------------------------- */

static bool decode_number(const char *text, const struct xlat *x, const char *option,
			  uint64_t *v)
{
	struct text_cursor c = { .at = text, .end = text + strlen(text) };

	if (value_read(&c, x, v))
		return true;
	warn("%s requires a number or a name, not '%s': %s", option, text, c.why);
	return false;
}

/*
 * Find an ioctl by its name, or by its number in programs of either word size.  unknown: for one
 * of perf's type that the tables do not have.
 */
static const struct ioctl_desc *find_ioctl(const struct arch *arch, const char *text,
					   struct ioctl_desc *unknown)
{
	const char *prefix = "PERF_EVENT_IOC_";
	struct nearest n;
	uint64_t request;

	for_each(d, ioctl_descs, ioctl_ndescs) {
		bool named = !strcmp(d->name, text) ||
			     (!strncmp(d->name, prefix, strlen(prefix)) &&
			      !strcasecmp(d->name + strlen(prefix), text));

		if (named)
			return d;
	}
	if (*text < '0' || *text > '9') {
		nearest_start(&n, text, strlen(text));
		ioctl_offer(&n);
		for (size_t i = 0; !*n.best && i < ioctl_ndescs; i++)
			if (!strncmp(ioctl_descs[i].name, prefix, strlen(prefix)))
				nearest_try(&n, ioctl_descs[i].name + strlen(prefix));
		warn("--ioctl: no such perf ioctl '%s'%s", text,
		     *n.best ? nearest_hint(&n) : "; see perf_event_open(2)");
		return NULL;
	}
	if (!decode_number(text, NULL, "--ioctl", &request))
		return NULL;
	request = request >> 32 ? request : ioctl_generic(arch, (uint32_t)request);
	for (size_t i = 0; i < ioctl_ndescs; i++)
		if (ioctl_descs[i].request == request || ioctl_descs[i].compat == request)
			return &ioctl_descs[i];
	*unknown = (struct ioctl_desc){
		.request = (uint32_t)request, .compat = (uint32_t)request, .dir = IOCTL_VALUE,
		.meaning = "unknown here: a newer ioctl of perf, or none",
	};
	if (request == unknown->request && ioctl_is_perf(request))
		return unknown;
	warn("--ioctl: 0x%llx is no perf ioctl", (unsigned long long)request);
	return NULL;
}

/* Set the argument, and capture the memory that it points to. */
static bool fill_arg(struct decode_one *d, const struct ioctl_desc *io, struct call *c)
{
	enum call_phase phase = io->dir == IOCTL_OUT ? AT_SYSCALL_EXIT : AT_SYSCALL_ENTER;
	const char *text = d->operand;
	struct text_cursor bytes = { .at = text, .end = text + strlen(text) };
	uint8_t room[512];
	struct attr_text a;
	uint64_t v;
	size_t n;

	c->args[2] = AT;
	switch (io->dir == IOCTL_VALUE ? IOCTL_ARG_UINT : io->arg) {
	case IOCTL_ARG_STRING:
		call_add_capture(c, AT_SYSCALL_ENTER, AT, (uint32_t)strlen(text) + 1, text,
				 (uint32_t)strlen(text) + 1);
		return true;
	case IOCTL_ARG_ATTR:
		if (!input_attr(text, "--ioctl's argument", &a))
			return false;
		decode_convert(d, &a);
		attr_text_capture(&a, c, AT);
		return true;
	case IOCTL_ARG_QUERY_BPF:
		if (!bytes_read(&bytes, room, sizeof(room), &n)) {
			warn("--ioctl's argument is no struct perf_event_query_bpf in "
			     "hexadecimal: %s", bytes.why);
			return false;
		}
		if (decode_swaps(d))
			swap_words(room, n, 4);
		call_add_capture(c, AT_SYSCALL_EXIT, AT, (uint32_t)n, room, (uint32_t)n);
		return true;
	default:
		if (!decode_number(text, io->xlat, "--ioctl's argument", &v))
			return false;
		if (io->dir == IOCTL_VALUE)
			c->args[2] = v;
		else
			call_add_capture(c, phase, AT, 8, &v, 8);
		return true;
	}
}

static bool decode_one_ioctl(struct decode_one *d)
{
	struct call c = { .arch = d->arch, .returned = true };
	struct ioctl_desc unknown;
	const struct ioctl_desc *io = find_ioctl(d->arch, d->ioctl, &unknown);
	struct sink *s;
	bool ok = io;

	if (!io)
		return false;
	c.args[1] = c.arch->word == 4 ? io->compat : io->request;
	if (d->operand)
		ok = fill_arg(d, io, &c);
	if (ok) {
		showing_begin(&d->out, true);
		s = d->out.sink;
		ioctl_emit_request(&c, "request", s);
		sink_note(s, "meaning", io->meaning);
		d->out.text.results = true;
		sink_hex(s, "request64", ioctl_native(c.arch, io->request));
		sink_hex(s, "request32", ioctl_native(c.arch, io->compat));
		if (d->operand)
			ioctl_emit_arg(&c, "argument", c.args[2], decode_names(d), s);
		showing_end(&d->out);
	}
	call_free(&c);
	return ok;
}

/* records -------------------------------------------------------------------- */

static bool show_records(struct decode_one *d, uint8_t *bytes, size_t len,
			 const struct record_format *f)
{
	const struct field *member = &layout_perf_event_header.fields[PERF_EVENT_HEADER_SIZE];
	size_t at = 0, size, shown, other;

	while (len - at >= 8) {
		size = decode_swaps(d) ? swap_load(bytes + at + member->offset, member->width) :
					 load_uint(bytes + at + member->offset, member->width);
		shown = size < 8 || size > len - at ? len - at : size;
		if (decode_swaps(d))
			swap_record(bytes + at, shown, f, NULL);
		showing_begin(&d->out, true);
		record_emit(bytes + at, shown, f, decode_names(d), d->out.sink, NULL);
		showing_end(&d->out);
		if (shown != size)
			break;
		at += size;
	}
	if (at == len)
		return len || (warn("--record: no record found"), false);
	other = len < 8 ? 0 : swap_load(bytes + member->offset, member->width);
	if (!at && !decode_swaps(d) && other >= 8 && other <= len)
		warn("--record: the first record has size %zu in the other byte order; %s",
		     other, use_arch);
	warn("--record: incomplete record at byte %zu, with %zu byte%s left",
	     at, len - at, len - at == 1 ? "" : "s");
	return false;
}

static bool decode_one_record(struct decode_one *d)
{
	struct record_format f = { .arch = d->arch };
	struct attr_text a;
	struct buf text = { 0 };
	uint8_t *bytes = NULL;
	struct text_cursor c = { .why = "" };
	bool ok = true;
	size_t n;

	if (d->attr) {
		ok = input_attr(d->attr, "--attr", &a);
		if (ok) {
			decode_convert(d, &a);
			record_format_of(&f, a.bytes, a.len, d->arch);
		}
	}
	ok = ok && input_text(d->record, "--record", &text);
	if (ok && input_is_binary(&text)) {
		ok = show_records(d, (uint8_t *)text.data, text.len, &f);
	} else if (ok) {
		bytes = xmalloc(text.len + 1);
		c.at = buf_str(&text);
		c.end = c.at + text.len;
		ok = bytes_read(&c, bytes, text.len, &n);
		if (!ok)
			warn("cannot read --record: %s; use bytes in hexadecimal or "
			     "@FILE", c.why);
		ok = ok && show_records(d, bytes, n, &f);
	}
	free(bytes);
	buf_free(&text);
	return ok;
}

/* errors --------------------------------------------------------------------- */

static bool decode_one_error(struct decode_one *d)
{
	const struct xlat_entry *e;
	const char *name, *text;
	struct nearest n;
	struct sink *s;
	uint64_t v;

	v = (uint64_t)error_by_name(d->error, &n);
	if (!v && *n.best && *d->error != '-') {
		warn("--errno: unknown error '%s'%s", d->error, nearest_hint(&n));
		return false;
	}
	if (!v && !decode_number(d->error, &xlat_perf_open_errno, "--errno", &v))
		return false;
	if ((int64_t)v < 0)
		v = -v; /* as the kernel returns it */
	if (!v || v > ERRNO_MAX) {
		warn("--errno: %s is no error; use a name, or 1 to %d", d->error, ERRNO_MAX);
		return false;
	}
	name = error_name((int)v);
	text = error_meaning((int)v);
	e = xlat_find(&xlat_perf_open_errno, v);
	showing_begin(&d->out, true);
	s = d->out.sink;
	if (name)
		sink_symbol(s, "name", name);
	d->out.text.results = true;
	sink_uint(s, "errno", v);
	if (text)
		sink_note(s, "text", text);
	if (e && e->meaning != text)
		sink_note(s, "perf_event_open", e->meaning);
	showing_end(&d->out);
	return true;
}

/* Options --------------------------------------------------------------------- */

static void set_once(void *to, const char *arg, const struct verb_option *o)
{
	if (*(const char **)to)
		die("%s was given twice; run pevtrace decode for each", o->typed);
	verb_set_text(to, arg, o);
}

static void set_arch(void *to, const char *arg, const struct verb_option *o)
{
	const struct arch *a = arch_by_name(arg);
	struct buf known = { 0 };
	struct nearest n;

	if (!a) {
		nearest_start_words(&n, &known);
		arch_offer(&n);
		die("%s: unknown ABI '%s'; use one of%s", o->typed, arg, buf_str(&known));
	}
	*(const struct arch **)to = a;
}

#define MEMBER(name) offsetof(struct decode_one, name)

static const struct verb_option decode_one_options[] = {
	{ .name = "attr", .arg = "ATTR", .set = set_once, .at = MEMBER(attr),
	  .help = "decode a struct perf_event_attr: bytes, or text of strace, perf, gdb, "
		  "bpftrace, C, Go, Rust, Python or pevtrace" },
	{ .name = "arch", .arg = "ARCH", .set = set_arch, .at = MEMBER(arch),
	  .help = "the bytes and numbers are of a program of that ABI, as a dump names it: "
		  "s390x, aarch64" },
	{ .name = "c-source", .set = verb_set_true, .at = MEMBER(c_source),
	  .help = "with --attr, write the attr in C, to be compiled" },
	{ .name = "ioctl", .arg = "NUMBER", .set = set_once, .at = MEMBER(ioctl),
	  .help = "decode the request of an ioctl, by number or name, and its argument" },
	{ .name = "record", .arg = "RECORDS", .set = set_once, .at = MEMBER(record),
	  .help = "decode records of the ring buffer of the event with --attr" },
	{ .name = "errno", .arg = "ERRNO", .set = set_once, .at = MEMBER(error),
	  .help = "show what an error of perf_event_open means, by number or name" },
	{ 0 },
};

static int decode_one(struct decode_one *d, const struct verb_args *args)
{
	/* --attr may say how to read a record */
	int n = !!d->ioctl + !!d->record + !!d->error;
	bool attrs = d->attr || d->log || d->events.n, ok = true;
	struct buf file = { 0 };

	if (n > 1 || (n && d->attr && !d->record))
		die("--attr, --ioctl, --record and --errno are mutually exclusive; only --record and "
		    "--attr can be combined");
	if (d->c_source && (n || !attrs || d->options.json))
		die("--c-source applies only to attrs, without --json");
	if (d->arch && !attrs && !d->ioctl && !d->record)
		die("--arch applies only to --attr, --ioctl and --record");
	if (d->of_dumps) {
		warn("%s applies only to dumps", d->of_dumps);
		event_list_free(&d->events);
		return EXIT_TROUBLE;
	}
	if (d->options.json_path)
		die("--json=FILE applies only to dumps; use --json -o FILE");
	if (args->n > (d->ioctl || d->log || d->events.n || d->attr == args->words[0]))
		verb_want(args, !!d->ioctl);
	d->operand = args->words[0];
	buf_addf(&file, "@%s", d->log ? d->log : "");
	d->attr = d->log ? buf_str(&file) : d->attr;
	d->arch_given = d->arch;
	if (!d->arch)
		d->arch = arch_native();
	showing_open(&d->out, &d->options);
	machine_open_file(&d->machine, d->options.machine);
	if (d->machine.path && !d->arch_given)
		d->arch = d->machine.names.arch;
	machine_show(&d->machine, &d->out);
	if (d->ioctl)
		ok = decode_one_ioctl(d);
	else if (d->record)
		ok = decode_one_record(d);
	else if (d->error)
		ok = decode_one_error(d);
	else if (d->attr)
		ok = input_attrs(d->attr, d->log ? d->log : "--attr", decode_each, d);
	for (size_t i = 0; i < d->events.n; i++)
		decode_show(d, &d->events.events[i].attr);
	event_list_free(&d->events);
	log_calls_free(&d->calls);
	buf_free(&file);
	machine_close(&d->machine);
	return showing_close(&d->out) && ok ? EXIT_YES : EXIT_TROUBLE;
}

/* perf.data ---------------------------------------------------------------------------- */

/* Begin an item: "NAME: " in text, kind and name in JSON. */
static void perfdata_begin(struct decode_one *d, const char *kind,
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

static void show_event(struct decode_one *d, const struct perfdata_event *e)
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
	struct decode_one *d = ctx;
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
static int perfdata_decode(struct decode_one *d, FILE *f, const char *path)
{
	const struct options *o = &d->options;
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
	showing_open(&d->out, o);
	machine_open(&d->machine);
	d->data = perfdata_open(f, path, &d->machine.names);
	if (d->data) {
		for (size_t i = 0; i < perfdata_nevents(d->data); i++)
			show_event(d, perfdata_event(d->data, i));
		if (o->records)
			perfdata_records(d->data, perfdata_on_record, d);
		ok = perfdata_whole(d->data);
		perfdata_close(d->data);
	}
	machine_close(&d->machine);
	buf_free(&d->name);
	return showing_close(&d->out) && ok ? EXIT_YES : EXIT_TROUBLE;
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

	if (d->attr || d->ioctl || d->record || d->error)
		return decode_one(d, args);
	verb_want(args, 1);
	machine_open_file(&d->machine, o->machine);
	kind = input_operand(args, 0, d->machine.host, &d->events);
	machine_close(&d->machine);
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
	status = perfdata_is(f) ? perfdata_decode(d, f, path) : decode_dump(f, path, o);
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
	{ NULL, options_machine, OPTIONS, 0 },
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
