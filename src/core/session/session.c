// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/swap.h"
#include "core/abi/tables.h"
#include "core/host/proc.h"
#include "core/host/rawdata.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/scan_text.h"
#include "core/session/session.h"

/* Call a hook of every view that has it. */
#define EACH_VIEW(s, hook, ...)							\
	do {									\
		for (struct view *v = (s)->views; v; v = v->next)		\
			if (v->ops->hook)					\
				v->ops->hook(v, __VA_ARGS__);			\
	} while (0)

/* Report an activity to the views. */
static void session_tell(struct session *s, const struct activity *a)
{
	EACH_VIEW(s, on[a->kind], a);
}

/* Names that decoders look up, each reported once -------------------------- */

enum name_kind { NAME_PMU, NAME_TRACEPOINT, NAME_TERMS, NAME_FORMAT };

static struct session *session_of(const struct names *n)
{
	return (struct session *)((char *)n - offsetof(struct session, names));
}

/* Note the hash of a name; return whether it differs from the last one of that key. */
static bool session_is_new(struct map *named, uint64_t key, uint64_t hash)
{
	void *value = (void *)(uintptr_t)(hash | 1); /* never NULL */

	return map_set(named, key, value) != value;
}

static const char *session_name_pmu(const struct names *n, uint32_t type)
{
	struct session *s = session_of(n);
	const char *name = s->source->pmu ? s->source->pmu(s->source, type) : NULL;

	if (session_is_new(&s->named, (uint64_t)type << 3 | NAME_PMU, 0))
		session_tell(s, &(struct activity){
			ACTIVITY_NAME_PMU, .name_pmu = { name, type },
		});
	return name;
}

static const char *session_name_tracepoint(const struct names *n, uint64_t id)
{
	struct session *s = session_of(n);
	const char *name = s->source->tracepoint ? s->source->tracepoint(s->source, id) : NULL;

	/* a tracepoint that is not found now may be found later */
	if (name && session_is_new(&s->named, id << 3 | NAME_TRACEPOINT, 0))
		session_tell(s, &(struct activity){
			ACTIVITY_NAME_TRACEPOINT, .name_tracepoint = { name, id },
		});
	return name;
}

static const char *session_name_terms(const struct names *n, uint32_t type,
				      const uint64_t *config, size_t nconfigs)
{
	struct session *s = session_of(n);
	const char *name = NULL;
	uint64_t key = hash_word(HASH_START, type);

	if (s->source->terms)
		name = s->source->terms(s->source, type, config, nconfigs);
	for (size_t i = 0; i < nconfigs; i++)
		key = hash_word(key, config[i]);
	if (session_is_new(&s->named, key << 3 | NAME_TERMS, 0))
		session_tell(s, &(struct activity){
			ACTIVITY_NAME_TERMS, .name_terms = { name, type, config, nconfigs },
		});
	return name;
}

/* Return the event's name, or what the source calls another descriptor. */
static const char *session_name_fd(const struct names *n, const struct call *c, int64_t fd)
{
	struct session *s = session_of(n);
	const struct event *e = fd < 0 ? NULL : model_named(s->model, c->tid, (int)fd);
	const char *name;

	if (e)
		return e->name;
	if (fd < 0 || !s->fd_names || !s->source->fd)
		return NULL;
	name = s->source->fd(s->source, c, fd);
	if (session_is_new(&s->fd_named, (uint64_t)c->tid << 32 | (uint32_t)fd,
			   hash_text(HASH_START, name ? name : "")))
		session_tell(s, &(struct activity){
			ACTIVITY_NAME_FD, .name_fd = { name, c->tid, fd },
		});
	return name;
}

static const struct bpf_program *session_name_program(const struct names *n, const struct call *c,
						       int64_t fd)
{
	struct session *s = session_of(n);
	const struct bpf_program *p;
	uint64_t hash = 0;

	if (fd < 0 || !s->source->program)
		return NULL;
	p = s->source->program(s->source, c, fd);
	if (p)
		hash = hash_text(hash_word(hash_word(HASH_START, p->id), p->type), p->name);
	if (session_is_new(&s->programs_named, (uint64_t)c->tid << 32 | (uint32_t)fd, hash))
		session_tell(s, &(struct activity){
			ACTIVITY_NAME_PROGRAM, .name_program = {
				p ? p->name : NULL, c->tid, fd, p ? p->id : 0, p ? p->type : 0,
			},
		});
	return p;
}

