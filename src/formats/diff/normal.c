// SPDX-License-Identifier: LGPL-2.1-or-later
/* The view that converts calls to the normal form. */
#include "core/abi/tables.h"
#include "formats/diff/normal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/call_decode.h"
#include "core/abi/ioctl.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "formats/diff/normal_sink.h"

/* Tasks ---------------------------------------------------------------------- */

/*
 * Append the name that begins those of the parent's descendants.  After many generations it goes on
 * with a hash of the rest, as the names of a long chain of tasks would else grow without limit.
 */
static void add_descent(struct buf *name, const struct normal_task *parent)
{
	const size_t limit = 200, kept = 100;

	if (strlen(parent->name) > limit)
		buf_addf(name, "%.*s~%016" PRIx64, (int)kept, parent->name,
			 hash_text(HASH_START, parent->name));
	else
		buf_adds(name, parent->name);
}

struct normal_task *normal_task_new(struct normal *n, const struct activity_task *b)
{
	struct normal_task *t = xcalloc(1, sizeof(*t));
	struct normal_task *parent = b->parent ? map_get(&n->by_tid, (uint64_t)b->parent) : NULL;
	struct buf name = { 0 };

	if (!parent && b->pid != b->tid) /* of a process that ran before the trace */
		parent = map_get(&n->by_tid, (uint64_t)b->pid);
	if (parent && b->pid == parent->pid)
		n->threads = true;
	if (parent && b->pid == parent->pid && n->merge_threads) {
		free(t);
		map_set(&n->by_tid, (uint64_t)b->tid, parent);
		return parent;
	}
	if (parent)
		add_descent(&name, parent);
	if (!parent)
		buf_addf(&name, "task%u", ++n->roots);
	else if (b->pid == parent->pid)
		buf_addf(&name, ".t%u", ++parent->threads);
	else
		buf_addf(&name, ".%u", ++parent->children);
	t->name = name.data;
	t->tid = b->tid;
	t->pid = b->pid;
	APPEND(n->tasks, n->ntasks) = t;
	map_set(&n->by_tid, (uint64_t)b->tid, t);
	return t;
}

static struct normal_task *task_of(struct normal *n, pid_t tid, pid_t pid)
{
	const struct activity_task b = { .tid = tid, .pid = pid };
	struct normal_task *t = map_get(&n->by_tid, (uint64_t)tid);

	return t ? t : normal_task_new(n, &b);
}

/* Drop the draft of the task's call; one is kept for reuse by any task. */
static void drop_draft(struct normal *n, pid_t tid)
{
	struct normal_draft *d = map_del(&n->pending, (uint64_t)tid);

	if (d && n->spare)
		draft_free(d);
	else if (d)
		n->spare = d;
}

/* Calls ---------------------------------------------------------------------- */

static struct normal_event *subject_of(struct normal *n, struct normal_task *t,
				       const struct call *c)
{
	unsigned int arg = c->desc->class == CLASS_MEMORY ? 4 : /* of mmap */
			   c->desc->class == CLASS_POLL ? 2 : 0;
	const struct event *e;

	if (c->desc->class == CLASS_PASS || c->desc->class == CLASS_PROCESS ||
	    c->desc->id == CALL_CLOSE_RANGE || arg >= c->desc->nargs)
		return NULL;
	e = model_event(n->model, c->tid, call_int(c, c->desc->class == CLASS_OPEN ? 3 : arg));
	return e ? normal_event_of(n, t, e) : NULL;
}

static uint64_t displaced_key(const struct call *c, int64_t fd)
{
	return (uint64_t)(uint32_t)c->pid << 32 | (uint32_t)fd;
}

