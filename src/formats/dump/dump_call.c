// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about calls, and their place among others. */
#include <stdlib.h>

#include "core/abi/call_decode.h"
#include "core/abi/strings.h"
#include "formats/dump/dump_view_internal.h"

void dump_call_add_memory(struct json_text *o, const struct call *c, bool enter, bool exit)
{

	sink_begin(&o->sink, "memory", SINK_ARRAY);
	for (size_t i = 0; i < c->ncaptures; i++) {
		const struct capture *k = &c->captures[i];

		if (k->phase == AT_SYSCALL_ENTER ? !enter : !exit)
			continue;
		sink_begin(&o->sink, NULL, SINK_OBJECT);
		json_add_string(o, "at", k->phase == AT_SYSCALL_ENTER ? "enter" : "exit");
		json_add_hex(o, "addr", k->addr);
		json_add_uint(o, "want", k->want);
		json_add_bytes(o, "hex", buf_str(&c->pool) + k->at, k->len);
		sink_end(&o->sink);
	}
	sink_end(&o->sink);
}

static void add_injection(struct json_text *o, const struct inject *t)
{
	char name[32];

	if (t->injected)
		json_add_bool(o, "injected", true);
	if (t->because[0])
		json_add_string(o, "because", t->because);
	if (t->signal) {
		signal_name(t->signal, name, sizeof(name));
		json_add_string(o, "injected_signal", name);
	}
	if (t->enter_delay_ns)
		json_add_uint(o, "enter_delay_ns", t->enter_delay_ns);
	if (t->exit_delay_ns)
		json_add_uint(o, "exit_delay_ns", t->exit_delay_ns);
}

void dump_call_beginning(struct json_text *o, const struct call *c, struct json_text *stack)
{
	json_add_string(o, "call", c->desc->name);
	json_add_int(o, "tid", c->tid);
	json_add_int(o, "pid", c->pid);
	if (c->target)
		json_add_int(o, "target", c->target);
	json_add_string(o, "arch", c->arch->name);
	json_add_uint(o, "nr", c->nr);
	sink_begin(&o->sink, "raw", SINK_ARRAY);
	for (size_t i = 0; i < call_registers(c); i++)
		json_add_hex(o, NULL, c->args[i]);
	sink_end(&o->sink);
	json_add_uint(o, "enter_ns", c->enter_ns);
	json_add_bool(o, "shown", c->shown);
	add_injection(o, &c->inject);
	json_add_members(o, stack);
}

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

void dump_call_about(const struct call *c, const struct model *m, struct dump_about *about)
{
	const struct event *e = NULL;
	const struct ring *r;
	uint64_t start, end;

	json_text_begin(&about->event);
	about->ring = 0;
	switch (c->desc->class) {
	case CLASS_IOCTL:
	case CLASS_READ:
	case CLASS_DESC:
		dump_call_add_event(&about->event, model_event(m, c->tid, call_int(c, 0)));
		break;
	case CLASS_MEMORY:
		if (c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2)
			e = model_event(m, c->tid, call_int(c, 4));
		r = model_covers(c, 0, &start, &end) ? model_ring_at(m, c->tid, start, end) : NULL;
		dump_call_add_event(&about->event, e || !r ? e : r->event);
		about->ring = r ? r->number : 0;
		break;
	default:
		break;
	}
}

/* Add what the call is about, or else the event or ring that it created. */
static void add_about(struct json_text *o, const struct call *c, const struct model *m,
		      struct dump_about *about)
{
	bool made = !c->failed && !c->inject.injected;
	const struct ring *r = NULL;

	json_add_members(o, &about->event);
	if (made && c->desc->class == CLASS_OPEN)
		dump_call_add_event(o, model_opened(m, c));
	else if (made && (c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2))
		r = model_ring_at(m, c->tid, (uint64_t)c->ret, (uint64_t)c->ret + 1);
	if (r || about->ring)
		json_add_uint(o, "ring", r ? r->number : about->ring);
}

void dump_call_decode_return(const struct call *c, const struct names *n, struct dump_return *r)
{
	json_text_begin(&r->args);
	call_args(c, AT_SYSCALL_EXIT, n, &r->args.sink);
	json_text_begin(&r->results);
	call_results(c, n, &r->results.sink);
	json_text_begin(&r->notes);
	call_result_notes(c, n, &r->notes.sink);
}

static void dump_call_add_result(struct json_text *o, const struct call *c)
{
	const char *name;

	if (c->failed) {
		name = error_name((int)c->ret);
		json_add_int(o, "ret", -1);
		json_add_int(o, "errno", c->ret);
		if (name)
			json_add_string(o, "error", name);
	} else if (call_result_kind(c) == RESULT_ADDR) {
		json_add_hex(o, "ret", (uint64_t)c->ret);
	} else {
		json_add_int(o, "ret", c->ret);
	}
	if (c->no_event)
		json_add_bool(o, "no_event", true);
}

/* Add the object, if it has any members. */
static void add_unless_empty(struct json_text *o, const char *key, struct json_text *object)
{
	if (json_text_empty(object))
		json_text_drop(object);
	else
		json_add_object(o, key, object);
}

void dump_call_return(struct json_text *o, const struct call *c, const struct model *m,
		      struct json_text *args, struct dump_about *about,
		      struct dump_return *decoded)
{
	if (args)
		json_add_members(args, &decoded->args);
	json_add_uint(o, "start_ns", c->start_ns);
	json_add_uint(o, "exit_ns", c->exit_ns);
	dump_call_add_result(o, c);
	json_add_object(o, "args", args ? args : &decoded->args);
	add_unless_empty(o, "results", &decoded->results);
	add_unless_empty(o, "notes", &decoded->notes);
	add_about(o, c, m, about);
}

/* Order of lines --------------------------------------------------------------------- */

/*
 * Lines are in the order of time: a call is split into two lines, "enter" and "exit", if other
 * lines come in between.
 */
struct json_text *dump_line(struct json_text *o, const char *kind)
{
	json_text_begin(o);
	json_add_string(o, "kind", kind);
	return o;
}

void dump_write(struct dump_view *d, pid_t tid, struct json_text *o)
{
	struct buf line = json_text_end(o);

	buf_addc(&line, '\n');
	output_write(d->out, tid, line.data, line.len);
	buf_free(&line);
}

void dump_write_enter(void *ctx, struct inflight *in)
{
	struct begun *b = (struct begun *)in;
	struct json_text line, *o = dump_line(&line, KIND_ENTER);

	dump_call_beginning(o, b->call, &b->stack);
	json_add_object(o, "args", &b->args);
	dump_call_add_memory(o, b->call, true, false);
	dump_write(ctx, in->tid, o);
}

void dump_before(struct dump_view *d, uint64_t ns, pid_t tid)
{
	inflight_split(&d->begun, ns, tid, dump_write_enter, d);
	d->last_ns = ns;
}

void begun_free(struct begun *b)
{
	if (!b)
		return;
	json_text_drop(&b->args);
	json_text_drop(&b->about.event);
	json_text_drop(&b->stack);
	free(b);
}

void dump_split_own(struct dump_view *d, pid_t tid)
{
	struct inflight *in = inflight_get(&d->begun, tid);

	if (!in || in->split)
		return;
	dump_before(d, in->enter_ns, tid);
	dump_write_enter(d, in);
	in->split = true;
}
