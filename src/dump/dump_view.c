// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/dump_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "dump/dump_call.h"
#include "dump/dump_line.h"
#include "dump/json_sink.h"
#include "dump/keys.h"
#include "lib/die.h"
#include "render/inflight.h"
#include "render/siginfo.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

#define IDLE_NS 1000000000ULL

/* A call that has begun: the call itself stays where it is until it returns. */
struct begun {
	struct inflight in;
	const struct call *call;
	struct json_object *args, *about; /* decoded when it began */
	struct json_object *stack;	/* NULL: none */
};

struct dump_view {
	struct view view;
	const struct model *model;
	const struct names *names;
	struct output *out;
	struct inflights begun;
	uint64_t calls, records, missed, tasks, last_ns;
};

static struct dump_view *self(struct view *v)
{
	return (struct dump_view *)v; /* view is its first member */
}

/* Writes and releases it. */
static void write_line(struct dump_view *d, pid_t tid, struct json_object *o)
{
	size_t len;
	const char *text = json_line(o, &len);

	output_write(d->out, tid, text, len);
	output_write(d->out, tid, "\n", 1);
	json_object_put(o);
}

/* Calls ---------------------------------------------------------------------- */

static void write_enter(void *ctx, struct inflight *in)
{
	struct begun *b = (struct begun *)in;
	struct json_object *o = dump_line(KIND_ENTER);

	dump_call_beginning(o, b->call, b->stack);
	dump_add(o, "args", b->args);
	b->args = NULL;
	dump_add(o, "memory", dump_call_memory(b->call, true, false));
	write_line(ctx, in->tid, o);
}

static void before(struct dump_view *d, uint64_t ns, pid_t tid)
{
	inflight_split(&d->begun, ns, tid, write_enter, d);
	d->last_ns = ns;
}

static void begun_free(struct begun *b)
{
	if (!b)
		return;
	json_object_put(b->args);
	json_object_put(b->about);
	json_object_put(b->stack);
	free(b);
}

static struct begun *take(struct dump_view *d, pid_t tid)
{
	return (struct begun *)inflight_take(&d->begun, tid);
}

static void on_enter(struct view *v, const struct call *c)
{
	struct dump_view *d = self(v);
	struct begun *b;
	struct json_sink j;

	begun_free(take(d, c->tid)); /* its end was not seen */
	b = xcalloc(1, sizeof(*b));
	b->call = c;
	b->args = json_new_object();
	b->about = dump_call_about(c, d->model);
	json_sink_init(&j, b->args);
	call_args(c, AT_ENTER, d->names, &j.sink);
	inflight_add(&d->begun, &b->in, c->tid, c->enter_ns);
}

/*
 * A close has its effect at its beginning.  One that is under way may have
 * freed the number that this call was given: its beginning has to come first,
 * and that of all that began before it, as lines are in the order of time.
 */
static void split_closes(struct dump_view *d, pid_t tid)
{
	uint64_t last = 0;

	for (struct inflight *in = d->begun.head.next; in != &d->begun.head; in = in->next)
		if (!in->split && in->tid != tid &&
		    ((struct begun *)in)->call->desc->id == CALL_CLOSE)
			last = in->enter_ns;
	if (last)
		inflight_split(&d->begun, last, 0, write_enter, d);
}

static void on_exit_of(struct view *v, const struct call *c)
{
	struct dump_view *d = self(v);
	struct dump_return decoded;
	struct json_object *o;
	struct begun *b;
	bool split;

	if (!inflight_get(&d->begun, c->tid))
		return;
	decoded = dump_call_decode_return(c, d->names);
	if (call_result_kind(c) == RESULT_FD && !c->failed)
		split_closes(d, c->tid);
	b = take(d, c->tid);
	split = b->in.split;
	before(d, split ? c->exit_ns : c->enter_ns, c->tid);
	o = dump_line(split ? KIND_EXIT : KIND_CALL);
	if (split) {
		dump_add_string(o, "call", c->desc->name);
		dump_add_int(o, "tid", c->tid);
	} else {
		dump_call_beginning(o, c, b->stack);
	}
	dump_call_return(o, c, d->model, b->args, b->about, &decoded);
	b->args = b->about = NULL;
	dump_add(o, "memory", dump_call_memory(c, !split, true));
	write_line(d, c->tid, o);
	d->calls++;
	begun_free(b);
}

/* The beginning of the task's call gets a line of its own: something follows. */
static void split_own(struct dump_view *d, pid_t tid)
{
	struct inflight *in = inflight_get(&d->begun, tid);

	if (!in || in->split)
		return;
	before(d, in->enter_ns, tid);
	write_enter(d, in);
	in->split = true;
}