static void normal_on_enter(struct view *v, const struct call *c)
{
	struct normal *n = view_self(v);
	struct normal_task *t = task_of(n, c->tid, c->pid);
	bool closes = c->desc->id == CALL_CLOSE;
	const struct event *old = closes ? model_event(n->model, c->tid, call_int(c, 0)) : NULL;
	struct normal_event *e = NULL, *displaced = NULL;
	struct normal_draft *d;
	struct normal_sink s;

	/* an open that returned the same number while a close ran may come before it in the dump */
	if (old && old->opened_ns > c->enter_ns)
		displaced = map_del(&n->displaced, displaced_key(c, call_int(c, 0)));
	if (!model_concerns(n->model, c))
		return;
	if (c->desc->class != CLASS_POLL || c->desc->id == CALL_EPOLL_CTL)
		e = displaced ? displaced : subject_of(n, t, c);
	if (e) { /* as a group leader, for a ring, a filter and so on */
		e->closed |= closes;
		e->used |= !closes;
		e->id_known |= c->desc->class == CLASS_IOCTL && ioctl_of(c) &&
			       ioctl_of(c)->request == PERF_EVENT_IOC_ID;
	}
	drop_draft(n, c->tid);
	if (!call_sets_up(c)) /* part of the normal form */
		return;
	d = n->spare ? n->spare : xcalloc(1, sizeof(*d));
	n->spare = NULL;
	map_set(&n->pending, (uint64_t)c->tid, d);
	draft_begin(d, c->desc);
	d->subject = e;
	d->late = c->desc->id == CALL_MUNMAP;
	normal_sink_init(&s, n, t, d, c);
	s.displaced = displaced;
	call_args(c, AT_SYSCALL_ENTER, n->names, &s.sink);
}

static void normal_add_result(struct normal_sink *s, const struct call *c)
{
	struct buf *text = &s->draft->scratch;
	const char *error;

	buf_reset(text);
	if (c->failed) {
		error = error_name((int)c->ret);
		if (error)
			buf_adds(text, error);
		else
			buf_addf(text, "errno%lld", (long long)c->ret);
	} else if (call_result_kind(c) == RESULT_FD) {
		normal_fd_text(s, c->ret, text);
	} else if (call_result_kind(c) == RESULT_ADDR) {
		buf_adds(text, "addr");
	} else if (c->desc->class == CLASS_DESC && call_int(c, 1) == F_GETOWN &&
		   (c->desc->id == CALL_FCNTL || c->desc->id == CALL_FCNTL64)) {
		normal_pid_text(s, c->ret, text);
	} else if (c->ret >= 0) {
		buf_addu(text, (unsigned long long)c->ret);
	} else {
		buf_addf(text, "%lld", (long long)c->ret);
	}
	draft_add(s->draft, "result", buf_str(text));
	if (c->inject.injected)
		draft_add(s->draft, "injected", "1");
}

/* Return whether the task made the call before: pause, resume and refresh are kept once. */
static bool repeats(struct normal_task *t, const struct normal_draft *d, const struct call *c)
{
	const struct ioctl_desc *i = c->desc->class == CLASS_IOCTL ? ioctl_of(c) : NULL;
	uint64_t h = HASH_START;

	if (!i || (i->request != PERF_EVENT_IOC_PAUSE_OUTPUT &&
		   i->request != PERF_EVENT_IOC_REFRESH))
		return false;
	for (size_t k = 0; k < d->nfields; k++)
		h = hash_text(hash_text(h, buf_str(&d->fields[k].key)),
			      buf_str(&d->fields[k].value));
	return map_set(&t->once, h, t);
}

/* Mark the events that a call mentions as used, such as that of SET_OUTPUT. */
static void note_references(struct normal *n, const struct normal_draft *d)
{
	for (size_t k = 0; k < d->nfields && d->refers && d->desc->id != CALL_CLOSE; k++) {
		const char *at = buf_str(&d->fields[k].value);
		uint32_t index;
		size_t before;

		if (!strcmp(buf_str(&d->fields[k].key), "result"))
			continue;
		while (normal_next_ref(&at, &before, &index))
			if (index < n->nevents)
				normal_event_at(n, index)->used = true;
	}
}

void normal_item_add(struct normal *n, struct normal_task *t, const struct normal_draft *d)
{
	const struct normal_form *f;
	const uint32_t *refs;
	uint32_t at;

	f = normal_form_of(n->forms, d, d->subject ? d->subject->index : 0, &refs);
	at = f->nrefs == 1 ? refs[0] : f->nrefs ? (uint32_t)n->nrefs : 0;
	for (size_t i = 0; f->nrefs > 1 && i < f->nrefs; i++) {
		APPEND(n->refs, n->nrefs) = refs[i];
	}
	APPEND(t->items, t->nitems) = (struct normal_item){ f->number, at };
	t->nlate += d->late;
}

/* Remember the event whose descriptor the open reuses: the line of its close may follow. */
static void normal_before_exit(struct view *v, const struct call *c)
{
	struct normal *n = view_self(v);
	const struct event *before = model_opened(n->model, c);

	if (before)
		map_set(&n->displaced, displaced_key(c, c->ret),
			normal_event_of(n, task_of(n, c->tid, c->pid), before));
}

