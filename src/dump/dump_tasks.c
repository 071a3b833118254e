// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about tasks. */
#include <sys/wait.h>

#include "abi/layout_emit.h"
#include "abi/strings.h"
#include "dump/dump_view_internal.h"
#include "abi/siginfo.h"
#include "dump/json_sink.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

void dump_on_born(struct view *v, const struct birth *b, uint64_t ns)
{
	struct dump_view *d = dump_self(v);
	struct json_object *o = dump_task_line(KIND_TASK, b->tid, ns);

	dump_before(d, ns, b->tid);
	dump_add_int(o, "pid", b->pid);
	dump_add_int(o, "parent", b->parent);
	dump_add_bool(o, "attached", b->attached);
	dump_add_bool(o, "shares_files", b->shares_files);
	dump_add_bool(o, "shares_memory", b->shares_memory);
	dump_write(d, b->tid, o);
	d->tasks++;
}

void dump_on_found(struct view *v, pid_t tid, int fd, bool cloexec,
		   const struct event *e)
{
	struct json_object *o = dump_line(KIND_FOUND);

	dump_split_own(dump_self(v), tid);	/* a received one precedes the return */
	dump_add_int(o, "tid", tid);
	dump_add_int(o, "fd", fd);
	dump_add_bool(o, "cloexec", cloexec);
	dump_add_uint(o, "event", e->number);
	dump_write(dump_self(v), tid, o);
}

static void describe_attr(struct json_object *o, const struct event *e, const struct names *names)
{
	const struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = e->attr, .len = e->attr_len,
		.names = names,
	};
	struct json_object *attr = json_new_object();
	struct json_sink j;

	json_sink_init(&j, attr);
	layout_emit(&w, &j.sink);
	dump_add(o, "attr", attr);
	dump_add(o, "bytes", json_bytes(e->attr, e->attr_len));
}

void dump_on_described(struct view *v, pid_t tid, uint64_t ns, const struct event *e)
{
	struct dump_view *d = dump_self(v);
	struct json_object *o = dump_task_line(KIND_DESCRIBED, tid, ns);

	dump_add_uint(o, "event", e->number);
	dump_add_int(o, "pid", e->pid);
	dump_add_int(o, "cpu", e->cpu);
	dump_add_bool(o, "cgroup", e->flags & PERF_FLAG_PID_CGROUP);
	dump_add_bool(o, "enabled", e->enabled);
	dump_add_uint(o, "leader", e->leader ? e->leader->number : e->number);
	dump_add_uint(o, "output", event_writes_to(e)->number);
	describe_attr(o, e, d->names);
	dump_write(d, tid, o);
}

void dump_on_closed(struct view *v, pid_t tid, int fd)
{
	struct json_object *o = dump_line(KIND_CLOSED);

	dump_add_int(o, "tid", tid);
	dump_add_int(o, "fd", fd);
	dump_write(dump_self(v), tid, o);
}

void dump_on_lost(struct view *v, uint64_t ns, uint64_t n)
{
	struct json_object *o = dump_line(KIND_LOST);

	dump_before(dump_self(v), ns, 0);
	dump_add_uint(o, "ns", ns);
	dump_add_uint(o, "messages", n);
	dump_write(dump_self(v), 0, o);
}

void dump_on_program(struct view *v, const struct event *e)
{
	struct json_object *o = dump_line(KIND_PROGRAM);

	dump_add_uint(o, "event", e->number);
	dump_add_uint(o, "id", e->program.id);
	dump_add_uint(o, "type", e->program.type);
	dump_add_string(o, "name", e->program.name);
	dump_write(dump_self(v), 0, o);
}

void dump_on_found_ring(struct view *v, pid_t tid, const struct ring *r)
{
	struct json_object *o = dump_line(KIND_FOUND_RING);

	dump_add_int(o, "tid", tid);
	dump_add_uint(o, "ring", r->number);
	dump_add(o, "start", json_hex(r->start));
	dump_add(o, "end", json_hex(r->end));
	if (event_known(r->event)) {
		dump_add_uint(o, "event", r->event->number);
		dump_add_bool(o, "aux", r->aux);
	}
	dump_write(dump_self(v), tid, o);
}

