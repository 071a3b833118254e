// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading counts, and waiting for events. */
#include "core/abi/layout.h"
#include "core/abi/read_format.h"
#include "core/lib/die.h"
#include "core/model/calls.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

struct reading {
	struct model *m;
	struct event *leader;
	bool group;
};

/* Return the group member of a value, by id or otherwise by index. */
static struct event *read_view_member(const struct reading *r, const struct read_value *v)
{
	size_t place = 0;

	if (!r->group)
		return r->leader;
	if (v->has_id)
		return model_event_by_id(r->m, v->id);
	for (size_t i = group_begins(r->leader); i < r->m->events.n; i++) {
		struct event *e = r->m->events.items[i];

		if (e && (e == r->leader || e->leader == r->leader) && !e->closed &&
		    place++ == v->index)
			return e;
	}
	return NULL;
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
	};
	if (v->has_lost)
		e->lost_read = v->lost;
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
	t->info->polled = xrealloc(t->info->polled,
				   (t->info->npolled + 1) * sizeof(struct ring *));
	t->info->polled[t->info->npolled++] = ring_ref(r);
}

/* Count a wait for an event as a wait for the ring buffer of its records. */
static void read_polls(void *ctx, struct task *t, int fd)
{
	struct event *e = fdtab_event(t->files, fd);

	(void)ctx;
	if (!e)
		return;
	if (e->output)
		e = e->output;
	for (size_t i = 0; i < t->space->nrings; i++)
		if (t->space->rings[i]->event == e && !t->space->rings[i]->aux)
			note_polled(t, ring_first(t->space->rings[i]));
}

/* Call hook for each descriptor that the call waits for. */
static void each_waited(struct task *t, const struct call *c,
			void (*hook)(void *ctx, struct task *t, int fd), void *ctx)
{
	struct file *ep;
	struct map_slot *slot;
	const uint8_t *p;
	size_t len, at = 0;

	switch (c->desc->id) {
	case CALL_POLL:
	case CALL_PPOLL:
	case CALL_PPOLL_TIME64:
		p = call_bytes(c, AT_SYSCALL_ENTER, call_word(c, 0), SIZE_MAX, &len);
		for (; p && len >= 8; p += 8, len -= 8)
			hook(ctx, t, (int)layout_get(&layout_pollfd, POLLFD_FD, p, 8));
		break;
	case CALL_EPOLL_WAIT:
	case CALL_EPOLL_PWAIT:
	case CALL_EPOLL_PWAIT2:
		ep = fdtab_file(t->files, call_int(c, 0));
		while (ep && (slot = map_next(&ep->watched, &at)))
			hook(ctx, t, (int)slot->key);
		break;
	default:
		p = call_bytes(c, AT_SYSCALL_ENTER, call_word(c, 1), SIZE_MAX, &len);
		for (size_t fd = 0; p && fd < 8 * len; fd++)
			if (call_set_has(c, p, len, fd))
				hook(ctx, t, (int)fd);
	}
}

void model_wait_begins(struct task *t, const struct call *c)
{
	if (t->info)
		t->info->polls++;
	each_waited(t, c, read_polls, NULL);
}

/* What to call for each event that a call waits for. */
struct waited {
	void (*hook)(void *ctx, struct event *e);
	void *ctx;
};

static void call_waited_on(void *ctx, struct task *t, int fd)
{
	const struct waited *w = ctx;
	struct event *e = fdtab_event(t->files, fd);

	if (e)
		w->hook(w->ctx, e);
}

void model_each_waited(const struct model *m, const struct call *c,
		       void (*hook)(void *ctx, struct event *e), void *ctx)
{
	struct task *t = model_task(m, c->tid);
	struct waited w = { hook, ctx };

	if (t && c->desc->class == CLASS_POLL && c->desc->id != CALL_EPOLL_CTL)
		each_waited(t, c, call_waited_on, &w);
}
