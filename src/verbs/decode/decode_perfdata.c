// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/decode/decode_perfdata.h"

#include <string.h>

#include "core/abi/attr.h"
#include "core/abi/attr_text.h"
#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "formats/perfdata/perfdata.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/showing.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Address of the attr in the call that it is decoded with. */
#define AT 0x100000

struct perfdata_decoding {
	struct machine machine;
	struct showing out;
	struct perfdata *data;
	struct buf name;
};

/* Prefer the name in the file. */
static const char *name_of(struct perfdata_decoding *d, const struct perfdata_event *e)
{
	if (e->name)
		return e->name;
	buf_reset(&d->name);
	event_name_perf(e->attr, e->attr_len, perfdata_names(d->data), &d->name);
	return buf_str(&d->name);
}

/* Begin an item: "NAME: " in text, kind and name in JSON. */
static void perfdata_begin(struct perfdata_decoding *d, const char *kind,
			   const struct perfdata_event *e)
{
	const char *name = e ? name_of(d, e) : NULL;

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

/* Write the type and length of a record of the perf tool. */
static void emit_own(const struct perfdata_record *r, struct sink *s)
{
	const struct field *f = layout_perf_event_header.fields;
	const struct xlat_entry *e = xlat_find(&xlat_perf_user_event_type, r->type);

	sink_begin(s, "record", SINK_OBJECT);
	sink_enum(s, f[PERF_EVENT_HEADER_TYPE].name, &xlat_perf_user_event_type,
		  r->type);
	if (e && s->full)
		sink_note(s, "meaning", e->meaning);
	sink_uint(s, f[PERF_EVENT_HEADER_SIZE].name, r->len);
	if (r->payload)
		sink_notef(s, "behind", "followed by %llu bytes",
			   (unsigned long long)r->payload);
	sink_end(s);
}

/* In text, write the record's object without a key, as in a trace. */
static void perfdata_on_record(void *ctx, const struct perfdata_record *r)
{
	static const struct record_format none;
	struct perfdata_decoding *d = ctx;

	perfdata_begin(d, "record", r->event);
	if (d->out.json)
		json_add_uint(&d->out.object, "offset", r->offset);
	if (r->type >= PERF_RECORD_HEADER_ATTR)
		emit_own(r, d->out.sink);
	else
		record_emit(r->bytes, r->len, r->event ? &r->event->format : &none,
			    perfdata_names(d->data), d->out.sink, NULL);
	showing_end(&d->out);
}

/* Return false after a warn() if an option applies only to dumps. */
static bool fits(const struct options *o, const char *path)
{
	if (o->json_path)
		warn("--json=FILE cannot be combined with %s, a perf.data file; use --json "
		     "and -o FILE", path);
	else if (o->summary || o->separate || o->stacks || o->symbols || o->select.chosen)
		warn("%s is a perf.data file and has no calls: use only --records, --json, "
		     "-v, -s, -o and --color", path);
	else
		return true;
	return false;
}

int perfdata_decode(FILE *f, const char *path, const struct options *o)
{
	struct perfdata_decoding d = { .data = NULL };
	bool ok = false;

	if (!fits(o, path))
		return EXIT_TROUBLE;
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
