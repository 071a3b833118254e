// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/chrome.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "abi/call_decode.h"
#include "abi/layout.h"
#include "abi/strings.h"
#include "dump/dump_line.h"
#include "abi/siginfo.h"
#include "dump/json_sink.h"
#include "lib/die.h"
#include "lib/map.h"
#include "report/views.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* A call that has not returned. */
struct begun {
	const struct call_desc *desc;
	pid_t tid, pid;
	uint64_t ns;
	struct json_object *args;
};

struct chrome {
	struct view view;
	const struct names *names;
	struct output *out;
	bool any;		/* the next event needs a comma */
	uint64_t last_ns;
	struct map pids;	/* by tid */
	struct map begun;	/* by tid */
};

static struct chrome *to_chrome(struct view *v)
{
	return (struct chrome *)v; /* view is its first member */
}

/* Return exact microseconds; a double would round. */
static struct json_object *microseconds(uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu.%03llu", (unsigned long long)(ns / 1000),
		 (unsigned long long)(ns % 1000));
	return json_new_decimal(text);
}

static pid_t pid_of_task(const struct chrome *v, pid_t tid)
{
	pid_t pid = (pid_t)(uintptr_t)map_get(&v->pids, (uint64_t)tid);

	return pid ? pid : tid;
}

/* Return a new event of that phase; cat may be NULL. */
static struct json_object *new_event_object(const struct chrome *v, const char *phase,
					    const char *name, const char *cat, pid_t tid,
					    uint64_t ns)
{
	struct json_object *o = json_new_object();

	dump_add_string(o, "ph", phase);
	dump_add_string(o, "name", name);
	if (cat)
		dump_add_string(o, "cat", cat);
	dump_add_int(o, "pid", pid_of_task(v, tid));
	dump_add_int(o, "tid", tid);
	dump_add(o, "ts", microseconds(ns));
	return o;
}

/* Write and release an event. */
static void write_event(struct chrome *v, struct json_object *o)
{
	struct buf text = { 0 };

	buf_adds(&text, v->any ? ",\n" : "\n");
	json_line(&text, o);
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
	struct json_object *o = new_event_object(v, "M", what, NULL, tid, 0);
	struct json_object *args = json_new_object();

	dump_add_string(args, "name", name);
	dump_add(o, "args", args);
	write_event(v, o);
}

static void chrome_on_born(struct view *view, const struct birth *b, uint64_t ns)
{
	struct chrome *v = to_chrome(view);

	note_time(v, ns);
	map_set(&v->pids, (uint64_t)b->tid, (void *)(uintptr_t)b->pid);
}

static void chrome_on_comm(struct view *view, pid_t tid, const char *comm)
{
	struct chrome *v = to_chrome(view);

	if (pid_of_task(v, tid) == tid)
		write_name(v, "process_name", tid, comm);
	write_name(v, "thread_name", tid, comm);
}

/* Write an instant event, and take ownership of args. */
static void write_instant(struct chrome *v, const char *name, const char *cat, pid_t tid,
			  uint64_t ns, struct json_object *args)
{
	struct json_object *o = new_event_object(v, "i", name, cat, tid, ns);

	note_time(v, ns);
	dump_add_string(o, "s", "t");
	if (args)
		dump_add(o, "args", args);
	write_event(v, o);
}

static void chrome_on_exec(struct view *view, pid_t tid, pid_t former, uint64_t ns,
			   const char *exe, bool shown)
{
	struct chrome *v = to_chrome(view);
	struct json_object *args = json_new_object();
	struct begun *b = views_move_pending(&v->begun, former, tid);

	(void)shown;
	if (b) { /* of the former leader */
		json_object_put(b->args);
		free(b);
	}
	b = map_get(&v->begun, (uint64_t)tid);
	if (b)
		b->tid = tid;
	dump_add_string(args, "exe", exe);
	write_instant(v, "exec", "task", tid, ns, args);
}

static void chrome_on_gone(struct view *view, pid_t tid, uint64_t ns, enum view_end how, int status,
			   bool shown)
{
	struct json_object *args = json_new_object();
	char name[32];

	(void)shown;
	if (how == END_EXIT && WIFEXITED(status)) {
		dump_add_int(args, "status", WEXITSTATUS(status));
	} else if (how == END_EXIT) {
		signal_name(WTERMSIG(status), name, sizeof(name));
		dump_add_string(args, "signal", name);
	}
	write_instant(to_chrome(view), how == END_DETACHED ? "detached" : "exit", "task", tid, ns,
		      args);
}

static void chrome_on_signal(struct view *view, pid_t tid, uint64_t ns, const siginfo_t *info,
			     bool shown)
{
	struct json_object *args = json_new_object();
	struct json_sink j;
	char name[32];

	(void)shown;
	signal_name(info->si_signo, name, sizeof(name));
	json_sink_init(&j, args);
	siginfo_emit(info, &j.sink);
	write_instant(to_chrome(view), name, "signal", tid, ns, args);
}

/* Calls -------------------------------------------------------------------- */

static void chrome_on_enter(struct view *view, const struct call *c)
{
	struct chrome *v = to_chrome(view);
	struct json_sink j;
	struct begun *b;

	note_time(v, c->enter_ns);
	if (!c->shown)
		return;
	b = xcalloc(1, sizeof(*b));
	b->desc = c->desc;
	b->tid = c->tid;
	b->pid = c->pid;
	b->ns = c->enter_ns;
	b->args = json_new_object();
	json_sink_init(&j, b->args);
	j.sink.full = false;
	call_args(c, AT_SYSCALL_ENTER, v->names, &j.sink);
	b = map_set(&v->begun, (uint64_t)c->tid, b);
	if (!b)
		return;
	json_object_put(b->args); /* its return is not in the trace */
	free(b);
}