static const char *session_name_link(const struct names *n, const struct call *c, int64_t fd)
{
	const struct event *e = fd < 0 ? NULL :
				model_linked(session_of(n)->model, c->tid, (int)fd);

	return e ? e->name : NULL;
}

static int64_t session_read_format(const struct names *n, const struct call *c, int64_t fd)
{
	const struct event *e = model_event(session_of(n)->model, c->tid, (int)fd);

	return !e ? NAMES_NO_EVENT : e->format_known ? (int64_t)e->read_format :
	       NAMES_NO_FORMAT;
}

static const char *session_name_event(const struct names *n, uint64_t id)
{
	const struct event *e = model_event_by_id(session_of(n)->model, id);

	return e ? e->name : NULL;
}

static const char *session_name_format(const struct names *n, uint64_t id)
{
	struct session *s = session_of(n);
	const char *text = s->source->format ? s->source->format(s->source, id) : NULL;

	if (text && session_is_new(&s->named, id << 3 | NAME_FORMAT, 0))
		session_tell(s, &(struct activity){
			ACTIVITY_NAME_FORMAT, .name_format = { text, id },
		});
	return text;
}

static const char *session_name_format_of(void *ctx, uint64_t id)
{
	return session_name_format(&((struct session *)ctx)->names, id);
}

/* Emit the raw data of a tracepoint's record by its format; return false for others. */
static bool session_emit_raw(void *ctx, const uint8_t *data, size_t len, struct sink *sink)
{
	struct session *s = ctx;
	const struct event *e = s->recording;

	return event_attr(e, ATTR_TYPE) == PERF_TYPE_TRACEPOINT &&
	       rawdata_emit(s->rawdata, event_attr(e, ATTR_CONFIG), data, len, sink);
}

static void session_swap_raw(void *ctx, uint8_t *data, size_t len)
{
	struct session *s = ctx;
	const struct event *e = s->recording;

	if (event_attr(e, ATTR_TYPE) == PERF_TYPE_TRACEPOINT)
		rawdata_swap(s->rawdata, event_attr(e, ATTR_CONFIG), data, len);
}

/* Look up a symbol; report it if it differs from the last one reported: mappings change. */
static const char *session_name_symbol(void *ctx, int32_t pid, uint64_t ip,
				       unsigned int cpumode, bool after_call)
{
	struct session *s = ctx;
	const char *name = s->source->symbol(s->source, pid, ip, cpumode, after_call);
	uint64_t key = hash_word(hash_word(hash_word(HASH_START, (uint32_t)pid), ip),
				 cpumode << 1 | after_call);
	uintptr_t hash = name ? (uintptr_t)hash_text(HASH_START, name) | 1 : 0;
	void *last = name ? map_set(&s->symbols_named, key, (void *)hash) :
		     map_del(&s->symbols_named, key);

	if (last != (void *)hash)
		session_tell(s, &(struct activity){
			ACTIVITY_NAME_SYMBOL,
			.name_symbol = { name, pid, ip, cpumode, after_call },
		});
	return name;
}

static const char *session_name_event_of_id(void *ctx, uint64_t id)
{
	return session_name_event(&((struct session *)ctx)->names, id);
}

/* Start and end ----------------------------------------------------------- */

/* An event is freed: judge it. */
static void session_judge(void *ctx, const struct event *e)
{
	struct session *s = ctx;

	flaws_add(&s->past, s->model, e);
}

void session_flaws(const struct session *s, struct flaws *f)
{
	*f = s->past;
	flaws_of(f, s->model);
}