static struct json_object *dump_mapping(const struct proc_image_map *m)
{
	struct json_object *o = json_new_object();

	dump_add(o, "start", json_hex(m->start));
	dump_add(o, "end", json_hex(m->end));
	dump_add(o, "pgoff", json_hex(m->pgoff));
	dump_add_uint(o, "major", m->major);
	dump_add_uint(o, "minor", m->minor);
	dump_add_uint(o, "inode", m->inode);
	dump_add_uint(o, "prot", m->prot);
	dump_add_uint(o, "flags", m->flags);
	dump_add_string(o, "path", m->path);
	return o;
}

void dump_on_measured(struct view *v, uint64_t ns, const struct proc_image *p)
{
	struct dump_view *d = dump_self(v);
	struct json_object *o = dump_line(KIND_MEASURED), *t;
	struct json_object *threads = json_new_array(), *maps = json_new_array();

	dump_before(d, ns, 0);
	dump_add_uint(o, "ns", ns);
	dump_add_int(o, "pid", p->pid);
	dump_add_int(o, "parent", p->parent);
	for (size_t i = 0; i < p->nthreads; i++) {
		t = json_new_object();
		dump_add_int(t, "tid", p->threads[i].tid);
		dump_add_string(t, "comm", p->threads[i].comm);
		json_append(threads, t);
	}
	for (size_t i = 0; i < p->nmaps; i++)
		json_append(maps, dump_mapping(&p->maps[i]));
	dump_add(o, "threads", threads);
	dump_add(o, "maps", maps);
	dump_write(d, 0, o);
}

void dump_on_comm(struct view *v, pid_t tid, const char *comm)
{
	struct json_object *o = dump_line(KIND_COMM);

	dump_add_int(o, "tid", tid);
	dump_add_string(o, "comm", comm);
	dump_write(dump_self(v), tid, o);
}

void dump_on_exec(struct view *v, pid_t tid, pid_t former, uint64_t ns,
		  const char *exe, bool shown)
{
	struct dump_view *d = dump_self(v);
	struct json_object *o = dump_task_line(KIND_EXEC, tid, ns);

	dump_split_own(d, former); /* the execve, which has not returned yet */
	dump_before(d, ns, former);
	begun_free((struct begun *)inflight_rename(&d->begun, former, tid));
	dump_add_int(o, "former", former);
	dump_add_string(o, "exe", exe);
	dump_add_bool(o, "shown", shown);
	dump_write(d, tid, o);
}

void dump_on_gone(struct view *v, pid_t tid, uint64_t ns, enum view_end how,
		  int status, bool shown)
{
	static const char *const hows[] = {
		[END_EXIT] = "exit", [END_DETACHED] = "detached",
		[END_SUPERSEDED] = "superseded",
	};
	struct dump_view *d = dump_self(v);
	struct json_object *o = dump_task_line(KIND_GONE, tid, ns);
	char name[32];

	dump_before(d, ns, tid);
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
	dump_write(d, tid, o);
}

void dump_on_signal(struct view *v, pid_t tid, uint64_t ns, const siginfo_t *info,
		    bool shown)
{
	struct dump_view *d = dump_self(v);
	struct json_object *o = dump_task_line(KIND_SIGNAL, tid, ns);
	struct json_sink j;
	char name[32];

	dump_before(d, ns, tid);
	signal_name(info->si_signo, name, sizeof(name));
	dump_add_string(o, "signal", name);
	json_sink_init(&j, o);
	siginfo_emit(info, &j.sink);
	dump_add(o, "info", json_object_get(json_object_object_get(o, "value")));
	json_object_object_del(o, "value");
	dump_add(o, "hex", json_bytes(info, sizeof(*info)));
	dump_add_bool(o, "shown", shown);
	dump_write(d, tid, o);
}
