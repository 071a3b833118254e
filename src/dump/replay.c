// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump/dump_read.h"
#include "dump/keys.h"
#include "dump/replay_names.h"
#include "lib/die.h"
#include "lib/map.h"
#include "render/siginfo.h"

enum { FRAMES = 64 };

struct replay {
	struct dump_reader *reader;
	const char *path;
	bool keep_going, whole, ended;
	struct dump_facts facts;
	char *strings[5];		/* that facts point to */
	struct replay_names *names;
	struct map begun;		/* tid to struct call */
	const struct replay_ops *ops;
	void *ctx;
};

/* One line on its way; wrong() ends its use. */
struct line {
	struct replay *r;
	struct scan_value *o;
	const char *wrong;	/* the member that is missing or not as it should be */
};

/* Members that must be there ----------------------------------------------------- */

static int64_t need_int(struct line *l, const char *key)
{
	int64_t v = 0;

	if (!dump_get_int(l->o, key, &v))
		l->wrong = key;
	return v;
}

static uint64_t need_uint(struct line *l, const char *key)
{
	uint64_t v = 0;

	if (!dump_get_uint(l->o, key, &v))
		l->wrong = key;
	return v;
}

/* The number of a ring or event. */
static unsigned int need_number(struct line *l, const char *key)
{
	uint64_t v = need_uint(l, key);

	if (v > UINT32_MAX)
		l->wrong = key;
	return (unsigned int)v;
}

static bool need_bool(struct line *l, const char *key)
{
	bool v = false;

	if (!dump_get_bool(l->o, key, &v))
		l->wrong = key;
	return v;
}

static pid_t need_pid(struct line *l, const char *key)
{
	int64_t v = need_int(l, key);

	if (v < -1 || v > INT32_MAX)
		l->wrong = key;
	return (pid_t)v;
}

static const char *need_string(struct line *l, const char *key)
{
	const char *v = dump_get_string(l->o, key);

	if (!v)
		l->wrong = key;
	return v;
}

/* Calls --------------------------------------------------------------------------- */

static struct call *call_of(struct replay *r, pid_t tid)
{
	return map_get(&r->begun, (uint64_t)tid);
}

static void free_call(struct call *c)
{
	if (!c)
		return;
	call_free(c);
	free(c);
}

/*
 * Only when its end has been told: those who were told of its beginning look at
 * it until then.
 */
static void drop_call(struct replay *r, pid_t tid)
{
	free_call(map_del(&r->begun, (uint64_t)tid));
}

/* One for each argument that the call has: what else is in registers is not told. */
static void take_raw(struct line *l, struct call *c)
{
	struct scan_value *raw = dump_get_array(l->o, "raw"), *word;
	size_t i = 0;

	if (!raw || raw->len != c->desc->nargs) {
		l->wrong = "raw";
		return;
	}
	scan_for_each(word, raw)
		if (!dump_hex(word, &c->args[i++]))
			l->wrong = "raw";
}

/* Copies of memory that belong to that phase; of both on a "call" line. */
static void take_memory(struct line *l, struct call *c, enum call_phase phase)
{
	struct scan_value *list = dump_get_array(l->o, "memory"), *m;

	if (!list) {
		l->wrong = "memory";
		return;
	}
	scan_for_each(m, list) {
		const uint8_t *bytes;
		uint64_t addr, want;
		const char *at;
		size_t len;

		if (m->type != SCAN_OBJECT ||
		    !(at = dump_get_string(m, "at")) || !dump_get_hex(m, "addr", &addr) ||
		    !dump_get_uint(m, "want", &want) ||
		    !dump_get_bytes(m, "hex", &bytes, &len)) {
			l->wrong = "memory";
			return;
		}
		if (!strcmp(at, "enter") == (phase == AT_ENTER))
			call_add_capture(c, phase, addr, (uint32_t)want, bytes, (uint32_t)len);
	}
}

