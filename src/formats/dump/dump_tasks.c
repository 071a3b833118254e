// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about tasks. */
#include <sys/wait.h>

#include "core/abi/layout_emit.h"
#include "core/abi/strings.h"
#include "formats/dump/dump_view_internal.h"
#include "core/abi/siginfo.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

void dump_on_born(struct view *v, const struct birth *b, uint64_t ns)
{
	struct dump_view *d = dump_self(v);
	struct json_text line, *o = dump_task_line(&line, KIND_TASK, b->tid, ns);

	dump_before(d, ns, b->tid);
	json_add_int(o, "pid", b->pid);
	json_add_int(o, "parent", b->parent);
	json_add_bool(o, "attached", b->attached);
	json_add_bool(o, "shares_files", b->shares_files);
	json_add_bool(o, "shares_memory", b->shares_memory);
	dump_write(d, b->tid, o);
	d->tasks++;
}

void dump_on_found(struct view *v, pid_t tid, int fd, bool cloexec,
		   const struct event *e)
{
	struct json_text line, *o = dump_line(&line, KIND_FOUND);

	dump_split_own(dump_self(v), tid);	/* a received one precedes the return */
	json_add_int(o, "tid", tid);
	json_add_int(o, "fd", fd);
	json_add_bool(o, "cloexec", cloexec);
	json_add_uint(o, "event", e->number);
	dump_write(dump_self(v), tid, o);
}

static void describe_attr(struct json_text *o, const struct event *e, const struct names *names)
{
	const struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = e->attr, .len = e->attr_len,
		.names = names,
	};

	o->sink.ops->begin(&o->sink, "attr", SINK_OBJECT);
	layout_emit(&w, &o->sink);
	o->sink.ops->end(&o->sink);
	json_add_bytes(o, "bytes", e->attr, e->attr_len);
}

void dump_on_described(struct view *v, pid_t tid, uint64_t ns, const struct event *e)
{
	struct dump_view *d = dump_self(v);
	struct json_text line, *o = dump_task_line(&line, KIND_DESCRIBED, tid, ns);

	json_add_uint(o, "event", e->number);
	json_add_int(o, "pid", e->pid);
	json_add_int(o, "cpu", e->cpu);
	json_add_bool(o, "cgroup", e->flags & PERF_FLAG_PID_CGROUP);
	json_add_bool(o, "enabled", e->enabled);
	json_add_uint(o, "leader", e->leader ? e->leader->number : e->number);
	json_add_uint(o, "output", event_writes_to(e)->number);
	describe_attr(o, e, d->names);
	dump_write(d, tid, o);
}

void dump_on_closed(struct view *v, pid_t tid, int fd)
{
	struct json_text line, *o = dump_line(&line, KIND_CLOSED);

	json_add_int(o, "tid", tid);
	json_add_int(o, "fd", fd);
	dump_write(dump_self(v), tid, o);
}

void dump_on_lost(struct view *v, uint64_t ns, uint64_t n)
{
	struct json_text line, *o = dump_line(&line, KIND_LOST);

	dump_before(dump_self(v), ns, 0);
	json_add_uint(o, "ns", ns);
	json_add_uint(o, "messages", n);
	dump_write(dump_self(v), 0, o);
}

void dump_on_program(struct view *v, const struct event *e)
{
	struct json_text line, *o = dump_line(&line, KIND_PROGRAM);

	json_add_uint(o, "event", e->number);
	json_add_uint(o, "id", e->program.id);
	json_add_uint(o, "type", e->program.type);
	json_add_string(o, "name", e->program.name);
	dump_write(dump_self(v), 0, o);
}

void dump_on_found_ring(struct view *v, pid_t tid, const struct ring *r)
{
	struct json_text line, *o = dump_line(&line, KIND_FOUND_RING);

	json_add_int(o, "tid", tid);
	json_add_uint(o, "ring", r->number);
	json_add_hex(o, "start", r->start);
	json_add_hex(o, "end", r->end);
	if (event_known(r->event)) {
		json_add_uint(o, "event", r->event->number);
		json_add_bool(o, "aux", r->aux);
	}
	dump_write(dump_self(v), tid, o);
}

static void dump_add_mapping(struct json_text *o, const struct proc_image_map *m)
{
	o->sink.ops->begin(&o->sink, NULL, SINK_OBJECT);
	json_add_hex(o, "start", m->start);
	json_add_hex(o, "end", m->end);
	json_add_hex(o, "pgoff", m->pgoff);
	json_add_uint(o, "major", m->major);
	json_add_uint(o, "minor", m->minor);
	json_add_uint(o, "inode", m->inode);
	json_add_uint(o, "prot", m->prot);
	json_add_uint(o, "flags", m->flags);
	json_add_string(o, "path", m->path);
	o->sink.ops->end(&o->sink);
}