/* Write b as a complete event and free it. */
static void write_complete(struct chrome *v, struct begun *b, uint64_t from, uint64_t to)
{
	struct json_object *o = new_event_object(v, "X", b->desc->name,
						 call_class_name(b->desc->class), b->tid, from);

	note_time(v, to);
	dump_add_int(o, "pid", b->pid);
	dump_add(o, "dur", microseconds(to > from ? to - from : 0));
	dump_add(o, "args", b->args);
	write_event(v, o);
	free(b);
}

static void add_call_result(struct json_object *args, const struct call *c)
{
	const char *name;

	if (c->failed) {
		name = error_name((int)c->ret);
		dump_add_int(args, "ret", -1);
		if (name)
			dump_add_string(args, "error", name);
		else
			dump_add_int(args, "errno", c->ret);
	} else if (call_result_kind(c) == RESULT_ADDR) {
		dump_add(args, "ret", json_hex((uint64_t)c->ret));
	} else {
		dump_add_int(args, "ret", c->ret);
	}
}

static void chrome_on_exit(struct view *view, const struct call *c)
{
	struct chrome *v = to_chrome(view);
	struct begun *b = map_del(&v->begun, (uint64_t)c->tid);
	struct json_object *results;
	struct json_sink j;

	note_time(v, c->exit_ns);
	if (!b)
		return;
	json_sink_init(&j, b->args);
	j.sink.full = false;
	call_args(c, AT_SYSCALL_EXIT, v->names, &j.sink);
	results = json_new_object();
	json_sink_init(&j, results);
	call_results(c, v->names, &j.sink);
	if (json_object_object_length(results))
		dump_add(b->args, "results", results);
	else
		json_object_put(results);
	add_call_result(b->args, c);
	write_complete(v, b, c->start_ns, c->exit_ns);
}

static void chrome_on_abandon(struct view *view, const struct call *c, bool detached, uint64_t ns)
{
	struct begun *b = map_del(&to_chrome(view)->begun, (uint64_t)c->tid);

	(void)detached;
	if (b)
		write_complete(to_chrome(view), b, b->ns, ns);
}

/* Rings ---------------------------------------------------------------------- */

static void chrome_on_record(struct view *view, pid_t tid, uint64_t ns, const struct view_record *r)
{
	struct chrome *v = to_chrome(view);
	struct json_object *args = json_new_object();
	struct record_id id;
	struct json_sink j;
	const char *name = NULL;

	if (record_identify(r->bytes, r->len, r->format, &id))
		name = xlat_name(&xlat_perf_event_type, id.type);
	dump_add_uint(args, "ring", r->ring->number);
	dump_add_string(args, "event", r->event->name);
	json_sink_init(&j, args);
	j.sink.full = false;
	record_emit(r->bytes, r->len, r->format, v->names, &j.sink, r->hooks);
	write_instant(v, name ? name : "record", "record", tid, ns, args);
}

/* Write a counter of the bytes that wait in the ring for its reader. */
static void chrome_on_looked(struct view *view, pid_t tid, uint64_t ns,
			     const struct view_look *l)
{
	struct chrome *v = to_chrome(view);
	struct json_object *o, *args;
	uint64_t bytes;
	char name[40];

	note_time(v, ns);
	if (!views_ring_fill(l, &bytes))
		return;
	snprintf(name, sizeof(name), "ring %u", l->ring->number);
	o = new_event_object(v, "C", name, NULL, tid, ns);
	args = json_new_object();
	dump_add_uint(args, "bytes waiting", bytes);
	dump_add(o, "args", args);
	write_event(v, o);
}

/* Start and end -------------------------------------------------------------- */

static void chrome_free(struct view *view)
{
	static const char end[] = "\n]}\n";
	struct chrome *v = to_chrome(view);
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&v->begun, &at)))
		write_complete(v, slot->value, ((struct begun *)slot->value)->ns, v->last_ns);
	output_write(v->out, 0, end, sizeof(end) - 1);
	map_free(&v->begun);
	map_free(&v->pids);
	free(v);
}

static const struct view_ops chrome_ops = {
	.born = chrome_on_born,
	.comm = chrome_on_comm,
	.enter = chrome_on_enter,
	.exit = chrome_on_exit,
	.abandon = chrome_on_abandon,
	.record = chrome_on_record,
	.looked = chrome_on_looked,
	.signalled = chrome_on_signal,
	.execed = chrome_on_exec,
	.gone = chrome_on_gone,
	.free = chrome_free,
};

struct view *chrome_view_new(const struct names *names, const struct session_facts *facts,
			     struct output *out)
{
	struct chrome *v = xcalloc(1, sizeof(*v));
	struct json_object *about = json_new_object();
	struct buf head = { 0 };

	v->view.ops = &chrome_ops;
	v->names = names;
	v->out = out;
	dump_add_string(about, "by", PACKAGE_STRING);
	dump_add_string(about, "release", facts->release);
	dump_add_string(about, "machine", facts->machine);
	buf_adds(&head, "{\"displayTimeUnit\":\"ns\",\"otherData\":");
	json_line(&head, about);
	buf_adds(&head, ",\"traceEvents\":[");
	output_write(out, 0, head.data, head.len);
	buf_free(&head);
	return &v->view;
}