/* What was done to the call, or is going to be. */
static void take_tampering(struct line *l, struct tamper *t)
{
	const char *because = dump_get_string(l->o, "because");
	const char *sent = dump_get_string(l->o, "injected_signal");

	dump_get_bool(l->o, "injected", &t->injected);
	dump_get_uint(l->o, "enter_delay_ns", &t->enter_delay_ns);
	dump_get_uint(l->o, "exit_delay_ns", &t->exit_delay_ns);
	if (because)
		snprintf(t->because, sizeof(t->because), "%s", because);
	if (sent && !(t->signal = signal_by_name(sent)))
		l->wrong = "injected_signal";
}

static struct call *begin_call(struct line *l)
{
	const char *name = need_string(l, "call"), *arch = need_string(l, "arch");
	pid_t tid = need_pid(l, "tid");
	struct call *c;

	if (l->wrong)
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->desc = call_by_name(name);
	c->arch = arch_by_name(arch);
	c->tid = tid;
	c->pid = need_pid(l, "pid");
	c->nr = need_uint(l, "nr");
	c->enter_ns = need_uint(l, "enter_ns");
	c->shown = need_bool(l, "shown");
	if (!c->desc)
		l->wrong = "call (a name that this version does not know)";
	else if (!c->arch)
		l->wrong = "arch (a name that this version does not know)";
	else
		take_raw(l, c);
	take_tampering(l, &c->tamper);
	take_memory(l, c, AT_ENTER);
	if (!l->wrong)
		return c;
	free_call(c);
	return NULL;
}

static void tell_stack(struct line *l, pid_t tid)
{
	struct scan_value *list = dump_get_array(l->o, "stack"), *f;
	struct view_frame frames[FRAMES];
	const char *why = NULL;
	size_t kept = 0;

	if (!list || !l->r->ops->stack)
		return;
	scan_for_each(f, list) {
		if (f->type != SCAN_OBJECT || kept == FRAMES)
			continue;
		if (dump_get_string(f, "why")) {
			why = dump_get_string(f, "why");
			continue;
		}
		frames[kept] = (struct view_frame){
			.module = dump_get_text(f, "module"),
			.symbol = dump_get_text(f, "symbol"),
		};
		dump_get_hex(f, "offset", &frames[kept].offset);
		dump_get_hex(f, "ip", &frames[kept].ip);
		kept++;
	}
	l->r->ops->stack(l->r->ctx, tid, frames, kept, why);
}

static void tell_enter(struct line *l)
{
	struct call *c = begin_call(l), *before;

	if (!c)
		return;
	before = map_set(&l->r->begun, (uint64_t)c->tid, c);
	l->r->ops->enter(l->r->ctx, c);
	free_call(before);
	tell_stack(l, c->tid);
}

static void finish_call(struct line *l, struct call *c)
{
	uint64_t addr;
	int64_t error;

	c->returned = true;
	c->start_ns = need_uint(l, "start_ns");
	c->exit_ns = need_uint(l, "exit_ns");
	c->failed = dump_get_int(l->o, "errno", &error);
	dump_get_bool(l->o, "no_event", &c->no_event);
	if (c->failed)
		c->ret = error;
	else if (dump_get_hex(l->o, "ret", &addr))
		c->ret = (int64_t)addr;
	else
		c->ret = need_int(l, "ret");
	if (!c->failed && call_result_kind(c) == RESULT_FD &&
	    (c->ret < 0 || c->ret > INT32_MAX))
		l->wrong = "ret (no descriptor)";
	take_memory(l, c, AT_EXIT);
	if (l->wrong)
		return;
	l->r->ops->exit(l->r->ctx, c);
	drop_call(l->r, c->tid);
}

static void tell_exit(struct line *l)
{
	struct call *c = call_of(l->r, need_pid(l, "tid"));

	if (c)
		finish_call(l, c);
	else
		l->wrong = "tid (no call of that task has begun)";
}

static void tell_call(struct line *l)
{
	struct call *c;

	tell_enter(l);
	c = l->wrong ? NULL : call_of(l->r, need_pid(l, "tid"));
	if (c)
		finish_call(l, c);
}

/* The task's end follows, and takes the call with it. */
static void tell_abandoned(struct line *l)
{
	if (!call_of(l->r, need_pid(l, "tid")))
		l->wrong = "tid (no call of that task has begun)";
}

