// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls as they come, into the normal form. */
#include "dump/normal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "abi/ioctl.h"
#include "abi/layout.h"
#include "dump/normal_sink.h"
#include "lib/die.h"
#include "model/event_name.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Tasks ---------------------------------------------------------------------- */

static struct normal_task *task_new(struct normal *n, const struct birth *b)
{
	struct normal_task *t = xcalloc(1, sizeof(*t));
	struct normal_task *parent = b->parent ? map_get(&n->by_tid, (uint64_t)b->parent) : NULL;
	struct buf name = { 0 };

	if (!parent && b->pid != b->tid) /* of a process that ran before us */
		parent = map_get(&n->by_tid, (uint64_t)b->pid);
	if (!parent)
		buf_addf(&name, "task%u", ++n->roots);
	else if (b->pid == parent->pid)
		buf_addf(&name, "%s.t%u", parent->name, ++parent->threads);
	else
		buf_addf(&name, "%s.%u", parent->name, ++parent->children);
	t->name = name.data;
	t->tid = b->tid;
	t->pid = b->pid;
	n->tasks = xrealloc(n->tasks, (n->ntasks + 1) * sizeof(struct normal_task *));
	n->tasks[n->ntasks++] = t;
	map_set(&n->by_tid, (uint64_t)b->tid, t);
	return t;
}

static struct normal_task *task_of(struct normal *n, pid_t tid, pid_t pid)
{
	const struct birth b = { .tid = tid, .pid = pid };
	struct normal_task *t = map_get(&n->by_tid, (uint64_t)tid);

	return t ? t : task_new(n, &b);
}

static void item_free(struct normal_item *i)
{
	if (!i)
		return;
	for (size_t k = 0; k < i->nfields; k++) {
		free(i->fields[k].key);
		free(i->fields[k].value);
	}
	free(i->fields);
	free(i);
}

static void task_free(struct normal_task *t)
{
	for (size_t i = 0; i < t->nitems; i++)
		item_free(t->items[i]);
	item_free(t->pending);
	map_free(&t->other_pids);
	map_free(&t->addresses);
	map_free(&t->once);
	free(t->items);
	free(t->name);
	free(t);
}

/* Events --------------------------------------------------------------------- */

static void field_clear(const struct field *f, uint8_t *bytes, size_t len)
{
	unsigned int bits = f->nbits ? f->nbits : 8u * f->width;
	unsigned int shift = f->nbits ? f->bit : 0;

	if (f->offset + (size_t)f->width > len)
		return;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	shift = 8u * f->width - shift - bits;
	for (unsigned int b = shift; b < shift + bits; b++)
		bytes[f->offset + f->width - 1 - b / 8] &= (uint8_t)~(1u << b % 8);
#else
	for (unsigned int b = shift; b < shift + bits; b++)
		bytes[f->offset + b / 8] &= (uint8_t)~(1u << b % 8);
#endif
}

/*
 * What the event is, without what it leaves out, so that :u more or less
 * makes a changed event and not another one, and without addresses.
 */
static char *base_name(const struct normal *n, const struct event *e)
{
	static const unsigned int modifiers[] = {
		ATTR_EXCLUDE_USER, ATTR_EXCLUDE_KERNEL, ATTR_PRECISE_IP,
	};
	struct walk w = { .layout = &layout_perf_event_attr, .names = n->names };
	uint8_t attr[EVENT_ATTR_MAX] = { 0 };
	struct buf name = { 0 };
	const struct field *f;
	size_t at = 0;

	memcpy(attr, e->attr, e->attr_len);
	w.bytes = e->attr;
	w.len = e->attr_len;
	for (size_t i = 0; i < sizeof(modifiers) / sizeof(*modifiers); i++)
		field_clear(&w.layout->fields[modifiers[i]], attr, sizeof(attr));
	while ((f = layout_next(&w, &at)))
		if (f->kind == FIELD_ADDR || f->kind == FIELD_STRING)
			field_clear(f, attr, sizeof(attr));
	event_name(attr, e->attr_len, n->names, &name);
	for (size_t i = 0; i < name.len; i++)
		if ((unsigned char)name.data[i] <= ' ' || strchr("*|\"\\\177#", name.data[i]))
			name.data[i] = '_';
	return name.data ? name.data : xstrdup("event");
}

struct normal_event *normal_event_of(struct normal *n, struct normal_task *t,
				     const struct event *e)
{
	struct normal_event *v = map_get(&n->by_number, e->number);
	struct buf name = { 0 };

	if (v)
		return v;
	v = xcalloc(1, sizeof(*v));
	v->index = n->nevents;
	v->opener = t;
	v->cpu = e->found ? -1 : e->cpu;
	if (e->found) {
		buf_addf(&name, "found%u", ++t->founds);
		v->base = name.data;
	} else {
		v->base = base_name(n, e);
	}
	n->events = xrealloc(n->events, (n->nevents + 1) * sizeof(struct normal_event *));
	n->events[n->nevents++] = v;
	map_set(&n->by_number, e->number, v);
	return v;
}

