// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps of a program and their events. */
#include "formats/codegen/gather_steps.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/abi/call_decode.h"
#include "core/lib/die.h"

/* The first of the numbers for dup2(), above the program's own descriptors. */
enum { NEW_FDS = 500 };

/* Append the program's expression for a descriptor. */
static void name_fd(struct gather *g, const char *key, int64_t fd, struct buf *out)
{
	int event = gather_event_at(g->p, fd);

	if (key && !strcmp(key, "epfd")) {
		g->p->program.epoll = true;
		buf_adds(out, "epoll");
	} else if (event >= 0) {
		gather_use(g, event);
		c_mark(out, "fd[", MARK_EVENT, event, "]");
	} else if (fd >= 0 && ((key && !strcmp(key, "newfd")) ||
			       (g->call->failed && g->call->ret == EBADF))) {
		buf_addf(out, "%d", (int)(NEW_FDS + fd % NEW_FDS)); /* must be unused */
	} else {
		g->strange |= fd >= 0;
		buf_addf(out, "%lld", (long long)fd);
	}
}

/* Begin an argument, or a member of the last one; return where to write its value. */
static struct buf *args_value(struct c_args *a, const char *key)
{
	struct buf *out;

	if (!a->depth)
		return a->n < CALL_MAX_ARGS ? &a->text[a->n++] : NULL;
	if (!a->n || (key && !strcmp(key, "u32"))) /* shares its place with u64 */
		return NULL;
	out = &a->text[a->n - 1];
	if (a->any)
		buf_adds(out, ", ");
	if (key)
		buf_addf(out, ".%s = ", key);
	a->any = true;
	return out;
}

static void args_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct c_args *a = (struct c_args *)s;
	struct buf *out = args_value(a, key);

	if (out && !a->depth)
		buf_addf(out, "&(%s){ ", shape == SINK_ARRAY ? "uint64_t" :
			 a->g->call->desc->id == CALL_EPOLL_CTL ? "struct epoll_event" :
			 "struct f_owner_ex");
	else if (out)
		buf_adds(out, "{ ");
	a->depth++;
	a->any = false;
}

static void args_end(struct sink *s)
{
	struct c_args *a = (struct c_args *)s;

	a->depth--;
	if (a->n)
		buf_adds(&a->text[a->n - 1], " }");
	a->any = true;
}

static void args_put(struct sink *s, const char *key, const struct value *v)
{
	struct c_args *a = (struct c_args *)s;
	struct c_needs *needs = &a->g->p->program.needs;
	struct buf *out = args_value(a, key);

	if (v->kind == VALUE_SYMBOL) /* signals are symbols */
		c_need_header(needs, "signal.h");
	if (!out)
		return;
	switch (v->kind) {
	case VALUE_UINT:
		/* the data of epoll_ctl are mostly its descriptor */
		if (a->depth && a->g->call->desc->id == CALL_EPOLL_CTL &&
		    (uint32_t)v->number == (uint32_t)a->g->call->args[2])
			name_fd(a->g, key, (int32_t)v->number, out);
		else
			c_add_number(out, v->number);
		break;
	case VALUE_SINT:
		buf_addf(out, "%" PRId64, (int64_t)v->number);
		break;
	case VALUE_ADDR:
		buf_adds(out, v->number ? "(void *)" : "NULL");
		if (v->number)
			c_add_hex(out, v->number);
		break;
	case VALUE_HEX:
	case VALUE_PACKED:
		if (v->number)
			c_add_hex(out, v->number);
		else
			buf_addc(out, '0');
		break;
	case VALUE_ENUM:
		/* the table of ioctl requests names no header: perf_event.h defines them */
		if (!v->xlat->header && xlat_name(v->xlat, v->number))
			buf_adds(out, xlat_name(v->xlat, v->number));
		else
			c_add_enum(out, needs, v->xlat, v->number);
		break;
	case VALUE_FLAGS:
		c_add_flags(out, needs, v->xlat, v->number);
		break;
	case VALUE_SYMBOL:
		c_comment(out, v->text, v->len);
		break;
	case VALUE_STRING:
	case VALUE_BYTES:
		c_string(out, v->text, v->len);
		break;
	case VALUE_FD:
		name_fd(a->g, key, (int64_t)v->number, out);
		break;
	}
}

static void args_note(struct sink *s, const char *key, const char *text)
{
	(void)s, (void)key, (void)text;
}

static const struct sink_ops args_ops = {
	.begin = args_begin, .end = args_end, .value = args_put, .note = args_note,
};

void gather_args(struct gather *g, struct c_args *a)
{
	*a = (struct c_args){ .sink = { .ops = &args_ops, .max_string = SIZE_MAX }, .g = g };
	call_args(g->call, AT_SYSCALL_ENTER, g->names, &a->sink);
	call_args(g->call, AT_SYSCALL_EXIT, g->names, &a->sink);
}

void c_args_free(struct c_args *a)
{
	for (size_t i = 0; i < CALL_MAX_ARGS; i++)
		buf_free(&a->text[i]);
}

struct c_step *gather_step(struct gather *g, enum c_step_kind kind, const char *text,
			   const char *meaning)
{
	struct c_program *o = &g->p->program;

	GROW(o->steps, o->nsteps);
	o->steps[o->nsteps] = (struct c_step){
		.kind = kind, .text = text ? xstrdup(text) : NULL, .meaning = meaning,
		.ns = kind == STEP_EXEC || kind == STEP_GONE ? 0 : g->call->enter_ns,
		.events = { g->event, g->other }, .child = -1, .ring = -1,
	};
	return &o->steps[o->nsteps++];
}

void gather_note(struct gather *g, const char *why)
{
	struct buf text = { 0 };

	buf_addf(&text, "/* left out: %s(): ", g->call->desc->name);
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

	GROW(o->events, o->nevents);
	o->events[o->nevents] = *e;
	return (int)o->nevents++;
}

struct c_child *gather_child(const struct process *p, pid_t pid)
{
	for (size_t i = 0; i < p->program.nchildren; i++)
		if (p->program.children[i].pid == pid)
			return &p->program.children[i];
	return NULL;
}