/* Tasks --------------------------------------------------------------------------- */

static void tell_task(struct line *l)
{
	const struct birth b = {
		.tid = need_pid(l, "tid"), .pid = need_pid(l, "pid"),
		.parent = need_pid(l, "parent"), .attached = need_bool(l, "attached"),
		.shares_files = need_bool(l, "shares_files"),
		.shares_memory = need_bool(l, "shares_memory"),
	};
	uint64_t ns = need_uint(l, "ns");

	if (!l->wrong)
		l->r->ops->born(l->r->ctx, &b, ns);
}

static void tell_found(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	int64_t fd = need_int(l, "fd");
	bool cloexec = need_bool(l, "cloexec");

	if (fd < 0 || fd > INT32_MAX)
		l->wrong = "fd";
	if (!l->wrong)
		l->r->ops->found(l->r->ctx, tid, (int)fd, cloexec);
}

static void tell_found_ring(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	uint64_t start = 0, end = 0;

	if (!dump_get_hex(l->o, "start", &start) || !dump_get_hex(l->o, "end", &end) ||
	    start >= end)
		l->wrong = "start or end";
	if (!l->wrong && l->r->ops->found_ring)
		l->r->ops->found_ring(l->r->ctx, tid, start, end);
}

static void tell_comm(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	const char *comm = dump_get_text(l->o, "comm");

	if (!comm)
		l->wrong = "comm";
	if (!l->wrong && l->r->ops->comm)
		l->r->ops->comm(l->r->ctx, tid, comm);
}

static void tell_exec(struct line *l)
{
	pid_t tid = need_pid(l, "tid"), former = need_pid(l, "former");
	uint64_t ns = need_uint(l, "ns");
	struct call *c, *before = NULL;

	if (l->wrong)
		return;
	c = former == tid ? NULL : map_del(&l->r->begun, (uint64_t)former);
	if (c) {
		c->tid = tid;
		before = map_set(&l->r->begun, (uint64_t)tid, c);
	}
	l->r->ops->execed(l->r->ctx, tid, former, ns, dump_get_text(l->o, "exe"));
	free_call(before);
}

static void tell_gone(struct line *l)
{
	const char *how = need_string(l, "how");
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	int64_t status = 0;
	enum view_end end = END_EXIT;

	if (l->wrong)
		return;
	if (!strcmp(how, "detached"))
		end = END_DETACHED;
	else if (!strcmp(how, "superseded"))
		end = END_SUPERSEDED;
	else if (!strcmp(how, "exit"))
		status = need_int(l, "status");
	else
		l->wrong = "how";
	if (status < 0 || status > 0xffff)
		l->wrong = "status";
	if (l->wrong)
		return;
	l->r->ops->gone(l->r->ctx, tid, ns, end, (int)status, call_of(l->r, tid));
	drop_call(l->r, tid);
}

static void tell_signal(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	const uint8_t *bytes;
	siginfo_t info;
	size_t len;

	if (!dump_get_bytes(l->o, "hex", &bytes, &len)) {
		l->wrong = "hex";
		return;
	}
	memset(&info, 0, sizeof(info));
	memcpy(&info, bytes, len < sizeof(info) ? len : sizeof(info));
	if (!l->wrong && l->r->ops->signalled)
		l->r->ops->signalled(l->r->ctx, tid, ns, &info);
}

/* Rings --------------------------------------------------------------------------- */

static void tell_record(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	unsigned int ring = need_number(l, "ring"), event = need_number(l, "event");
	bool sure = need_bool(l, "sure");
	const uint8_t *bytes;
	size_t len;

	if (!dump_get_bytes(l->o, "hex", &bytes, &len)) {
		l->wrong = "hex";
		return;
	}
	if (!l->wrong && l->r->ops->record)
		l->r->ops->record(l->r->ctx, tid, ns, ring, event, sure, bytes, len);
}