/* A call that waits long is told of before it returns: it may never. */
static void on_idle(struct view *v, uint64_t ns)
{
	struct dump_view *d = self(v);

	if (ns > IDLE_NS)
		inflight_split(&d->begun, ns - IDLE_NS, 0, write_enter, d);
}

static void on_abandon(struct view *v, const struct call *c, bool let_go, uint64_t ns)
{
	struct dump_view *d = self(v);
	struct begun *b = take(d, c->tid);
	struct json_object *o;

	if (!b)
		return;
	if (!b->in.split) {
		before(d, c->enter_ns, c->tid);
		write_enter(d, &b->in);
	}
	before(d, ns, c->tid);
	o = dump_task_line(KIND_ABANDONED, c->tid, ns);
	dump_add_string(o, "call", c->desc->name);
	dump_add_bool(o, "detached", let_go);
	write_line(d, c->tid, o);
	begun_free(b);
}

static void on_stack(struct view *v, pid_t tid, const struct view_frame *frames,
		     size_t n, const char *why)
{
	struct begun *b = (struct begun *)inflight_get(&self(v)->begun, tid);

	if (!b)
		return;
	b->stack = json_new_array();
	for (size_t i = 0; i < n; i++) {
		struct json_object *o = json_new_object();

		dump_add_string(o, "module", frames[i].module);
		dump_add_string(o, "symbol", frames[i].symbol);
		dump_add(o, "offset", json_hex(frames[i].offset));
		dump_add(o, "ip", json_hex(frames[i].ip));
		json_append(b->stack, o);
	}
	if (why) {
		struct json_object *o = json_new_object();

		dump_add_string(o, "why", why);
		json_append(b->stack, o);
	}
}

/* Tasks ---------------------------------------------------------------------- */

static void on_born(struct view *v, const struct birth *b, uint64_t ns)
{
	struct dump_view *d = self(v);
	struct json_object *o = dump_task_line(KIND_TASK, b->tid, ns);

	before(d, ns, b->tid);
	dump_add_int(o, "pid", b->pid);
	dump_add_int(o, "parent", b->parent);
	dump_add_bool(o, "attached", b->attached);
	dump_add_bool(o, "shares_files", b->shares_files);
	dump_add_bool(o, "shares_memory", b->shares_memory);
	write_line(d, b->tid, o);
	d->tasks++;
}

static void on_found(struct view *v, pid_t tid, int fd, bool cloexec,
		     const struct event *e)
{
	struct json_object *o = dump_line(KIND_FOUND);

	dump_add_int(o, "tid", tid);
	dump_add_int(o, "fd", fd);
	dump_add_bool(o, "cloexec", cloexec);
	dump_add_uint(o, "event", e->number);
	write_line(self(v), tid, o);
}

static void on_found_ring(struct view *v, pid_t tid, const struct ring *r)
{
	struct json_object *o = dump_line(KIND_FOUND_RING);

	dump_add_int(o, "tid", tid);
	dump_add_uint(o, "ring", r->number);
	dump_add(o, "start", json_hex(r->start));
	dump_add(o, "end", json_hex(r->end));
	write_line(self(v), tid, o);
}

static void on_comm(struct view *v, pid_t tid, const char *comm)
{
	struct json_object *o = dump_line(KIND_COMM);

	dump_add_int(o, "tid", tid);
	dump_add_string(o, "comm", comm);
	write_line(self(v), tid, o);
}

static void on_exec(struct view *v, pid_t tid, pid_t former, uint64_t ns,
		    const char *exe, bool shown)
{
	struct dump_view *d = self(v);
	struct json_object *o = dump_task_line(KIND_EXEC, tid, ns);

	split_own(d, former); /* the execve itself, which has yet to return */
	before(d, ns, former);
	begun_free((struct begun *)inflight_rename(&d->begun, former, tid));
	dump_add_int(o, "former", former);
	dump_add_string(o, "exe", exe);
	dump_add_bool(o, "shown", shown);
	write_line(d, tid, o);
}

static void on_gone(struct view *v, pid_t tid, uint64_t ns, enum view_end how,
		    int status, bool shown)
{
	static const char *const hows[] = {
		[END_EXIT] = "exit", [END_DETACHED] = "detached",
		[END_SUPERSEDED] = "superseded",
	};
	struct dump_view *d = self(v);
	struct json_object *o = dump_task_line(KIND_GONE, tid, ns);
	char name[32];

	before(d, ns, tid);
	dump_add_string(o, "how", hows[how]);
	if (how == END_EXIT) {
		dump_add_int(o, "status", status);
		if (WIFEXITED(status)) {
			dump_add_int(o, "exit", WEXITSTATUS(status));
		} else {
			signal_name(WTERMSIG(status), name, sizeof(name));
			dump_add_string(o, "signal", name);
			dump_add_bool(o, "core", WCOREDUMP(status));
		}
	}
	dump_add_bool(o, "shown", shown);
	write_line(d, tid, o);
}

