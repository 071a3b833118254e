// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "formats/dump/dump_view_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/abi/call_decode.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"

#define IDLE_NS 1000000000ULL

/* Parts of lines about calls ------------------------------------------------------- */

static void dump_call_add_event(struct json_text *o, const struct event *e)
{
	if (!e)
		return;
	json_add_uint(o, "event", e->number);
	json_add_string(o, "event_name", e->name);
	if (e->leader)
		json_add_uint(o, "leader", e->leader->number);
	if (e->output)
		json_add_uint(o, "output", e->output->number);
}

/* Fill in *about when the call begins: a close takes effect then. */
static void dump_call_about(const struct call *c, const struct model *m, struct dump_about *about)
{
	const struct ring *r = NULL;
	uint64_t start, end;
	int fd;
	const struct event *e = model_about(m, c, &fd);

	if (c->desc->class == CLASS_MEMORY && model_covers(c, 0, &start, &end))
		r = model_ring_at(m, c->tid, start, end);
	json_text_begin(&about->event);
	dump_call_add_event(&about->event, e || !r ? e : r->event);
	about->ring = r ? r->number : 0;
}

/* Add the object, if it has any members. */
static void add_unless_empty(struct json_text *o, const char *key, struct json_text *object)
{
	if (json_text_empty(object))
		json_text_drop(object);
	else
		json_add_object(o, key, object);
}

/* The decoded return. */
struct dump_return {
	struct json_text args, results, notes;
};

/*
 * Add the result, what the call created, and decoded, about and args, which end.  args: the
 * arguments of the beginning if that is on this line too, or NULL.
 */
static void dump_call_return(struct json_text *o, const struct call *c, const struct model *m,
			     struct json_text *args, struct dump_about *about,
			     struct dump_return *decoded)
{
	bool made = !c->failed && !call_is_fake(c);
	const struct ring *r = NULL;
	const char *error = c->failed ? error_name((int)c->ret) : NULL;

	if (args)
		json_add_members(args, &decoded->args);
	json_add_uint(o, "start_ns", c->start_ns);
	json_add_uint(o, "exit_ns", c->exit_ns);
	if (!c->failed && call_result_kind(c) == RESULT_ADDR)
		json_add_hex(o, "ret", (uint64_t)c->ret);
	else
		json_add_int(o, "ret", c->failed ? -1 : c->ret);
	if (c->failed)
		json_add_int(o, "errno", c->ret);
	if (error)
		json_add_string(o, "error", error);
	if (c->no_event)
		json_add_bool(o, "no_event", true);
	if (c->answered)
		json_add_bool(o, "answered", true);
	json_add_object(o, "args", args ? args : &decoded->args);
	add_unless_empty(o, "results", &decoded->results);
	add_unless_empty(o, "notes", &decoded->notes);
	/* what the call is about, or else the event or ring that it created */
	json_add_members(o, &about->event);
	if (made && c->desc->class == CLASS_OPEN)
		dump_call_add_event(o, model_opened(m, c));
	else if (made && (c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2))
		r = model_ring_at(m, c->tid, (uint64_t)c->ret, (uint64_t)c->ret + 1);
	if (r || about->ring)
		json_add_uint(o, "ring", r ? r->number : about->ring);
}

/* Calls ---------------------------------------------------------------------- */

static void dump_decode_begun(struct dump_view *d, struct begun *b)
{
	json_text_drop(&b->args);
	json_text_begin(&b->args);
	call_args(b->call, AT_SYSCALL_ENTER, d->names, &b->args.sink);
}

static void dump_on_enter(struct view *v, const struct call *c)
{
	struct dump_view *d = view_self(v);
	struct begun *b;

	/* the return of one before was not seen */
	begun_free((struct begun *)inflight_take(&d->begun, c->tid));
	b = xcalloc(1, sizeof(*b));
	b->call = c;
	dump_call_about(c, d->model, &b->about);
	dump_decode_begun(d, b);
	inflight_add(&d->begun, &b->in, c->tid, c->enter_ns);
}