void session_start(struct session *s, const struct session_setup *setup,
		   const struct session_facts *facts)
{
	const struct names *source = setup->source;
	const char *release = facts->release;

	*s = (struct session){
		.source = source, .selection = setup->selection,
		.fd_names = setup->fd_names, .stacks = setup->stacks, .arch = facts->arch,
		.program = facts->command ? facts->command[0] : NULL,
		.names = {
			.pmu = session_name_pmu, .tracepoint = session_name_tracepoint,
			.terms = session_name_terms, .fd = session_name_fd,
			.program = session_name_program, .link = session_name_link,
			.read_format = session_read_format, .event = session_name_event,
			.format = session_name_format, .page_size = source->page_size,
			.cpus = facts->cpus, .arch = facts->arch,
			.release = release ? release_read(&release) : 0,
		},
		.hooks = {
			.ctx = s, .event = session_name_event_of_id, .raw = session_emit_raw,
			.swap_raw = session_swap_raw,
			.symbol = setup->symbols && source->symbol ? session_name_symbol : NULL,
		},
	};
	if (facts->features) {
		s->names.pmus = (const uint8_t *)facts->features->sections[HEADER_PMU_MAPPINGS].data;
		s->names.pmus_len = facts->features->sections[HEADER_PMU_MAPPINGS].len;
	}
	s->rawdata = rawdata_new(session_name_format_of, s);
	s->model = model_new(&s->names, setup->keep);
	model_on_end(s->model, session_judge, s);
}

void session_add_view(struct session *s, struct view *v)
{
	struct view **last = &s->views;

	while (*last)
		last = &(*last)->next;
	*last = v;
}

void session_end(struct session *s)
{
	for (struct view *v = s->views, *next; v; v = next) {
		next = v->next;
		if (v->ops->free)
			v->ops->free(v);
	}
	model_free(s->model);
	rawdata_free(s->rawdata);
	map_free(&s->shown);
	map_free(&s->named);
	map_free(&s->fd_named);
	map_free(&s->programs_named);
	map_free(&s->symbols_named);
}

void session_tick(struct session *s, uint64_t ns)
{
	EACH_VIEW(s, idle, ns);
}

bool session_shows(const struct session *s, const struct call *c)
{
	enum selected selected = s->selection ? s->selection->calls[c->desc->id] : SELECT_ALL;

	return selected == SELECT_ALL ||
	       (selected == SELECT_PERF && model_concerns(s->model, c));
}

/* Activities ---------------------------------------------------------------- */

/*
 * Fill in the activity of a ring that was mapped before its task was followed; return false if
 * there is none.
 */
static bool session_set_ring(struct activity_found_ring *a, struct ring *r)
{
	if (!r)
		return false;
	a->ring = r;
	a->start = r->start;
	a->end = r->end;
	a->event = event_known(r->event) ? r->event : NULL;
	a->aux = r->aux;
	return true;
}

static struct activity_described session_description(pid_t tid, uint64_t ns, struct event *e)
{
	return (struct activity_described){
		.tid = tid, .ns = ns, .event = e, .pid = e->pid, .cpu = e->cpu,
		.cgroup = e->flags & PERF_FLAG_PID_CGROUP, .enabled = e->enabled,
		.leader = e->leader ? e->leader : e, .output = e->output ? e->output : e,
		.attr = e->attr, .attr_len = e->attr_len,
	};
}

static void session_take_program(const struct activity_program *a)
{
	struct event *e = a->event;

	e->bpf = BPF_FOUND;
	e->program = (struct bpf_program){ .id = a->id, .type = a->type };
	snprintf(e->program.name, sizeof(e->program.name), "%s", a->name);
}

static void session_take_count(struct session *s, struct activity_count *a)
{
	struct event *e = a->event;

	model_set_id(s->model, e, a->id); /* the tracee's own read returned it */
	e->count = (struct event_count){
		.known = true, .value = a->count, .timed = a->timed,
		.enabled = a->time_enabled, .running = a->time_running,
		.started = e->start != START_NEVER,
	};
	if (a->lost)
		event_note_lost(e, a->lost);
	if (!event_attr_known(e) && a->has_format) {
		e->read_format = a->read_format;
		e->format_known = true;
	}
	a->lost = e->lost_read;
	a->read_format = e->read_format;
	a->has_format = !event_attr_known(e) && e->format_known;
}