static void on_signal(struct view *v, pid_t tid, uint64_t ns, const siginfo_t *info,
		      bool shown)
{
	struct dump_view *d = self(v);
	struct json_object *o = dump_task_line(KIND_SIGNAL, tid, ns);
	struct json_sink j;
	char name[32];

	before(d, ns, tid);
	signal_name(info->si_signo, name, sizeof(name));
	dump_add_string(o, "signal", name);
	json_sink_init(&j, o);
	siginfo_emit(info, &j.sink);
	dump_add(o, "info", json_object_get(json_object_object_get(o, "value")));
	json_object_object_del(o, "value");
	dump_add(o, "hex", json_bytes(info, sizeof(*info)));
	dump_add_bool(o, "shown", shown);
	write_line(d, tid, o);
}

/* Rings ---------------------------------------------------------------------- */

static void on_record(struct view *v, pid_t tid, uint64_t ns, const struct view_record *r)
{
	struct dump_view *d = self(v);
	struct json_object *o = dump_task_line(KIND_RECORD, tid, ns), *decoded;
	struct json_sink j;

	before(d, ns, tid);
	dump_add_uint(o, "ring", r->ring->number);
	dump_add_uint(o, "event", r->event->number);
	dump_add_bool(o, "sure", r->sure);
	decoded = json_new_object();
	json_sink_init(&j, decoded);
	record_emit(r->bytes, r->len, r->format, d->names, &j.sink, r->hooks);
	dump_add(o, "record",
			       json_object_get(json_object_object_get(decoded, "value")));
	json_object_put(decoded);
	dump_add(o, "hex", json_bytes(r->bytes, r->len));
	write_line(d, tid, o);
	d->records++;
}

static void on_looked(struct view *v, pid_t tid, uint64_t ns, const struct view_look *l)
{
	struct dump_view *d = self(v);
	struct json_object *o = dump_task_line(KIND_LOOK, tid, ns);

	before(d, ns, tid);
	dump_add_uint(o, "ring", l->ring->number);
	dump_add_uint(o, "missed", l->missed);
	dump_add_bool(o, "torn", l->torn);
	dump_add(o, "page", json_bytes(l->page, l->page_len));
	write_line(d, tid, o);
	d->missed += l->missed;
}

static void on_learnt_id(struct view *v, const struct event *e)
{
	struct json_object *o = dump_line(KIND_ID);

	dump_add_uint(o, "event", e->number);
	dump_add_uint(o, "id", e->id);
	write_line(self(v), e->opener, o);
}

static void on_count(struct view *v, const struct event *e)
{
	struct json_object *o = dump_line(KIND_COUNT);

	dump_add_uint(o, "event", e->number);
	dump_add_uint(o, "id", e->id);
	dump_add_uint(o, "count", e->count.value);
	if (e->found && e->format_known)
		dump_add(o, "read_format", json_hex(e->read_format));
	if (e->count.timed) {
		dump_add_uint(o, "time_enabled", e->count.enabled);
		dump_add_uint(o, "time_running", e->count.running);
	}
	write_line(self(v), e->opener, o);
}

/* Names ---------------------------------------------------------------------- */

static struct json_object *name_line(const char *of, const char *name)
{
	struct json_object *o = dump_line(KIND_NAME);

	dump_add_string(o, "of", of);
	dump_add_string(o, "name", name);
	return o;
}

static void on_name_pmu(struct view *v, uint32_t type, const char *name)
{
	struct json_object *o = name_line("pmu", name);

	dump_add_uint(o, "type", type);
	write_line(self(v), 0, o);
}

static void on_name_tracepoint(struct view *v, uint64_t id, const char *name)
{
	struct json_object *o = name_line("tracepoint", name);

	dump_add_uint(o, "id", id);
	write_line(self(v), 0, o);
}

static void on_name_format(struct view *v, uint64_t id, const char *text)
{
	struct json_object *o = name_line("format", text);

	dump_add_uint(o, "id", id);
	write_line(self(v), 0, o);
}

static void on_name_symbol(struct view *v, int32_t pid, uint64_t ip,
			   unsigned int cpumode, const char *name)
{
	struct json_object *o = name_line("symbol", name);

	dump_add_int(o, "pid", pid);
	dump_add(o, "ip", json_hex(ip));
	dump_add_uint(o, "cpumode", cpumode);
	write_line(self(v), 0, o);
}