/* Calls ---------------------------------------------------------------------- */

/*
 * Waits and reads come as often as time has it, and processes come and go as
 * the measured program has it.  What sets something up is kept.
 */
static bool keeps(const struct call *c)
{
	switch (c->desc->class) {
	case CLASS_POLL:
		return c->desc->id == CALL_EPOLL_CTL;
	case CLASS_READ:
		return false;
	case CLASS_PROCESS:
		return c->desc->id == CALL_PRCTL;
	default:
		return true;
	}
}

static struct normal_event *subject_of(struct normal *n, struct normal_task *t,
				       const struct call *c)
{
	unsigned int arg = c->desc->class == CLASS_MEMORY ? 4 : c->desc->class == CLASS_POLL ? 2 : 0;
	const struct event *e;

	if (c->desc->class == CLASS_PASS || c->desc->class == CLASS_PROCESS ||
	    c->desc->id == CALL_CLOSE_RANGE || arg >= c->desc->nargs)
		return NULL;
	e = model_event(n->model, c->tid, call_int(c, c->desc->class == CLASS_OPEN ? 3 : arg));
	return e ? normal_event_of(n, t, e) : NULL;
}

/* A leader, a ring, a filter: that event is there for something. */
static void note_use(struct normal_event *e, const struct call *c)
{
	if (!e)
		return;
	if (c->desc->id == CALL_CLOSE)
		e->closed = true;
	else
		e->used = true;
}

static uint64_t fd_key(const struct call *c, int64_t fd)
{
	return (uint64_t)(uint32_t)c->pid << 32 | (uint32_t)fd;
}

/*
 * A close whose line comes behind that of an open which returned while it ran,
 * with the number that it had just freed: it means the event before.
 */
static struct normal_event *displaced_by_reuse(struct normal *n, const struct call *c)
{
	const struct event *e = c->desc->id == CALL_CLOSE ?
		model_event(n->model, c->tid, call_int(c, 0)) : NULL;

	return e && e->opened_ns > c->enter_ns ?
		map_del(&n->displaced, fd_key(c, call_int(c, 0))) : NULL;
}

static void on_enter(void *ctx, struct call *c)
{
	struct normal *n = ctx;
	struct normal_task *t = task_of(n, c->tid, c->pid);
	struct normal_event *e = NULL, *displaced = displaced_by_reuse(n, c);
	struct normal_sink s;

	if (model_concerns(n->model, c)) {
		if (c->desc->class != CLASS_POLL || c->desc->id == CALL_EPOLL_CTL)
			e = displaced ? displaced : subject_of(n, t, c);
		note_use(e, c);
		item_free(t->pending);
		t->pending = NULL;
		if (keeps(c)) {
			t->pending = xcalloc(1, sizeof(*t->pending));
			t->pending->desc = c->desc;
			t->pending->subject = e;
			t->pending->late = c->desc->id == CALL_MUNMAP;
			normal_sink_init(&s, n, t, t->pending, c);
			s.displaced = displaced;
			call_args(c, AT_ENTER, n->names, &s.sink);
		}
	}
	if (!displaced)
		model_enter(n->model, c);
}

static void add_result(struct normal_sink *s, const struct call *c)
{
	struct buf text = { 0 };
	const char *error;

	if (c->failed) {
		error = strerrorname_np((int)c->ret);
		if (error)
			buf_adds(&text, error);
		else
			buf_addf(&text, "errno%lld", (long long)c->ret);
	} else if (call_result_kind(c) == RESULT_FD) {
		normal_fd_text(s, c->ret, &text);
	} else if (call_result_kind(c) == RESULT_ADDR) {
		buf_adds(&text, "addr");
	} else if (c->desc->class == CLASS_DESC && call_int(c, 1) == F_GETOWN &&
		   (c->desc->id == CALL_FCNTL || c->desc->id == CALL_FCNTL64)) {
		normal_pid_text(s, c->ret, &text);
	} else {
		buf_addf(&text, "%lld", (long long)c->ret);
	}
	normal_add(s->item, "result", buf_str(&text));
	buf_free(&text);
}

static uint64_t hash(uint64_t h, const char *text)
{
	while (*text)
		h = (h ^ (unsigned char)*text++) * 0x100000001b3ULL;
	return h;
}