/* Return whether the selection includes the exec; what its task showed is its new thread's. */
static bool session_shows_exec(struct session *s, const struct activity_exec *a)
{
	/* the exec of a measured task is shown: enable_on_exec takes effect there */
	bool shown = model_involved(s->model, a->former);

	if (map_del(&s->shown, (uint64_t)a->former) || shown)
		map_set(&s->shown, (uint64_t)a->tid, s);
	return shown;
}

/* Report that the task's call does not return, and return whether its end is shown. */
static bool session_shows_end(struct session *s, const struct activity_gone *a)
{
	bool shown = map_del(&s->shown, (uint64_t)a->tid) || model_involved(s->model, a->tid);

	if (a->call)
		session_tell(s, &(struct activity){
			ACTIVITY_ABANDONED, .abandoned = {
				.tid = a->call->tid, .ns = a->ns, .call = a->call,
				.detached = a->how == END_DETACHED,
			},
		});
	return shown;
}

/* Let the model know what precedes the views; return false if there is nothing to report. */
static bool session_learn(struct session *s, struct activity *a)
{
	switch (a->kind) {
	case ACTIVITY_TASK:
		model_born(s->model, &a->task);
		/* the exec of the program itself is not reported */
		if (s->program && !a->task.parent && !a->task.attached)
			model_comm(s->model, a->task.tid, scan_base_name(s->program));
		return true;
	case ACTIVITY_COMM:
		model_comm(s->model, a->comm.tid, a->comm.comm);
		return true;
	case ACTIVITY_BUILD_ID:
		return a->build_id.size;
	case ACTIVITY_LOST:
		s->lost += a->lost.messages;
		return true;
	case ACTIVITY_FOUND:
		a->found.event = model_found(s->model, a->found.tid, a->found.fd, a->found.cloexec,
					     a->found.event);
		return a->found.event;
	case ACTIVITY_FOUND_RING:
		return session_set_ring(&a->found_ring,
					model_found_ring(s->model, &a->found_ring));
	case ACTIVITY_DESCRIBED:
		model_describe(s->model, a->described.event, &a->described);
		a->described = session_description(a->described.tid, a->described.ns,
						   a->described.event);
		return true;
	case ACTIVITY_PROGRAM:
		session_take_program(&a->program);
		return true;
	case ACTIVITY_ID:
		model_set_id(s->model, a->id.event, a->id.id);
		a->id.id = a->id.event->id;
		return true;
	case ACTIVITY_COUNT:
		session_take_count(s, &a->count);
		return true;
	case ACTIVITY_RECORD:
		model_recorded(a->record.ring, a->record.event, a->record.bytes, a->record.len);
		a->record.hooks = &s->hooks;
		s->recording = a->record.event;
		return true;
	case ACTIVITY_LOOK:
		model_looked(&a->look);
		return true;
	case ACTIVITY_SIGNAL:
		a->signal.shown = model_involved(s->model, a->signal.tid) &&
				  (!s->selection ||
				   selection_has_signal(s->selection, a->signal.info.si_signo));
		return true;
	case ACTIVITY_EXEC:
		a->exec.shown = session_shows_exec(s, &a->exec);
		return true;
	case ACTIVITY_GONE:
		a->gone.shown = session_shows_end(s, &a->gone);
		return true;
	default:
		return true;
	}
}

void session_feed(struct session *s, struct activity *a)
{
	if (!session_learn(s, a))
		return;
	session_tell(s, a);
	/* the views still find in the model what ends */
	if (a->kind == ACTIVITY_CLOSED) {
		model_closed(s->model, a->closed.tid, a->closed.fd);
	} else if (a->kind == ACTIVITY_EXEC) {
		model_execed(s->model, a->exec.tid, a->exec.former);
		if (a->exec.exe)
			model_comm(s->model, a->exec.tid, scan_base_name(a->exec.exe));
	} else if (a->kind == ACTIVITY_GONE) {
		model_gone(s->model, a->gone.tid, a->gone.how == END_DETACHED);
	}
}

