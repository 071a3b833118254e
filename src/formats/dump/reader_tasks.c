// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about tasks, events and rings. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/swap.h"
#include "formats/dump/reader_internal.h"
#include "formats/dump/reader_names.h"
#include "core/host/build_id.h"
#include "core/lib/die.h"
#include "xlat/tables.h"

/* Tasks --------------------------------------------------------------------------- */

void reader_feed_task(struct line *l)
{
	const struct birth b = {
		.tid = need_pid(l, "tid"), .pid = need_pid(l, "pid"),
		.parent = need_pid(l, "parent"), .attached = need_bool(l, "attached"),
		.shares_files = need_bool(l, "shares_files"),
		.shares_memory = need_bool(l, "shares_memory"),
	};
	uint64_t ns = need_uint(l, "ns");

	if (!l->wrong)
		session_born(l->r->session, &b, ns);
}

void reader_feed_found(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	int64_t fd = need_int(l, "fd");
	bool cloexec = need_bool(l, "cloexec");
	uint64_t number = 0;

	dump_get_uint(l->o, "event", &number);
	if (fd < 0 || fd > INT32_MAX)
		l->wrong = "fd";
	if (!l->wrong)
		session_found(l->r->session, tid, (int)fd, cloexec,
			      number <= UINT32_MAX ? (unsigned int)number : 0);
}

/* Return the event whose number that member has, NULL if it is the event itself or has ended. */
static struct event *other_event(struct line *l, const char *key, unsigned int self)
{
	unsigned int number = need_number(l, key);

	return l->wrong || number == self ? NULL :
	       model_event_number(l->r->session->model, number);
}

void reader_feed_described(struct line *l)
{
	struct session *s = l->r->session;
	unsigned int number = need_number(l, "event");
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	int64_t pid = need_int(l, "pid"), cpu = need_int(l, "cpu");
	struct event_facts f = {
		.cgroup = need_bool(l, "cgroup"), .enabled = need_bool(l, "enabled"),
		.leader = other_event(l, "leader", number),
		.output = other_event(l, "output", number),
	};
	uint8_t *attr = NULL;
	struct event *e;

	if (!dump_get_bytes(l->o, "bytes", &attr, &f.attr_len))
		l->wrong = "bytes";
	else if (pid < -1 || pid > INT32_MAX)
		l->wrong = "pid";
	else if (cpu < -1 || cpu > INT32_MAX)
		l->wrong = "cpu";
	e = l->wrong ? NULL : model_event_number(s->model, number);
	if (e && l->r->swapped)
		swap_layout(&layout_perf_event_attr, attr, 0, f.attr_len);
	f.attr = attr;
	f.pid = (pid_t)pid;
	f.cpu = (int)cpu;
	if (e && !event_known(e))
		session_describe(s, tid, ns, e, &f);
}

void reader_feed_closed(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	int64_t fd = need_int(l, "fd");

	if (fd < 0 || fd > INT32_MAX)
		l->wrong = "fd";
	if (!l->wrong)
		session_closed(l->r->session, tid, (int)fd);
}

void reader_feed_lost(struct line *l)
{
	uint64_t ns = need_uint(l, "ns"), n = need_uint(l, "messages");

	if (!l->wrong)
		session_lost(l->r->session, ns, n);
}

void reader_feed_found_ring(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	uint64_t start = 0, end = 0, event = 0;
	struct event *e = NULL;
	bool aux = false;

	if (!dump_get_hex(l->o, "start", &start) || !dump_get_hex(l->o, "end", &end) ||
	    start >= end)
		l->wrong = "start or end";
	if (dump_get_uint(l->o, "event", &event) && event <= UINT32_MAX) {
		e = model_event_number(l->r->session->model, (unsigned int)event);
		aux = need_bool(l, "aux");
	}
	if (!l->wrong)
		session_found_ring(l->r->session, tid, start, end, e, aux);
}

static void reader_add_thread(struct line *l, struct json_value *o, struct proc_image *p)
{
	const char *comm = o->type == JSON_OBJECT ? dump_get_text(o, "comm") : NULL;
	int64_t tid;

	if (!comm || !dump_get_int(o, "tid", &tid) || tid <= 0 || tid > INT32_MAX)
		l->wrong = "threads";
	else
		proc_image_add_thread(p, (pid_t)tid, comm);
}