static void normal_on_exit(struct view *v, const struct call *c)
{
	struct normal *n = view_self(v);
	struct normal_task *t = task_of(n, c->tid, c->pid);
	struct normal_draft *d = map_get(&n->pending, (uint64_t)c->tid);
	struct normal_sink s;

	if (d && d->desc == c->desc) {
		normal_sink_init(&s, n, t, d, c);
		call_args(c, AT_SYSCALL_EXIT, n->names, &s.sink);
		normal_add_result(&s, c);
		if (c->desc->class == CLASS_OPEN) {
			const struct event *e = model_opened(n->model, c);
			bool grouped = d->subject;

			d->subject = e ? normal_event_of(n, t, e) : NULL;
			if (d->subject && !d->subject->opened) {
				d->subject->opened = true;
				d->subject->used = grouped; /* a group member counts as used */
			}
			/* see is_probe() */
			d->probe = c->failed && !c->inject.injected && !grouped;
		}
		if ((c->desc->class != CLASS_PASS || d->refers) && !repeats(t, d, c)) {
			note_references(n, d);
			normal_item_add(n, t, d);
		}
	}
	drop_draft(n, c->tid);
}

/* Tasks and events ------------------------------------------------------------------ */

static void normal_on_born(struct view *v, const struct activity *a)
{
	normal_task_new(view_self(v), &a->task);
}

static void normal_on_found(struct view *v, const struct activity *a)
{
	struct normal *n = view_self(v);

	normal_event_of(n, task_of(n, a->found.tid, a->found.tid), a->found.event)->used = true;
}

static void normal_on_execed(struct view *v, const struct activity *a)
{
	struct normal *n = view_self(v);

	if (a->exec.former != a->exec.tid)
		map_del(&n->by_tid, (uint64_t)a->exec.former);
}

/* Add an open that did not return: a task may be killed in any call. */
static void normal_on_abandon(struct view *v, const struct activity *a)
{
	const struct call *c = a->abandoned.call;
	struct normal *n = view_self(v);
	struct normal_task *t = map_get(&n->by_tid, (uint64_t)c->tid);
	struct normal_draft *d = map_get(&n->pending, (uint64_t)c->tid);

	if (!t || !d || c->desc->class != CLASS_OPEN)
		return;
	draft_add(d, "result", "unfinished");
	d->subject = NULL;
	normal_item_add(n, t, d);
}

/* The task stays in by_tid: other calls may refer to its pid. */
static void normal_on_gone(struct view *v, const struct activity *a)
{
	drop_draft(view_self(v), a->gone.tid);
}

/* Drop the session's names and model, which end with it. */
static void normal_unwatch(struct view *v)
{
	struct normal *n = view_self(v);

	n->names = NULL;
	n->model = NULL;
}

static const struct view_ops normal_ops = {
	.on[ACTIVITY_TASK] = normal_on_born,
	.on[ACTIVITY_FOUND] = normal_on_found,
	.enter = normal_on_enter,
	.before_exit = normal_before_exit, .exit = normal_on_exit,
	.on[ACTIVITY_ABANDONED] = normal_on_abandon,
	.on[ACTIVITY_EXEC] = normal_on_execed,
	.on[ACTIVITY_GONE] = normal_on_gone,
	.free = normal_unwatch,
};

struct normal *normal_new(struct normal_forms *forms)
{
	struct normal *n = xcalloc(1, sizeof(*n));

	n->view.ops = &normal_ops;
	n->forms = forms;
	return n;
}

void normal_watch(struct normal *n, struct session *s)
{
	n->names = s->source;
	n->model = s->model;
	session_add_view(s, &n->view);
}

void normal_free(struct normal *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->ntasks; i++) {
		struct normal_task *t = n->tasks[i];

		map_free(&t->other_pids);
		map_free(&t->addresses);
		map_free(&t->once);
		free(t->items);
		free(t->name);
		free(t);
	}
	normal_events_free(n);
	if (n->spare)
		draft_free(n->spare);
	map_each(slot, &n->pending)
		draft_free(slot->value);
	map_free(&n->pending);
	map_free(&n->by_tid);
	map_free(&n->displaced);
	free(n->refs);
	free(n->tasks);
	free(n);
}