static void dump_on_exit(struct view *v, const struct call *c)
{
	bool has_fd = call_result_kind(c) == RESULT_FD && !c->failed;
	struct dump_view *d = view_self(v);
	struct dump_return decoded;
	struct json_text line, *o;
	uint64_t last_close = 0;
	struct inflight *in;
	struct begun *b;
	bool split;

	in = inflight_get(&d->begun, c->tid);
	if (!in)
		return;
	if (!in->split && !view_shows_status(d->status, c) && !model_needs(c->desc->id)) {
		begun_free((struct begun *)inflight_take(&d->begun, c->tid));
		return;
	}
	/* before anything of the return is written: names that are looked up come before it */
	json_text_begin(&decoded.args);
	call_args(c, AT_SYSCALL_EXIT, d->names, &decoded.args.sink);
	json_text_begin(&decoded.results);
	call_results(c, d->names, &decoded.results.sink);
	json_text_begin(&decoded.notes);
	call_result_notes(c, d->names, &decoded.notes.sink);
	/*
	 * Write the "enter" lines of closes in progress: a close takes effect when it begins, and
	 * one of them may have freed the descriptor that this call returned.  Write those of all
	 * calls that began earlier, too, as lines are in the order of time.
	 */
	for (in = d->begun.head.next; has_fd && in != &d->begun.head; in = in->next)
		if (!in->split && in->tid != c->tid &&
		    ((struct begun *)in)->call->desc->id == CALL_CLOSE)
			last_close = in->enter_ns;
	if (last_close)
		inflight_split(&d->begun, last_close, 0, dump_write_enter, d);
	b = (struct begun *)inflight_take(&d->begun, c->tid);
	split = b->in.split;
	dump_before(d, split ? c->exit_ns : c->enter_ns, c->tid);
	o = dump_line(&line, split ? KIND_EXIT : KIND_CALL);
	if (split) {
		json_add_string(o, "call", c->desc->name);
		json_add_int(o, "tid", c->tid);
	} else {
		dump_call_beginning(o, c, &b->stack);
	}
	dump_call_return(o, c, d->model, split ? NULL : &b->args, &b->about, &decoded);
	dump_call_add_memory(o, c, !split, true);
	dump_write(d, c->tid, o);
	d->calls++;
	begun_free(b);
}

/* Write the "enter" lines of calls that take long: they may never return. */
static void dump_on_idle(struct view *v, uint64_t ns)
{
	struct dump_view *d = view_self(v);

	if (ns > IDLE_NS)
		inflight_split(&d->begun, ns - IDLE_NS, 0, dump_write_enter, d);
	output_flush(d->out);
}

static void dump_on_stack(struct view *v, pid_t tid, const struct view_frame *frames,
			  size_t n, const char *why)
{
	struct dump_view *d = view_self(v);
	struct begun *b = (struct begun *)inflight_get(&d->begun, tid);
	struct json_text *o;

	if (!b)
		return;
	o = &b->stack;
	json_text_begin(o);
	sink_begin(&o->sink, "stack", SINK_ARRAY);
	for (size_t i = 0; i < n; i++) {
		sink_begin(&o->sink, NULL, SINK_OBJECT);
		json_add_string(o, "module", frames[i].module);
		json_add_string(o, "symbol", frames[i].symbol);
		json_add_hex(o, "offset", frames[i].offset);
		json_add_hex(o, "ip", frames[i].ip);
		if (frames[i].file) {
			json_add_string(o, "file", frames[i].file);
			json_add_uint(o, "line", frames[i].line);
		}
		if (frames[i].inlined)
			json_add_bool(o, "inlined", true);
		sink_end(&o->sink);
	}
	if (why) {
		sink_begin(&o->sink, NULL, SINK_OBJECT);
		json_add_string(o, "why", why);
		sink_end(&o->sink);
	}
	sink_end(&o->sink);
}

/* Start and end ---------------------------------------------------------------- */

static void add_started(struct json_text *o, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / 1000000000);
	char text[64], whole[80];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(whole, sizeof(whole), "%s.%06lluZ", text,
		 (unsigned long long)(real_ns % 1000000000 / 1000));
	json_add_string(o, "started", whole);
}