static void reader_add_map(struct line *l, struct json_value *o, struct proc_image *p)
{
	const char *path = o->type == JSON_OBJECT ? dump_get_text(o, "path") : NULL;
	struct proc_image_map *m = proc_image_add_map(p, path ? path : "");
	uint64_t major, minor, prot, flags;

	/* perf aborts where code is of a directory */
	if (!path || (*path == '/' && path[strlen(path) - 1] == '/') ||
	    !dump_get_hex(o, "start", &m->start) || !dump_get_hex(o, "end", &m->end) ||
	    m->start >= m->end || !dump_get_hex(o, "pgoff", &m->pgoff) ||
	    !dump_get_uint(o, "inode", &m->inode) || !dump_get_uint(o, "major", &major) ||
	    !dump_get_uint(o, "minor", &minor) || !dump_get_uint(o, "prot", &prot) ||
	    !dump_get_uint(o, "flags", &flags)) {
		l->wrong = "maps";
		return;
	}
	m->major = (uint32_t)major;
	m->minor = (uint32_t)minor;
	m->prot = (uint32_t)prot;
	m->flags = (uint32_t)flags;
}

static void reader_add_function(struct line *l, struct json_value *o, struct proc_image *p)
{
	const char *name = o->type == JSON_OBJECT ? dump_get_text(o, "name") : NULL;
	struct proc_image_function *f = proc_image_add_function(p, name ? name : "");
	uint64_t size, program;
	uint8_t *tag;
	size_t len;

	if (!name || !dump_get_hex(o, "start", &f->start) || !dump_get_uint(o, "size", &size)) {
		l->wrong = "functions";
		return;
	}
	f->size = (uint32_t)size;
	if (!dump_get_uint(o, "program", &program))
		return;
	f->program = (uint32_t)program;
	if (!dump_get_bytes(o, "tag", &tag, &len) || len != sizeof(f->tag))
		l->wrong = "functions";
	else
		memcpy(f->tag, tag, len);
}

void reader_feed_measured(struct line *l)
{
	struct json_value *functions = dump_get_array(l->o, "functions"); /* may be absent */
	struct json_value *threads = dump_get_array(l->o, "threads");
	struct json_value *maps = dump_get_array(l->o, "maps"), *o;
	int64_t pid = need_int(l, "pid"), parent = need_int(l, "parent"), here = pid;
	uint64_t ns = need_uint(l, "ns");
	uint8_t *records;
	size_t len;
	struct proc_image p = { .pid = (pid_t)pid, .parent = (pid_t)parent };

	if (!threads || !maps)
		l->wrong = "threads or maps";
	else if (pid < -1 || pid > INT32_MAX || parent < 0 || parent > INT32_MAX)
		l->wrong = "pid or parent";
	if (dump_get_int(l->o, "here", &here) && (here < 1 || here > INT32_MAX))
		l->wrong = "here";
	if (l->wrong)
		return;
	p.here = (pid_t)here;
	dump_get_uint(l->o, "time", &p.time_ns);
	json_for_each(o, threads)
		reader_add_thread(l, o, &p);
	json_for_each(o, maps)
		reader_add_map(l, o, &p);
	if (functions)
		json_for_each(o, functions)
			reader_add_function(l, o, &p);
	if (!l->r->swapped && dump_get_bytes(l->o, "records", &records, &len))
		buf_add(&p.records, records, len);
	if (!l->wrong)
		session_measured(l->r->session, ns, &p);
	proc_image_free(&p);
}

void reader_feed_build_id(struct line *l)
{
	const char *path = dump_get_text(l->o, "path");
	uint8_t *id;
	size_t size;

	if (!path || !*path)
		l->wrong = "path";
	else if (!dump_get_bytes(l->o, "id", &id, &size) || size > BUILD_ID_BYTES)
		l->wrong = "id";
	else
		session_build_id(l->r->session, path, id, size);
}

void reader_feed_comm(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	const char *comm = dump_get_text(l->o, "comm");

	if (!comm)
		l->wrong = "comm";
	if (!l->wrong)
		session_comm(l->r->session, tid, comm);
}

void reader_feed_command(struct line *l)
{
	struct json_value *list = dump_get_array(l->o, "command"), *word;
	pid_t tid = need_pid(l, "tid");
	char **words;
	size_t n = 0;

	if (!list)
		l->wrong = "command";
	if (l->wrong)
		return;
	words = xcalloc(list->len + 1, sizeof(*words)); /* texts of the line */
	json_for_each(word, list) {
		words[n++] = word->text;
		if (word->type != JSON_STRING)
			l->wrong = "command";
	}
	if (!l->wrong)
		session_command(l->r->session, tid, words);
	free(words);
}

void reader_feed_exec(struct line *l)
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
	session_execed(l->r->session, tid, former, ns, dump_get_text(l->o, "exe"));
	reader_free_call(before);
}

void reader_feed_gone(struct line *l)
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
	if (end == END_SUPERSEDED && dump_get_int(l->o, "by", &status) &&
	    (status < 0 || status > INT32_MAX))
		l->wrong = "by";
	if (l->wrong)
		return;
	session_gone(l->r->session, tid, ns, end, (int)status, reader_call_of(l->r, tid));
	reader_drop_call(l->r, tid);
}