void session_count(struct session *s, struct event *e)
{
	session_feed(s, &(struct activity){
		ACTIVITY_COUNT, .count = {
			.event = e, .id = e->id, .count = e->count.value,
			.timed = e->count.timed, .time_enabled = e->count.enabled,
			.time_running = e->count.running,
		},
	});
}

/* State from before attach ------------------------------------------------------- */

struct adoption {
	pid_t tid;
	struct activity_found *fds;
	size_t n;
};

static void adoption_add(void *ctx, int fd, bool cloexec, struct event *e)
{
	struct adoption *a = ctx;

	APPEND(a->fds, a->n) = (struct activity_found){ a->tid, fd, cloexec, e };
}

static int adoption_compare(const void *a, const void *b)
{
	const struct activity_found *x = a, *y = b;

	return x->event->number < y->event->number ? -1 :
	       x->event->number > y->event->number ? 1 : x->fd - y->fd;
}

/* Report events in the order of their numbers: the reader of a dump assigns them anew. */
void session_adopt(struct session *s, pid_t tid, bool all, model_id_of *id_of)
{
	struct adoption a = { .tid = tid };

	model_adopt(s->model, tid, all, id_of);
	model_each_fd(s->model, tid, adoption_add, &a);
	if (a.n)
		qsort(a.fds, a.n, sizeof(*a.fds), adoption_compare);
	for (size_t i = 0; i < a.n; i++)
		session_tell(s, &(struct activity){ ACTIVITY_FOUND, .found = a.fds[i] });
	for (size_t i = 0; i < a.n; i++)
		if (a.fds[i].event->id && (!i || a.fds[i].event != a.fds[i - 1].event))
			session_tell(s, &(struct activity){
				ACTIVITY_ID, .id = { a.fds[i].event, a.fds[i].event->id },
			});
	free(a.fds);
}

void session_adopt_rings(struct session *s, pid_t tid, model_ring_event *of, void *ctx)
{
	struct activity found = { ACTIVITY_FOUND_RING, .found_ring.tid = tid };
	struct ring *r;

	model_adopt_rings(s->model, tid, of, ctx);
	for (size_t i = 0; (r = model_mapping(s->model, tid, i)); i++) {
		session_set_ring(&found.found_ring, r);
		session_tell(s, &found);
	}
}

/* The head of a further file of --max-size -------------------------------------------- */

/* Tasks that are followed, and what they have. */
struct head {
	struct view *view;
	struct activity_task *tasks;
	size_t n;
	struct adoption found;
};

static void head_tell(const struct head *h, struct activity a)
{
	if (h->view->ops->on[a.kind])
		h->view->ops->on[a.kind](h->view, &a);
}

static void head_add(void *ctx, pid_t tid, pid_t pid, struct event *about, int fd)
{
	const struct event *now;
	struct head *h = ctx;

	h->tasks = xrealloc(h->tasks, (h->n + 1) * sizeof(*h->tasks));
	h->tasks[h->n++] = (struct activity_task){
		.tid = tid, .pid = pid, .attached = true, .ns = clock_ns(),
	};
	h->found.tid = tid;
	now = about ? model_event(about->owner, tid, fd) : NULL;
	if (!about || now == about)
		return;
	/* it is closed, and its number perhaps another event's now, or closed by two tasks */
	for (size_t i = 0; i < h->found.n; i++)
		if (h->found.fds[i].fd == fd)
			fd = FOUND_CLOSING;
	adoption_add(&h->found, now ? FOUND_CLOSING : fd, false, about);
}

/* The threads of a process are together, the leader, if it is left, first. */
static int head_compare(const void *a, const void *b)
{
	const struct activity_task *x = a, *y = b;

	return x->pid != y->pid ? x->pid - y->pid :
	       x->tid == x->pid ? -1 : y->tid == y->pid ? 1 : x->tid - y->tid;
}

