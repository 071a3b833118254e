// SPDX-License-Identifier: LGPL-2.1-or-later
/* The view that writes trace events; see report.h. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "core/abi/call_decode.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "formats/json/json_text.h"
#include "formats/report/report.h"
#include "xlat/tables.h"

/* A call that has not returned. */
struct begun {
	struct inflight in;	/* first member */
	const struct call_desc *desc;
	pid_t pid;
	struct json_text args;
};

struct chrome {
	struct view view;
	const struct names *names;
	struct output *out;
	bool any;		/* the next event needs a comma */
	uint64_t last_ns;
	struct map pids;	/* by tid */
	struct inflights begun;
};

/* Add exact microseconds; a double would round. */
static void add_microseconds(struct json_text *o, const char *key, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu.%03llu", (unsigned long long)(ns / 1000),
		 (unsigned long long)(ns % 1000));
	json_add_raw(o, key, text);
}

static pid_t pid_of_task(const struct chrome *v, pid_t tid)
{
	pid_t pid = (pid_t)(uintptr_t)map_get(&v->pids, (uint64_t)tid);

	return pid ? pid : tid;
}

/* Begin an event of that phase in *o; cat may be NULL.  Return o. */
static struct json_text *begin_event(struct json_text *o, const char *phase, const char *name,
				     const char *cat, pid_t pid, pid_t tid, uint64_t ns)
{
	json_text_begin(o);
	json_add_string(o, "ph", phase);
	json_add_string(o, "name", name);
	if (cat)
		json_add_string(o, "cat", cat);
	json_add_int(o, "pid", pid);
	json_add_int(o, "tid", tid);
	add_microseconds(o, "ts", ns);
	return o;
}

/* End and write an event. */
static void write_event(struct chrome *v, struct json_text *o)
{
	struct buf text = json_text_end(o);

	output_write(v->out, 0, v->any ? ",\n" : "\n", v->any ? 2 : 1);
	output_write(v->out, 0, text.data, text.len);
	buf_free(&text);
	v->any = true;
}

static void note_time(struct chrome *v, uint64_t ns)
{
	if (ns > v->last_ns)
		v->last_ns = ns;
}

/* Tasks ------------------------------------------------------------------ */

static void write_name(struct chrome *v, const char *what, pid_t tid, const char *name)
{
	struct json_text event, *o = begin_event(&event, "M", what, NULL, pid_of_task(v, tid), tid, 0);

	sink_begin(&o->sink, "args", SINK_OBJECT);
	json_add_string(o, "name", name);
	sink_end(&o->sink);
	write_event(v, o);
}

static void chrome_on_born(struct view *view, const struct activity *a)
{
	const struct activity_task *b = &a->task;
	struct chrome *v = view_self(view);

	note_time(v, b->ns);
	map_set(&v->pids, (uint64_t)b->tid, (void *)(uintptr_t)b->pid);
}

static void chrome_on_comm(struct view *view, const struct activity *a)
{
	const struct activity_comm *c = &a->comm;
	struct chrome *v = view_self(view);

	if (pid_of_task(v, c->tid) == c->tid)
		write_name(v, "process_name", c->tid, c->comm);
	write_name(v, "thread_name", c->tid, c->comm);
}

/* Write an instant event, and end args. */
static void write_instant(struct chrome *v, const char *name, const char *cat, pid_t tid,
			  uint64_t ns, struct json_text *args)
{
	struct json_text event, *o = begin_event(&event, "i", name, cat, pid_of_task(v, tid), tid, ns);

	note_time(v, ns);
	json_add_string(o, "s", "t");
	json_add_object(o, "args", args);
	write_event(v, o);
}

/* Drop a call whose return is not in the trace; in may be NULL. */
static void drop_begun(struct inflight *in)
{
	struct begun *b = (struct begun *)in;

	if (b)
		json_text_drop(&b->args);
	free(b);
}

static void chrome_on_exec(struct view *view, const struct activity *a)
{
	const struct activity_exec *x = &a->exec;
	struct chrome *v = view_self(view);
	struct json_text args;

	drop_begun(inflight_rename(&v->begun, x->former, x->tid)); /* of the former leader */
	json_text_begin(&args);
	json_add_string(&args, "exe", x->exe);
	write_instant(v, "exec", "task", x->tid, x->ns, &args);
}

static void chrome_on_gone(struct view *view, const struct activity *a)
{
	const struct activity_gone *g = &a->gone;
	struct json_text args;
	char name[32];

	json_text_begin(&args);
	if (g->how == END_EXIT && WIFEXITED(g->status)) {
		json_add_int(&args, "status", WEXITSTATUS(g->status));
	} else if (g->how == END_EXIT) {
		signal_name(WTERMSIG(g->status), name, sizeof(name));
		json_add_string(&args, "signal", name);
	}
	write_instant(view_self(view), g->how == END_DETACHED ? "detached" : "exit", "task", g->tid,
		      g->ns, &args);
}

static void chrome_on_signal(struct view *view, const struct activity *a)
{
	const struct activity_signal *s = &a->signal;
	struct json_text args;
	char name[32];

	signal_name(s->info.si_signo, name, sizeof(name));
	json_text_begin(&args);
	siginfo_emit(&s->info, &args.sink);
	write_instant(view_self(view), name, "signal", s->tid, s->ns, &args);
}

/* Calls -------------------------------------------------------------------- */

static void chrome_on_enter(struct view *view, const struct call *c)
{
	struct chrome *v = view_self(view);
	struct begun *b;

	note_time(v, c->enter_ns);
	if (!c->shown)
		return;
	b = xcalloc(1, sizeof(*b));
	b->desc = c->desc;
	b->pid = c->pid;
	json_text_begin(&b->args);
	b->args.sink.full = false;
	call_args(c, AT_SYSCALL_ENTER, v->names, &b->args.sink);
	drop_begun(inflight_take(&v->begun, c->tid));
	inflight_add(&v->begun, &b->in, c->tid, c->enter_ns);
}