static void tell_look(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns"), missed = need_uint(l, "missed");
	unsigned int ring = need_number(l, "ring");
	bool torn = need_bool(l, "torn");
	const uint8_t *page;
	size_t len;

	if (!dump_get_bytes(l->o, "page", &page, &len)) {
		l->wrong = "page";
		return;
	}
	if (!l->wrong && l->r->ops->looked)
		l->r->ops->looked(l->r->ctx, tid, ns, ring, missed, torn, page, len);
}

static void tell_id(struct line *l)
{
	unsigned int event = need_number(l, "event");
	uint64_t id = need_uint(l, "id");

	if (!l->wrong && l->r->ops->learnt_id)
		l->r->ops->learnt_id(l->r->ctx, event, id);
}

static void tell_count(struct line *l)
{
	unsigned int event = need_number(l, "event");
	uint64_t id = need_uint(l, "id");
	struct event_count count = { .known = true, .value = need_uint(l, "count") };
	uint64_t format;
	bool known = dump_get_hex(l->o, "read_format", &format);

	count.timed = dump_get_uint(l->o, "time_enabled", &count.enabled) &&
		      dump_get_uint(l->o, "time_running", &count.running);
	if (!l->wrong && l->r->ops->count)
		l->r->ops->count(l->r->ctx, event, id, &count,
				 known ? &format : NULL);
}

static void tell_name(struct line *l)
{
	if (!replay_names_add(l->r->names, l->o))
		l->wrong = "of, or what goes with it";
}

static void tell_end(struct line *l)
{
	l->r->ended = true;
}

/* The file ------------------------------------------------------------------------ */

static const struct {
	const char *kind;
	void (*tell)(struct line *l);
} kinds[] = {
	{ KIND_CALL, tell_call },     { KIND_ENTER, tell_enter },
	{ KIND_EXIT, tell_exit },     { KIND_ABANDONED, tell_abandoned },
	{ KIND_NAME, tell_name },     { KIND_TASK, tell_task },
	{ KIND_FOUND, tell_found },   { KIND_FOUND_RING, tell_found_ring },
	{ KIND_COMM, tell_comm },
	{ KIND_EXEC, tell_exec },     { KIND_GONE, tell_gone },
	{ KIND_SIGNAL, tell_signal }, { KIND_RECORD, tell_record },
	{ KIND_LOOK, tell_look },     { KIND_ID, tell_id },
	{ KIND_COUNT, tell_count },
	{ KIND_END, tell_end },
};

/* Says what is wrong with the line; true when reading shall go on. */
static bool complain(struct replay *r, const char *what, const char *detail)
{
	r->whole = false;
	warn("%s:%lu: %s%s%s", r->path, dump_line_number(r->reader), what, detail,
	     r->keep_going ? "; passed over" :
			     "; pevtrace decode --keep-going shows what can still be read");
	return r->keep_going;
}

static bool tell_line(struct replay *r, struct scan_value *o)
{
	struct line l = { .r = r, .o = o };
	const char *kind = dump_get_string(o, "kind");

	if (!kind)
		return complain(r, "not a line of a dump: ", "it has no \"kind\"");
	if (r->ended)
		return complain(r, "a line behind the end: ", kind);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kind, kinds[i].kind))
			continue;
		kinds[i].tell(&l);
		return !l.wrong || complain(r, "missing or not as it should be: ", l.wrong);
	}
	return complain(r, "unknown kind of line: ", kind);
}

unsigned long replay_line(const struct replay *r)
{
	return dump_line_number(r->reader);
}

bool replay_run(struct replay *r, const struct replay_ops *ops, void *ctx)
{
	struct scan_value *o;
	enum dump_line got;

	r->ops = ops;
	r->ctx = ctx;
	while ((got = dump_next(r->reader, &o)) != DUMP_EOF) {
		bool go_on = got == DUMP_LINE ? tell_line(r, o) :
			complain(r, "", dump_error(r->reader));

		if (!go_on)
			return false;
	}
	if (!r->ended) {
		warn("%s:%lu: the dump is cut off: its last line is missing", r->path,
		     dump_line_number(r->reader));
		r->whole = false;
	}
	return r->whole;
}