static void head_tell_tasks(struct head *h, struct model *m)
{
	char comm[32];
	struct ring *r;

	for (struct activity_task *t = h->tasks; t < h->tasks + h->n; t++) {
		if (t > h->tasks && t[-1].pid == t->pid) {
			t->parent = t[-1].parent ? t[-1].parent : t[-1].tid;
			t->shares_files = t->shares_memory = true;
		}
		head_tell(h, (struct activity){ ACTIVITY_TASK, .task = *t });
		if (proc_comm(t->tid, comm, sizeof(comm)))
			head_tell(h, (struct activity){ ACTIVITY_COMM, .comm = { t->tid, comm } });
		h->found.tid = t->tid;
		if (!t->parent)
			model_each_fd(m, t->tid, adoption_add, &h->found);
		for (size_t i = 0; !t->parent && (r = model_mapping(m, t->tid, i)); i++)
			if (!r->event->handles) /* the ring alone keeps the event */
				adoption_add(&h->found, FOUND_MAPPED, false, r->event);
	}
}

static void head_tell_event(const struct head *h, pid_t tid, struct event *e)
{
	if (e->attr_len)
		head_tell(h, (struct activity){
			ACTIVITY_DESCRIBED, .described = session_description(tid, clock_ns(), e),
		});
	if (e->id)
		head_tell(h, (struct activity){ ACTIVITY_ID, .id = { e, e->id } });
	if (e->bpf != BPF_NONE && e->bpf != BPF_DETACHED)
		head_tell(h, (struct activity){
			ACTIVITY_PROGRAM, .program = {
				e, e->program.id, e->program.type, e->program.name,
			},
		});
}

void session_cut(struct session *s, struct view *v)
{
	struct activity ring = { ACTIVITY_FOUND_RING, .found_ring.tid = 0 };
	struct head h = { .view = v };
	struct adoption *f = &h.found;

	map_free(&s->named);
	map_free(&s->symbols_named);
	map_free(&s->fd_named);
	map_free(&s->programs_named);
	v->ops->cut(v, true);
	model_each_task(s->model, head_add, &h);
	if (h.n)
		qsort(h.tasks, h.n, sizeof(*h.tasks), head_compare);
	head_tell_tasks(&h, s->model);
	if (f->n)
		qsort(f->fds, f->n, sizeof(*f->fds), adoption_compare);
	for (size_t i = 0; i < f->n; i++)
		head_tell(&h, (struct activity){ ACTIVITY_FOUND, .found = f->fds[i] });
	for (size_t i = 0; i < f->n; i++)
		if (!i || f->fds[i].event != f->fds[i - 1].event)
			head_tell_event(&h, f->fds[i].tid, f->fds[i].event);
	for (const struct activity_task *t = h.tasks; t < h.tasks + h.n; t++) {
		struct ring *r;

		ring.found_ring.tid = t->tid;
		for (size_t i = 0; !t->parent && (r = model_mapping(s->model, t->tid, i)); i++)
			if (session_set_ring(&ring.found_ring, r))
				head_tell(&h, ring);
	}
	v->ops->cut(v, false);
	free(h.tasks);
	free(f->fds);
}

/* Calls --------------------------------------------------------------------------- */

void session_enter(struct session *s, const struct call *c)
{
	if (c->shown)
		map_set(&s->shown, (uint64_t)c->tid, s);
	EACH_VIEW(s, enter, c);
	model_enter(s->model, c);
}

void session_exit(struct session *s, const struct call *c)
{
	EACH_VIEW(s, before_exit, c);
	model_exit(s->model, c);
	EACH_VIEW(s, exit, c);
}

void session_stack(struct session *s, pid_t tid, const struct view_frame *frames,
		   size_t n, const char *why)
{
	if (s->stacks)
		EACH_VIEW(s, stack, tid, frames, n, why);
}

void session_swap_record(struct session *s, const struct event *e,
			 const struct record_format *f, uint8_t *bytes, size_t len)
{
	s->recording = e;
	swap_record(bytes, len, f, &s->hooks);
}
