// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/dump_call.h"

#include <json-c/json_object_iterator.h>
#include <string.h>

#include "abi/call_decode.h"
#include "abi/strings.h"
#include "dump/dump_line.h"
#include "dump/json_sink.h"

struct json_object *dump_call_memory(const struct call *c, bool enter, bool exit)
{
	struct json_object *list = json_new_array();

	for (size_t i = 0; i < c->ncaptures; i++) {
		const struct capture *k = &c->captures[i];
		struct json_object *o;

		if (k->phase == AT_SYSCALL_ENTER ? !enter : !exit)
			continue;
		o = json_new_object();
		dump_add_string(o, "at", k->phase == AT_SYSCALL_ENTER ? "enter" : "exit");
		dump_add(o, "addr", json_hex(k->addr));
		dump_add_uint(o, "want", k->want);
		dump_add(o, "hex", json_bytes(buf_str(&c->pool) + k->at, k->len));
		json_append(list, o);
	}
	return list;
}

static void add_injection(struct json_object *o, const struct inject *t)
{
	char name[32];

	if (t->injected)
		dump_add_bool(o, "injected", true);
	if (t->because[0])
		dump_add_string(o, "because", t->because);
	if (t->signal) {
		signal_name(t->signal, name, sizeof(name));
		dump_add_string(o, "injected_signal", name);
	}
	if (t->enter_delay_ns)
		dump_add_uint(o, "enter_delay_ns", t->enter_delay_ns);
	if (t->exit_delay_ns)
		dump_add_uint(o, "exit_delay_ns", t->exit_delay_ns);
}

void dump_call_beginning(struct json_object *o, const struct call *c,
			 struct json_object *stack)
{
	struct json_object *raw = json_new_array();

	dump_add_string(o, "call", c->desc->name);
	dump_add_int(o, "tid", c->tid);
	dump_add_int(o, "pid", c->pid);
	if (c->target)
		dump_add_int(o, "target", c->target);
	dump_add_string(o, "arch", c->arch->name);
	dump_add_uint(o, "nr", c->nr);
	for (size_t i = 0; i < call_registers(c); i++)
		json_append(raw, json_hex(c->args[i]));
	dump_add(o, "raw", raw);
	dump_add_uint(o, "enter_ns", c->enter_ns);
	dump_add_bool(o, "shown", c->shown);
	add_injection(o, &c->inject);
	if (stack)
		dump_add(o, "stack", json_object_get(stack));
}

static void dump_call_add_event(struct json_object *o, const struct event *e)
{
	if (!e)
		return;
	dump_add_uint(o, "event", e->number);
	dump_add_string(o, "event_name", e->name);
	if (e->leader)
		dump_add_uint(o, "leader", e->leader->number);
	if (e->output)
		dump_add_uint(o, "output", e->output->number);
}

static void add_ring(struct json_object *o, const struct ring *r)
{
	if (r)
		dump_add_uint(o, "ring", r->number);
}

struct json_object *dump_call_about(const struct call *c, const struct model *m)
{
	struct json_object *o = json_new_object();
	const struct event *e = NULL;
	const struct ring *r;
	uint64_t start, end;

	switch (c->desc->class) {
	case CLASS_IOCTL:
	case CLASS_READ:
	case CLASS_DESC:
		dump_call_add_event(o, model_event(m, c->tid, call_int(c, 0)));
		break;
	case CLASS_MEMORY:
		if (c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2)
			e = model_event(m, c->tid, call_int(c, 4));
		r = model_covers(c, 0, &start, &end) ? model_ring_at(m, c->tid, start, end) : NULL;
		dump_call_add_event(o, e || !r ? e : r->event);
		add_ring(o, r);
		break;
	default:
		break;
	}
	return o;
}

/* Add the event or ring that the call created. */
static void add_made(struct json_object *o, const struct call *c, const struct model *m)
{
	if (c->failed || c->inject.injected)
		return;
	if (c->desc->class == CLASS_OPEN)
		dump_call_add_event(o, model_opened(m, c));
	else if (c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2)
		add_ring(o, model_ring_at(m, c->tid, (uint64_t)c->ret, (uint64_t)c->ret + 1));
}

/* Return the object; if it is empty, release it and return NULL. */
static struct json_object *unless_empty(struct json_object *o)
{
	if (json_object_object_length(o))
		return o;
	json_object_put(o);
	return NULL;
}

struct dump_return dump_call_decode_return(const struct call *c, const struct names *n)
{
	struct dump_return r = {
		json_new_object(), json_new_object(), json_new_object(),
	};
	struct json_sink j;

	json_sink_init(&j, r.args);
	call_args(c, AT_SYSCALL_EXIT, n, &j.sink);
	json_sink_init(&j, r.results);
	call_results(c, n, &j.sink);
	json_sink_init(&j, r.notes);
	call_result_notes(c, n, &j.sink);
	r.results = unless_empty(r.results);
	r.notes = unless_empty(r.notes);
	return r;
}

static void dump_call_add_result(struct json_object *o, const struct call *c)
{
	const char *name;

	if (c->failed) {
		name = error_name((int)c->ret);
		dump_add_int(o, "ret", -1);
		dump_add_int(o, "errno", c->ret);
		if (name)
			dump_add_string(o, "error", name);
	} else if (call_result_kind(c) == RESULT_ADDR) {
		dump_add(o, "ret", json_hex((uint64_t)c->ret));
	} else {
		dump_add_int(o, "ret", c->ret);
	}
	if (c->no_event)
		dump_add_bool(o, "no_event", true);
}

/* Move the members of from to to, and release from. */
static void move_members(struct json_object *to, struct json_object *from)
{
	struct json_object_iterator at = json_object_iter_begin(from);
	const struct json_object_iterator end = json_object_iter_end(from);

	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
		json_add(to, json_object_iter_peek_name(&at),
			 json_object_get(json_object_iter_peek_value(&at)));
	json_object_put(from);
}

void dump_call_return(struct json_object *o, const struct call *c, const struct model *m,
		      struct json_object *args, struct json_object *about,
		      const struct dump_return *decoded)
{
	if (args)
		move_members(args, decoded->args);
	dump_add_uint(o, "start_ns", c->start_ns);
	dump_add_uint(o, "exit_ns", c->exit_ns);
	dump_call_add_result(o, c);
	dump_add(o, "args", args ? args : decoded->args);
	if (decoded->results)
		dump_add(o, "results", decoded->results);
	if (decoded->notes)
		dump_add(o, "notes", decoded->notes);
	move_members(o, about);
	add_made(o, c, m);
}