static void take_command(struct dump_facts *f, struct scan_value *o)
{
	struct scan_value *list = dump_get_array(o, "command"), *word;
	size_t n = 0;

	f->command = xcalloc(list ? list->len + 1 : 1, sizeof(char *));
	if (!list)
		return;
	scan_for_each(word, list)
		f->command[n++] = xstrdup(word->type == SCAN_STRING ? word->text : "");
}

static void take_pids(struct dump_facts *f, struct scan_value *o)
{
	struct scan_value *list = dump_get_array(o, "attached"), *pid;

	f->pids = xcalloc(list ? list->len + 1 : 1, sizeof(pid_t));
	if (!list)
		return;
	scan_for_each(pid, list) {
		int64_t n;

		if (dump_int(pid, &n) && n > 0 && n <= INT32_MAX)
			f->pids[f->npids++] = (pid_t)n;
	}
}

static char *copy(struct scan_value *o, const char *key)
{
	const char *text = o ? dump_get_string(o, key) : NULL;

	return xstrdup(text ? text : "?");
}

/* NULL, or what is wrong. */
static const char *take_header(struct replay *r, struct scan_value *o)
{
	struct dump_facts *f = &r->facts;
	struct scan_value *kernel = dump_get_object(o, "kernel");
	const char *kind = dump_get_string(o, "kind"), *arch = dump_get_string(o, "arch");
	uint64_t page_size;
	int64_t schema;

	if (!kind || strcmp(kind, KIND_HEADER) || !dump_get_int(o, "schema", &schema))
		return "this is no dump of pevtrace: its first line is no header";
	if (schema != DUMP_SCHEMA)
		return "a dump of another schema version; use the pevtrace that "
		       "wrote it, or a newer one";
	if (!arch || !(f->arch = arch_by_name(arch)) ||
	    !dump_get_uint(o, "page_size", &page_size) || !page_size ||
	    page_size > 1 << 30 || !dump_get_int(o, "real_offset_ns", &f->real_offset) ||
	    !dump_get_uint(o, "start_ns", &f->start_ns))
		return "a header without arch, page_size, real_offset_ns or start_ns";
	f->page_size = (uint32_t)page_size;
	f->pevtrace = r->strings[0] = copy(o, "pevtrace");
	f->release = r->strings[1] = copy(kernel, "release");
	f->machine = r->strings[2] = copy(kernel, "machine");
	f->sysname = r->strings[3] = copy(kernel, "sysname");
	f->version = r->strings[4] = copy(kernel, "version");
	take_command(f, o);
	take_pids(f, o);
	return NULL;
}

struct replay *replay_open(FILE *f, const char *path, bool keep_going)
{
	struct replay *r = xcalloc(1, sizeof(*r));
	struct scan_value *o;
	const char *wrong;
	enum dump_line got;

	r->reader = dump_reader_new(f);
	r->path = path;
	r->keep_going = keep_going;
	r->whole = true;
	got = dump_next(r->reader, &o);
	wrong = got == DUMP_EOF ? "the file is empty" :
		got == DUMP_BAD ? dump_error(r->reader) : take_header(r, o);
	if (wrong) {
		warn("%s:1: %s", path, wrong);
		replay_close(r);
		return NULL;
	}
	r->names = replay_names_new(r->facts.page_size);
	return r;
}

void replay_close(struct replay *r)
{
	struct map_slot *slot;
	size_t at = 0;

	if (!r)
		return;
	while ((slot = map_next(&r->begun, &at)))
		free_call(slot->value);
	map_free(&r->begun);
	for (size_t i = 0; i < 5; i++)
		free(r->strings[i]);
	for (size_t i = 0; r->facts.command && r->facts.command[i]; i++)
		free(r->facts.command[i]);
	free(r->facts.command);
	free(r->facts.pids);
	replay_names_free(r->names);
	dump_reader_free(r->reader);
	free(r);
}

const struct dump_facts *replay_facts(const struct replay *r)
{
	return &r->facts;
}

const struct names *replay_names(const struct replay *r)
{
	return replay_names_hooks(r->names);
}
