// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading counts, and waiting for events. */
#include "core/abi/read_format.h"
#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "core/model/calls.h"

struct reading {
	struct model *m;
	struct event *leader;
	bool group;
};

/* Return the group member of a value, by id or otherwise by index. */
static struct event *read_view_member(const struct reading *r, const struct read_value *v)
{
	unsigned int number = 0;
	struct event *e;
	size_t place = 0;

	if (!r->group)
		return r->leader;
	if (v->has_id)
		return model_event_by_id(r->m, v->id);
	while ((e = group_next(r->m, r->leader, &number)))
		if (!e->closed && place++ == v->index)
			break;
	return e;
}

static void read_take_value(void *ctx, const struct read_value *v)
{
	const struct reading *r = ctx;
	struct event *e = read_view_member(r, v);

	if (!e)
		return;
	e->count = (struct event_count){
		.known = true, .timed = v->timed, .value = v->value,
		.enabled = v->enabled, .running = v->running,
		.started = e->start != START_NEVER,
	};
	e->valued = true;
	e->timed = v->timed;
	e->read_value = v->value;
	e->read_enabled = v->enabled;
	if (v->has_lost)
		event_note_lost(e, v->lost);
	if (v->has_id && !r->group)
		model_set_id(r->m, e, v->id);
}

void model_after_read(struct model *m, struct task *t, const struct call *c)
{
	struct event *e = fdtab_event(t->files, call_int(c, 0));
	struct reading r = { .m = m };
	const uint8_t *p;
	size_t len;

	if (!e)
		return;
	e->reads++;
	/* of readv it is the number of buffers, which may be empty */
	e->empty_reads += !c->ret && c->desc->args[1].kind == ARG_READ_BUF && call_word(c, 2) >= 8;
	if (t->info)
		t->info->reads++;
	p = call_bytes(c, AT_SYSCALL_EXIT, call_word(c, 1), SIZE_MAX, &len);
	r.group = e->read_format & PERF_FORMAT_GROUP;
	r.leader = r.group && e->leader ? e->leader : e;
	if (p && e->format_known)
		read_format_each(p, len, e->read_format, read_take_value, &r);
}

static void note_polled(struct task *t, struct ring *r)
{
	r->polls++;
	if (!t->info)
		return;
	for (size_t i = 0; i < t->info->npolled; i++)
		if (t->info->polled[i] == r)
			return;
	APPEND(t->info->polled, t->info->npolled) = ring_ref(r);
}

struct event *waited_next(const struct task *t, const struct call *c, unsigned int set, size_t *at)
{
	struct event *e = NULL;
	struct file *ep;
	struct map_slot *slot;
	const uint8_t *p;
	size_t len;

	switch (c->desc->id) {
	case CALL_POLL:
	case CALL_PPOLL:
	case CALL_PPOLL_TIME64:
		p = call_bytes(c, AT_SYSCALL_ENTER, call_word(c, 0), SIZE_MAX, &len);
		for (; !e && p && len / 8 > *at; ++*at)
			e = fdtab_event(t->files, (int)layout_get(&layout_pollfd, POLLFD_FD,
								  p + 8 * *at, 8));
		return e;
	case CALL_EPOLL_WAIT:
	case CALL_EPOLL_PWAIT:
	case CALL_EPOLL_PWAIT2:
		ep = fdtab_file(t->files, call_int(c, 0));
		while (!e && ep && (slot = map_next(&ep->watched, at)))
			e = fdtab_event(t->files, (int)slot->key);
		return e;
	default:
		p = call_bytes(c, AT_SYSCALL_ENTER, call_word(c, set), SIZE_MAX, &len);
		for (; !e && p && *at < 8 * len; ++*at)
			if (call_set_has(c, p, len, *at))
				e = fdtab_event(t->files, (int)*at);
		return e;
	}
}

void model_wait_begins(struct task *t, const struct call *c)
{
	struct event *e;

	if (t->info)
		t->info->polls++;
	for (size_t at = 0; (e = waited_next(t, c, READ_SET, &at));) {
		if (e->output)
			e = e->output;
		for (size_t i = 0; i < t->space->nrings; i++)
			if (t->space->rings[i]->event == e && !t->space->rings[i]->aux)
				note_polled(t, ring_first(t->space->rings[i]));
	}
}

void model_each_waited(const struct model *m, const struct call *c,
		       void (*hook)(void *ctx, struct event *e), void *ctx)
{
	struct task *t = model_task(m, c->tid);
	struct event *e;

	if (!t || c->desc->class != CLASS_POLL || c->desc->id == CALL_EPOLL_CTL)
		return;
	for (size_t at = 0; (e = waited_next(t, c, READ_SET, &at));)
		hook(ctx, e);
}
