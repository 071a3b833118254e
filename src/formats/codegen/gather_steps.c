// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps of a program and their events. */
#include "formats/codegen/gather_steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

/* The first of the numbers for dup2(), above the program's own descriptors. */
enum { NEW_FDS = 500 };

struct c_step *gather_step(struct gather *g, enum c_step_kind kind, const char *text,
			       const char *meaning)
{
	struct c_program *o = &g->p->program;
	struct c_step *s;

	if (!(o->nsteps & (o->nsteps - 1))) /* grow in powers of two */
		o->steps = xrealloc(o->steps, (o->nsteps ? 2 * o->nsteps : 1) *
				    sizeof(*o->steps));
	s = &o->steps[o->nsteps++];
	*s = (struct c_step){
		.kind = kind, .text = text ? xstrdup(text) : NULL, .meaning = meaning,
		.ns = kind == STEP_EXEC || kind == STEP_GONE ? 0 : g->call->enter_ns,
		.events = { g->event, g->other }, .child = -1, .ring = -1,
	};
	return s;
}

void gather_note(struct gather *g, const char *why)
{
	struct buf text = { 0 };

	buf_adds(&text, "/* left out: ");
	buf_adds(&text, g->call->desc->name);
	buf_adds(&text, "(): ");
	c_comment(&text, why, strlen(why));
	buf_adds(&text, " */");
	gather_step(g, STEP_NOTE, text.data, NULL);
	buf_free(&text);
}

int gather_event_at(const struct process *p, int64_t fd)
{
	return fd < 0 ? -1 : (int)(uintptr_t)map_get(&p->fds, (uint64_t)fd) - 1;
}

void gather_use(struct gather *g, int event)
{
	if (event < 0)
		return;
	g->p->program.events[event].used = true;
	if (g->event < 0)
		g->event = event;
	else if (g->event != event)
		g->other = event;
}

int gather_add_event(struct process *p, const struct c_event *e)
{
	struct c_program *o = &p->program;

	if (!(o->nevents & (o->nevents - 1)))
		o->events = xrealloc(o->events, (o->nevents ? 2 * o->nevents : 1) *
				     sizeof(*o->events));
	o->events[o->nevents] = *e;
	return (int)o->nevents++;
}

void gather_name_fd(void *ctx, const char *key, int64_t fd, struct buf *out)
{
	struct gather *g = ctx;
	int event = gather_event_at(g->p, fd);

	if (key && !strcmp(key, "epfd")) {
		g->p->program.epoll = true;
		buf_adds(out, "epoll");
		return;
	}
	/* a number that must be unused */
	if (event < 0 && fd >= 0 && ((key && !strcmp(key, "newfd")) ||
				     (g->call->failed && g->call->ret == EBADF))) {
		buf_addf(out, "%d", (int)(NEW_FDS + fd % NEW_FDS));
		return;
	}
	if (event < 0) {
		g->strange |= fd >= 0;
		buf_addf(out, "%lld", (long long)fd);
		return;
	}
	gather_use(g, event);
	buf_adds(out, "fd[");
	c_mark(out, MARK_EVENT, event);
	buf_addc(out, ']');
}

struct c_child *gather_child(const struct process *p, pid_t pid)
{
	for (size_t i = 0; i < p->program.nchildren; i++)
		if (p->program.children[i].pid == pid)
			return &p->program.children[i];
	return NULL;
}