static void write_header(struct dump_view *d, const struct session_facts *f)
{
	struct json_text line, *o = dump_line(&line, KIND_HEADER);

	json_add_int(o, "schema", DUMP_SCHEMA);
	json_add_string(o, "pevtrace", PACKAGE_VERSION);
	sink_begin(&o->sink, "kernel", SINK_OBJECT);
	json_add_string(o, "sysname", f->sysname);
	json_add_string(o, "release", f->release);
	json_add_string(o, "version", f->version);
	json_add_string(o, "machine", f->machine);
	if (f->nodename)
		json_add_string(o, "nodename", f->nodename);
	sink_end(&o->sink);
	json_add_string(o, "arch", f->arch->name);
	/* of memory that was read from another machine's dump */
	if (f->arch->big_endian != BIG_ENDIAN_HERE)
		json_add_string(o, "byte_order",
				BIG_ENDIAN_HERE ? BYTE_ORDER_BIG : BYTE_ORDER_LITTLE);
	json_add_uint(o, "page_size", f->page_size);
	if (f->cpus) {
		json_add_uint(o, "cpus", f->cpus);
		json_add_uint(o, "cpus_online", f->cpus_online);
	}
	if (f->features) {
		sink_begin(&o->sink, "features", SINK_OBJECT);
		for (size_t i = 0; i < PERF_FEATURES; i++) {
			const struct buf *b = &f->features->sections[i];

			if (b->len)
				json_add_bytes(o, xlat_name(&xlat_perf_header_feature, i), b->data,
					       b->len);
		}
		sink_end(&o->sink);
	}
	json_add_words(o, "command", f->command);
	sink_begin(&o->sink, "attached", SINK_ARRAY);
	for (size_t i = 0; i < f->npids; i++)
		json_add_int(o, NULL, f->pids[i]);
	sink_end(&o->sink);
	add_started(o, f->start_ns + (uint64_t)f->real_offset);
	json_add_uint(o, "start_ns", f->start_ns);
	json_add_int(o, "real_offset_ns", f->real_offset);
	json_add_string(o, "warning", "contains command lines, paths and addresses of "
		   "the traced programs, and the name of the machine: review it before you share it");
	d->header = json_text_end(o);
	buf_addc(&d->header, '\n');
	output_write(d->out, 0, buf_str(&d->header), d->header.len);
}

static void write_end(struct dump_view *d)
{
	struct json_text line, *o = dump_line(&line, KIND_END);

	json_add_uint(o, "ns", d->last_ns);
	json_add_uint(o, "calls", d->calls);
	json_add_uint(o, "records", d->records);
	json_add_uint(o, "missed", d->missed);
	json_add_uint(o, "unseen", d->unseen);
	json_add_uint(o, "tasks", d->tasks);
	dump_write(d, 0, o);
}

/* Go on in another file: a call that was split has its beginning there once more. */
static void dump_cut(struct view *v, bool begins)
{
	struct dump_view *d = view_self(v);

	d->begun.held = begins;
	if (begins) {
		write_end(d);
		d->calls = d->records = d->missed = d->unseen = d->tasks = 0;
		output_next(d->out);
		output_write(d->out, 0, buf_str(&d->header), d->header.len);
		return;
	}
	for (struct inflight *in = d->begun.head.next; in != &d->begun.head; in = in->next)
		if (in->split)
			dump_decode_begun(d, (struct begun *)in);
	inflights_join(&d->begun);
}

static void dump_free(struct view *v)
{
	struct dump_view *d = view_self(v);
	write_end(d);
	buf_free(&d->header);
	map_each(slot, &d->begun.by_tid)
		begun_free(slot->value);
	inflights_free(&d->begun);
	free(d);
}

static const struct view_ops ops = {
	.on[0 ... ACTIVITY_KINDS - 1] = dump_on_activity,
	.enter = dump_on_enter,
	.exit = dump_on_exit,
	.stack = dump_on_stack,
	.idle = dump_on_idle,
	.cut = dump_cut,
	.free = dump_free,
};

struct view *dump_view_new(const struct session_facts *f, const struct model *m,
			   const struct names *names, struct output *out, unsigned int status)
{
	struct dump_view *d = xcalloc(1, sizeof(*d));

	d->view.ops = &ops;
	d->model = m;
	d->names = names;
	d->out = out;
	d->status = status;
	d->last_ns = f->start_ns;
	inflights_init(&d->begun);
	write_header(d, f);
	return &d->view;
}