/* Write b as a complete event and free it. */
static void write_complete(struct chrome *v, struct begun *b, uint64_t from, uint64_t to)
{
	struct json_text event, *o = begin_event(&event, "X", b->desc->name,
						 call_class_name(b->desc->class), b->pid,
						 b->in.tid, from);

	note_time(v, to);
	add_microseconds(o, "dur", to > from ? to - from : 0);
	json_add_object(o, "args", &b->args);
	write_event(v, o);
	free(b);
}

static void chrome_on_exit(struct view *view, const struct call *c)
{
	struct chrome *v = view_self(view);
	struct begun *b = (struct begun *)inflight_take(&v->begun, c->tid);
	const char *error = c->failed ? error_name((int)c->ret) : NULL;
	struct json_text results;

	note_time(v, c->exit_ns);
	if (!b)
		return;
	call_args(c, AT_SYSCALL_EXIT, v->names, &b->args.sink);
	json_text_begin(&results);
	results.sink.full = false;
	call_results(c, v->names, &results.sink);
	if (json_text_empty(&results))
		json_text_drop(&results);
	else
		json_add_object(&b->args, "results", &results);
	if (call_result_kind(c) == RESULT_ADDR && !c->failed)
		json_add_hex(&b->args, "ret", (uint64_t)c->ret);
	else
		json_add_int(&b->args, "ret", c->failed ? -1 : c->ret);
	if (error)
		json_add_string(&b->args, "error", error);
	else if (c->failed)
		json_add_int(&b->args, "errno", c->ret);
	write_complete(v, b, c->start_ns, c->exit_ns);
}

static void chrome_on_abandon(struct view *view, const struct activity *a)
{
	struct chrome *v = view_self(view);
	struct begun *b = (struct begun *)inflight_take(&v->begun, a->abandoned.call->tid);

	if (b)
		write_complete(v, b, b->in.enter_ns, a->abandoned.ns);
}

/* Rings ---------------------------------------------------------------------- */

static void chrome_on_record(struct view *view, const struct activity *a)
{
	const struct activity_record *r = &a->record;
	struct chrome *v = view_self(view);
	struct json_text args;
	struct record_id id;
	const char *name = NULL;

	if (record_identify(r->bytes, r->len, r->format, &id))
		name = xlat_name(&xlat_perf_event_type, id.type);
	json_text_begin(&args);
	args.sink.full = false;
	json_add_uint(&args, "ring", r->ring->number);
	json_add_string(&args, "event", r->event->name);
	record_emit(r->bytes, r->len, r->format, v->names, &args.sink, r->hooks);
	write_instant(v, name ? name : "record", "record", r->tid, r->ns, &args);
}

/* Write a counter of the bytes that wait in the ring for its reader. */
static void chrome_on_looked(struct view *view, const struct activity *a)
{
	const struct activity_look *l = &a->look;
	struct chrome *v = view_self(view);
	struct json_text o;
	uint64_t bytes;
	char name[40];

	note_time(v, l->ns);
	if (!life_ring_fill(l, &bytes))
		return;
	snprintf(name, sizeof(name), "ring %u", l->ring->number);
	begin_event(&o, "C", name, NULL, pid_of_task(v, l->tid), l->tid, l->ns);
	sink_begin(&o.sink, "args", SINK_OBJECT);
	json_add_uint(&o, "bytes waiting", bytes);
	sink_end(&o.sink);
	write_event(v, &o);
}

/* Start and end -------------------------------------------------------------- */

static void chrome_free(struct view *view)
{
	static const char end[] = "\n]}\n";
	struct chrome *v = view_self(view);

	map_each(slot, &v->begun.by_tid)
		write_complete(v, slot->value, ((struct inflight *)slot->value)->enter_ns,
			       v->last_ns);
	output_write(v->out, 0, end, sizeof(end) - 1);
	inflights_free(&v->begun);
	map_free(&v->pids);
	free(v);
}

static const struct view_ops chrome_ops = {
	.on[ACTIVITY_TASK] = chrome_on_born,
	.on[ACTIVITY_COMM] = chrome_on_comm,
	.enter = chrome_on_enter,
	.exit = chrome_on_exit,
	.on[ACTIVITY_ABANDONED] = chrome_on_abandon,
	.on[ACTIVITY_RECORD] = chrome_on_record,
	.on[ACTIVITY_LOOK] = chrome_on_looked,
	.on[ACTIVITY_SIGNAL] = chrome_on_signal,
	.on[ACTIVITY_EXEC] = chrome_on_exec,
	.on[ACTIVITY_GONE] = chrome_on_gone,
	.free = chrome_free,
};

struct view *chrome_view_new(const struct names *names, const struct session_facts *facts,
			     struct output *out)
{
	struct chrome *v = xcalloc(1, sizeof(*v));
	struct json_text o;
	struct buf head;

	v->view.ops = &chrome_ops;
	v->names = names;
	v->out = out;
	inflights_init(&v->begun);
	json_text_begin(&o);
	json_add_string(&o, "displayTimeUnit", "ns");
	sink_begin(&o.sink, "otherData", SINK_OBJECT);
	json_add_string(&o, "by", PACKAGE_STRING);
	json_add_string(&o, "release", facts->release);
	json_add_string(&o, "machine", facts->machine);
	sink_end(&o.sink);
	json_add_raw(&o, "traceEvents", "[");	/* chrome_free() writes its end */
	head = json_text_end(&o);
	output_write(out, 0, head.data, head.len - 1);
	buf_free(&head);
	return &v->view;
}