void reader_feed_signal(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	uint8_t *bytes;
	siginfo_t info;
	size_t len;

	if (!dump_get_bytes(l->o, "hex", &bytes, &len)) {
		l->wrong = "hex";
		return;
	}
	memset(&info, 0, sizeof(info));
	memcpy(&info, bytes, len < sizeof(info) ? len : sizeof(info));
	if (l->r->swapped)
		swap_siginfo(&info);
	if (!l->wrong)
		session_signal(l->r->session, tid, ns, &info);
}

/* Rings --------------------------------------------------------------------------- */

void reader_feed_record(struct line *l)
{
	struct session *s = l->r->session;
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	unsigned int ring = need_number(l, "ring"), event = need_number(l, "event");
	struct record_format format;
	uint8_t *bytes;
	struct view_record r = { .sure = need_bool(l, "sure"), .format = &format };

	if (!dump_get_bytes(l->o, "hex", &bytes, &r.len)) {
		l->wrong = "hex";
		return;
	}
	if (l->wrong)
		return;
	r.ring = model_ring(s->model, ring);
	r.event = model_event_number(s->model, event);
	if (!r.ring || !r.event)
		return;
	record_format_of(&format, r.event->attr, r.event->attr_len, s->arch);
	if (l->r->swapped)
		session_swap_record(s, r.event, &format, bytes, r.len);
	r.bytes = bytes;
	session_record(s, tid, ns, &r);
}

void reader_feed_look(struct line *l)
{
	struct session *s = l->r->session;
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	unsigned int ring = need_number(l, "ring");
	struct view_look look = {
		.missed = need_uint(l, "missed"), .torn = need_bool(l, "torn"),
	};
	int64_t error = 0;
	uint8_t *page;

	if (!dump_get_bytes(l->o, "page", &page, &look.page_len)) {
		l->wrong = "page";
		return;
	}
	if (l->r->swapped)
		swap_layout(&layout_perf_event_mmap_page, page, 0, look.page_len);
	look.page = page;
	/* absent in dumps of older versions */
	if (dump_get_int(l->o, "error", &error) && (error < 0 || error > INT_MAX))
		l->wrong = "error";
	look.error = (int)error;
	look.ring = l->wrong ? NULL : model_ring(s->model, ring);
	if (look.ring)
		session_looked(s, tid, ns, &look);
}

void reader_feed_aux(struct line *l)
{
	struct session *s = l->r->session;
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	unsigned int ring = need_number(l, "ring");
	struct view_aux aux = {
		.position = need_uint(l, "position"), .missed = need_uint(l, "missed"),
	};
	uint8_t *bytes = NULL;

	if (!dump_get_bytes(l->o, "hex", &bytes, &aux.len))
		l->wrong = "hex";
	aux.bytes = bytes;
	aux.ring = l->wrong ? NULL : model_ring(s->model, ring);
	if (aux.ring)
		session_aux(s, tid, ns, &aux);
}

void reader_feed_id(struct line *l)
{
	struct session *s = l->r->session;
	unsigned int event = need_number(l, "event");
	uint64_t id = need_uint(l, "id");
	struct event *e = l->wrong ? NULL : model_event_number(s->model, event);

	if (e)
		session_learnt_id(s, e, id);
}

void reader_feed_program(struct line *l)
{
	struct session *s = l->r->session;
	unsigned int event = need_number(l, "event");
	struct event *e = l->wrong ? NULL : model_event_number(s->model, event);
	struct bpf_program p;

	if (!l->wrong && !reader_program(l->o, dump_get_text(l->o, "name"), &p))
		l->wrong = "id, type or name";
	if (!l->wrong && e)
		session_program(s, e, &p);
}

void reader_feed_count(struct line *l)
{
	struct session *s = l->r->session;
	unsigned int event = need_number(l, "event");
	uint64_t id = need_uint(l, "id"), format;
	struct event_count count = { .known = true, .value = need_uint(l, "count") };
	struct event *e = l->wrong ? NULL : model_event_number(s->model, event);

	if (!e)
		return;
	count.timed = dump_get_uint(l->o, "time_enabled", &count.enabled) &&
		      dump_get_uint(l->o, "time_running", &count.running);
	model_set_id(s->model, e, id); /* the tracee's own read returned it */
	e->count = count;
	dump_get_uint(l->o, "lost", &e->lost_read);
	if (!event_attr_known(e) && dump_get_hex(l->o, "read_format", &format)) {
		e->read_format = format;
		e->format_known = true;
	}
	session_count(s, e);
}