/* Pausing, resuming, rearming go on for as long as the program runs. */
static bool repeats(struct normal_task *t, const struct normal_item *i, const struct call *c)
{
	const struct ioctl_desc *d = c->desc->class == CLASS_IOCTL ? ioctl_of(c) : NULL;
	uint64_t h = 0xcbf29ce484222325ULL;

	if (!d || (d->request != PERF_EVENT_IOC_PAUSE_OUTPUT &&
		   d->request != PERF_EVENT_IOC_REFRESH))
		return false;
	for (size_t k = 0; k < i->nfields; k++)
		h = hash(hash(h, i->fields[k].key), i->fields[k].value);
	return map_set(&t->once, h, t);
}

static void item_add(struct normal_task *t, struct normal_item *i)
{
	if (t->nitems == t->room) {
		t->room = t->room ? 2 * t->room : 16;
		t->items = xrealloc(t->items, t->room * sizeof(struct normal_item *));
	}
	t->items[t->nitems++] = i;
	t->nlate += i->late;
}

static void opened(struct normal *n, struct normal_task *t, struct normal_item *i,
		   const struct call *c)
{
	const struct event *e = c->failed ? NULL : model_event(n->model, c->tid, (int)c->ret);
	bool grouped = i->subject;

	i->subject = e ? normal_event_of(n, t, e) : NULL;
	if (i->subject && !i->subject->open) {
		i->subject->open = i;
		i->subject->used = grouped; /* a place in a group is a use */
	}
	i->masked = c->failed && !grouped; /* as far as we know now */
}

static void on_exit_of(void *ctx, struct call *c)
{
	struct normal *n = ctx;
	struct normal_task *t = task_of(n, c->tid, c->pid);
	struct normal_item *i = t->pending;
	const struct event *before = c->desc->class == CLASS_OPEN && !c->failed ?
		model_event(n->model, c->tid, (int)c->ret) : NULL;
	struct normal_sink s;

	if (before)
		map_set(&n->displaced, fd_key(c, c->ret), normal_event_of(n, t, before));
	model_exit(n->model, c);
	t->pending = NULL;
	if (!i || i->desc != c->desc) {
		item_free(i);
		return;
	}
	normal_sink_init(&s, n, t, i, c);
	call_args(c, AT_EXIT, n->names, &s.sink);
	add_result(&s, c);
	if (c->desc->class == CLASS_OPEN)
		opened(n, t, i, c);
	if ((c->desc->class == CLASS_PASS && !i->refers) || repeats(t, i, c))
		item_free(i);
	else
		item_add(t, i);
}

/* The rest of what a replay tells ------------------------------------------------ */

static void on_born(void *ctx, const struct birth *b, uint64_t ns)
{
	struct normal *n = ctx;

	(void)ns;
	task_new(n, b);
	model_born(n->model, b);
}

static void on_found(void *ctx, pid_t tid, int fd, bool cloexec)
{
	struct normal *n = ctx;
	struct event *e = model_found(n->model, tid, fd, cloexec);

	if (e)
		normal_event_of(n, task_of(n, tid, tid), e)->used = true;
}

static void on_execed(void *ctx, pid_t tid, pid_t former, uint64_t ns, const char *exe)
{
	struct normal *n = ctx;

	(void)ns, (void)exe;
	if (former != tid)
		map_del(&n->by_tid, (uint64_t)former);
	model_execed(n->model, tid, former);
}

/* A call that never returned: a task that is killed may be in any. */
static void on_gone(void *ctx, pid_t tid, uint64_t ns, enum view_end how, int status,
		    struct call *c)
{
	struct normal *n = ctx;
	struct normal_task *t = map_get(&n->by_tid, (uint64_t)tid);

	(void)ns, (void)how, (void)status;
	if (t && t->pending && c && c->desc->class == CLASS_OPEN) {
		normal_add(t->pending, "result", "unfinished");
		t->pending->subject = NULL;
		item_add(t, t->pending);
		t->pending = NULL;
	}
	/* its name stays: others may still speak of it by its pid */
	model_gone(n->model, tid);
}

const struct replay_ops normal_ops = {
	.born = on_born, .found = on_found, .enter = on_enter, .exit = on_exit_of,
	.execed = on_execed, .gone = on_gone,
};

struct normal *normal_new(const struct names *names)
{
	struct normal *n = xcalloc(1, sizeof(*n));

	n->names = names;
	n->model = model_new(names, false);
	return n;
}

void normal_free(struct normal *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->ntasks; i++)
		task_free(n->tasks[i]);
	for (size_t i = 0; i < n->nevents; i++) {
		free(n->events[i]->base);
		free(n->events[i]->name);
		free(n->events[i]);
	}
	model_free(n->model);
	map_free(&n->by_tid);
	map_free(&n->by_number);
	map_free(&n->displaced);
	free(n->tasks);
	free(n->events);
	free(n);
}