static void on_name_terms(struct view *v, uint32_t type, const uint64_t *config,
			  size_t nconfigs, const char *name)
{
	struct json_object *o = name_line("terms", name);
	struct json_object *list = json_new_array();

	dump_add_uint(o, "type", type);
	for (size_t i = 0; i < nconfigs; i++)
		json_append(list, json_hex(config[i]));
	dump_add(o, "config", list);
	write_line(self(v), 0, o);
}

static void on_name_fd(struct view *v, pid_t tid, int64_t fd, const char *name)
{
	struct json_object *o = name_line("fd", name);

	split_own(self(v), (pid_t)tid); /* what it was before stands in the beginning */
	dump_add_int(o, "tid", tid);
	dump_add_int(o, "fd", fd);
	write_line(self(v), tid, o);
}

/* The beginning and the end ---------------------------------------------------- */

static void add_started(struct json_object *o, uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / 1000000000);
	char text[64], whole[80];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(whole, sizeof(whole), "%s.%06lluZ", text,
		 (unsigned long long)(real_ns % 1000000000 / 1000));
	dump_add_string(o, "started", whole);
}

static void write_header(struct dump_view *d, const struct dump_header *h)
{
	struct json_object *o = dump_line(KIND_HEADER), *kernel = json_new_object();
	struct json_object *command = json_new_array(), *pids = json_new_array();
	bool clean;

	dump_add_int(o, "schema", DUMP_SCHEMA);
	dump_add_string(o, "pevtrace", h->pevtrace);
	dump_add_string(kernel, "sysname", h->sysname);
	dump_add_string(kernel, "release", h->release);
	dump_add_string(kernel, "version", h->version);
	dump_add_string(kernel, "machine", h->machine);
	dump_add(o, "kernel", kernel);
	dump_add_string(o, "arch", h->arch);
	dump_add_uint(o, "page_size", h->page_size);
	/* what is not UTF-8 is for people only: nobody runs it from here */
	for (size_t i = 0; h->command && h->command[i]; i++)
		json_append(command, json_text(h->command[i],
							 strlen(h->command[i]), &clean));
	dump_add(o, "command", command);
	for (size_t i = 0; i < h->npids; i++)
		json_append(pids, json_new_int(h->pids[i]));
	dump_add(o, "attached", pids);
	add_started(o, h->start_ns + (uint64_t)h->real_offset);
	dump_add_uint(o, "start_ns", h->start_ns);
	dump_add_int(o, "real_offset_ns", h->real_offset);
	dump_add_string(o, "warning", "holds command lines, paths and addresses of "
		   "what was traced: look through it before you pass it on");
	write_line(d, 0, o);
}

static void free_view(struct view *v)
{
	struct dump_view *d = self(v);
	struct json_object *o = dump_line(KIND_END);
	struct map_slot *slot;
	size_t at = 0;

	dump_add_uint(o, "ns", d->last_ns);
	dump_add_uint(o, "calls", d->calls);
	dump_add_uint(o, "records", d->records);
	dump_add_uint(o, "missed", d->missed);
	dump_add_uint(o, "tasks", d->tasks);
	write_line(d, 0, o);
	while ((slot = map_next(&d->begun.by_tid, &at)))
		begun_free(slot->value);
	inflights_free(&d->begun);
	free(d);
}

static const struct view_ops ops = {
	.born = on_born,
	.found = on_found,
	.found_ring = on_found_ring,
	.comm = on_comm,
	.name_pmu = on_name_pmu,
	.name_tracepoint = on_name_tracepoint,
	.name_terms = on_name_terms,
	.name_format = on_name_format,
	.name_symbol = on_name_symbol,
	.name_fd = on_name_fd,
	.enter = on_enter,
	.exit = on_exit_of,
	.abandon = on_abandon,
	.stack = on_stack,
	.record = on_record,
	.looked = on_looked,
	.learnt_id = on_learnt_id,
	.count = on_count,
	.signalled = on_signal,
	.execed = on_exec,
	.gone = on_gone,
	.idle = on_idle,
	.free = free_view,
};

struct view *dump_view_new(const struct dump_header *h, const struct model *m,
			   const struct names *names, struct output *out)
{
	struct dump_view *d = xcalloc(1, sizeof(*d));

	d->view.ops = &ops;
	d->model = m;
	d->names = names;
	d->out = out;
	d->last_ns = h->start_ns;
	inflights_init(&d->begun);
	write_header(d, h);
	return &d->view;
}