static void dump_add_functions(struct json_text *o, const struct proc_image *p)
{
	const struct sink_ops *ops = o->sink.ops;

	ops->begin(&o->sink, "functions", SINK_ARRAY);
	for (size_t i = 0; i < p->nfunctions; i++) {
		const struct proc_image_function *f = &p->functions[i];

		ops->begin(&o->sink, NULL, SINK_OBJECT);
		json_add_hex(o, "start", f->start);
		json_add_uint(o, "size", f->size);
		json_add_string(o, "name", f->name);
		if (f->program) {
			json_add_uint(o, "program", f->program);
			json_add_bytes(o, "tag", f->tag, sizeof(f->tag));
		}
		ops->end(&o->sink);
	}
	ops->end(&o->sink);
}

void dump_on_measured(struct view *v, uint64_t ns, const struct proc_image *p)
{
	struct dump_view *d = dump_self(v);
	struct json_text line, *o = dump_line(&line, KIND_MEASURED);
	const struct sink_ops *ops = o->sink.ops;

	dump_before(d, ns, 0);
	json_add_uint(o, "ns", ns);
	json_add_int(o, "pid", p->pid);
	if (p->here != p->pid)
		json_add_int(o, "here", p->here);
	if (p->time_ns)
		json_add_uint(o, "time", p->time_ns);
	json_add_int(o, "parent", p->parent);
	ops->begin(&o->sink, "threads", SINK_ARRAY);
	for (size_t i = 0; i < p->nthreads; i++) {
		ops->begin(&o->sink, NULL, SINK_OBJECT);
		json_add_int(o, "tid", p->threads[i].tid);
		json_add_string(o, "comm", p->threads[i].comm);
		ops->end(&o->sink);
	}
	ops->end(&o->sink);
	ops->begin(&o->sink, "maps", SINK_ARRAY);
	for (size_t i = 0; i < p->nmaps; i++)
		dump_add_mapping(o, &p->maps[i]);
	ops->end(&o->sink);
	if (p->nfunctions)
		dump_add_functions(o, p);
	if (p->records.len)
		json_add_bytes(o, "records", p->records.data, p->records.len);
	dump_write(d, 0, o);
}

void dump_on_build_id(struct view *v, const char *path, const uint8_t *id, size_t size)
{
	struct json_text line, *o = dump_line(&line, KIND_BUILD_ID);

	json_add_string(o, "path", path);
	json_add_bytes(o, "id", id, size);
	dump_write(dump_self(v), 0, o);
}

void dump_on_comm(struct view *v, pid_t tid, const char *comm)
{
	struct json_text line, *o = dump_line(&line, KIND_COMM);

	json_add_int(o, "tid", tid);
	json_add_string(o, "comm", comm);
	dump_write(dump_self(v), tid, o);
}

void dump_on_command(struct view *v, pid_t tid, char *const *words)
{
	struct json_text line, *o = dump_line(&line, KIND_COMMAND);

	json_add_int(o, "tid", tid);
	json_add_words(o, "command", words);
	dump_write(dump_self(v), tid, o);
}

void dump_on_exec(struct view *v, pid_t tid, pid_t former, uint64_t ns,
		  const char *exe, bool shown)
{
	struct dump_view *d = dump_self(v);
	struct json_text line, *o = dump_task_line(&line, KIND_EXEC, tid, ns);

	dump_split_own(d, former); /* the execve, which has not returned yet */
	dump_before(d, ns, former);
	begun_free((struct begun *)inflight_rename(&d->begun, former, tid));
	json_add_int(o, "former", former);
	json_add_string(o, "exe", exe);
	json_add_bool(o, "shown", shown);
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
	struct json_text line, *o = dump_task_line(&line, KIND_GONE, tid, ns);
	char name[32];

	dump_before(d, ns, tid);
	json_add_string(o, "how", hows[how]);
	if (how == END_EXIT) {
		json_add_int(o, "status", status);
		if (WIFEXITED(status)) {
			json_add_int(o, "exit", WEXITSTATUS(status));
		} else {
			signal_name(WTERMSIG(status), name, sizeof(name));
			json_add_string(o, "signal", name);
			json_add_bool(o, "core", WCOREDUMP(status));
		}
	} else if (how == END_SUPERSEDED) {
		json_add_int(o, "by", status);
	}
	json_add_bool(o, "shown", shown);
	dump_write(d, tid, o);
}

void dump_on_signal(struct view *v, pid_t tid, uint64_t ns, const siginfo_t *info,
		    bool shown)
{
	struct dump_view *d = dump_self(v);
	struct json_text line, *o = dump_task_line(&line, KIND_SIGNAL, tid, ns);
	char name[32];

	dump_before(d, ns, tid);
	signal_name(info->si_signo, name, sizeof(name));
	json_add_string(o, "signal", name);
	o->unnamed = "info";
	siginfo_emit(info, &o->sink);
	json_add_bytes(o, "hex", info, sizeof(*info));
	json_add_bool(o, "shown", shown);
	dump_write(d, tid, o);
}
