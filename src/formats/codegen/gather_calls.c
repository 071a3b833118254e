// SPDX-License-Identifier: LGPL-2.1-or-later
/* Gather calls on open events. */
#include "core/abi/tables.h"
#include "formats/codegen/gather_steps.h"

#include <errno.h>
#include <string.h>

#include "core/abi/call_decode.h"
#include "core/abi/ioctl.h"
#include "core/lib/die.h"

void gather_mmap(struct gather *g)
{
	const struct call *c = g->call;
	struct process *p = g->p;
	struct c_program *o = &p->program;
	struct c_args args;
	struct buf text = { 0 };
	bool aux = c->args[5];

	gather_args(g, &args);
	if (c->failed) {
		buf_addf(&text, "(void)mmap(NULL, %s, %s, %s, %s, %s); /* failed in the trace */",
			 buf_str(&args.text[1]), buf_str(&args.text[2]),
			 buf_str(&args.text[3]), buf_str(&args.text[4]),
			 buf_str(&args.text[5]));
		c_need_header(&o->needs, "sys/mman.h");
	} else if (g->event < 0) {
		gather_note(g, "on an event that the process had not opened");
	} else {
		GROW(o->rings, o->nrings);
		o->rings[o->nrings] = (struct c_ring){
			.event = g->event, .aux = aux,
			.data = !aux && c->args[1] > g->page_size,
			.overwrite = !(c->args[2] & ABI_PROT_WRITE),
		};
		APPEND(p->mapped, p->nmapped) = (struct mapped){
			(uint64_t)c->ret, c->args[1], (int)o->nrings,
		};
		c_mark(&text, aux ? "map_aux(" : "map_ring(", MARK_RING, (long)o->nrings++, ", ");
		buf_addf(&text, "%s, %s, %s, %s", buf_str(&args.text[4]), buf_str(&args.text[1]),
			 buf_str(&args.text[2]), buf_str(&args.text[3]));
		if (aux)
			buf_addf(&text, ", %s", buf_str(&args.text[5]));
		buf_adds(&text, ");");
		o->inexact += c->args[0] != 0; /* a requested address */
	}
	if (text.len)
		gather_step(g, STEP_CALL, text.data, c->desc->meaning)->maps = true;
	c_args_free(&args);
	buf_free(&text);
}

void gather_munmap(struct gather *g)
{
	const struct call *c = g->call;
	struct process *p = g->p;
	struct mapped *m;
	size_t i = 0;
	struct c_step *s;
	struct buf text = { 0 };

	if (c->failed)
		return;
	while (i < p->nmapped && p->mapped[i].start != c->args[0])
		i++;
	if (i == p->nmapped) {
		gather_note(g, "on a mapping that the trace did not see");
		return;
	}
	m = &p->mapped[i];
	gather_use(g, p->program.rings[m->ring].event);
	c_mark(&text, "MUST(munmap(ring[", MARK_RING, m->ring, "], ");
	buf_addf(&text, "%llu));", (unsigned long long)c->args[1]);
	s = gather_step(g, STEP_CLOSE, text.data, c->desc->meaning);
	s->ring = m->ring;
	s->must = true;
	if (c->args[1] == m->length)
		*m = p->mapped[--p->nmapped];
	buf_free(&text);
}

/* Append the argument of an ioctl if it is no plain value; return whether it is not. */
static bool ioctl_pointer(struct gather *g, const struct ioctl_desc *d, struct buf *out)
{
	const struct call *c = g->call;
	int attr;

	if (d->request == PERF_EVENT_IOC_SET_OUTPUT && call_int(c, 2) == -1) {
		/* the kernel compares 64 bits: 0xffffffff is not -1 */
		buf_adds(out, c->args[2] == UINT32_MAX && c->arch->word == 8 ?
			 "0xffffffffL" : "-1L");
		return true;
	}
	if (d->dir == IOCTL_VALUE || (c->failed && c->ret == EFAULT && d->arg != IOCTL_ARG_ATTR))
		return false;
	switch (d->arg) {
	case IOCTL_ARG_ATTR:
		attr = gather_attr(g, g->call->args[2]);
		gather_attr_ref(out, attr, g->call->args[2]);
		return true;
	case IOCTL_ARG_QUERY_BPF: {
		size_t len;
		const uint8_t *p = call_bytes(g->call, AT_SYSCALL_ENTER, g->call->args[2], 4, &len);
		uint64_t ids = p && len == 4 ? load_uint(p, 4) : 0;

		if (!p)
			return false;
		/* ids_len, prog_cnt, ids */
		buf_addf(out, "(uint32_t[%llu]){ %llu }",
			 (unsigned long long)(ids < 4096 ? ids + 2 : 4098),
			 (unsigned long long)ids);
		return true;
	}
	default:
		if (d->dir != IOCTL_OUT)
			return false;
		buf_adds(out, "&(uint64_t){ 0 }");
		return true;
	}
}

/* Return an f_owner_ex of the process itself or its group in place of the traced one's, or NULL. */
static const char *own_owner(struct gather *g)
{
	const struct call *c = g->call;
	size_t len;
	const uint8_t *p = call_bytes(c, AT_SYSCALL_ENTER, c->args[2], 8, &len);
	uint64_t type = p && len == 8 ? load_uint(p, 4) : UINT64_MAX;
	uint64_t pid = p && len == 8 ? load_uint(p + 4, 4) : 0;

	if (type == ABI_F_OWNER_PGRP && pid) {
		g->p->program.inexact += !c->failed; /* the group may have been another */
		return "&(struct f_owner_ex){ F_OWNER_PGRP, getpgrp() }";
	}
	if (pid != (uint64_t)c->pid && pid != (uint64_t)c->tid)
		return NULL;
	return type == ABI_F_OWNER_TID ? "&(struct f_owner_ex){ F_OWNER_TID, getpid() }" :
	       type == ABI_F_OWNER_PID ? "&(struct f_owner_ex){ F_OWNER_PID, getpid() }" : NULL;
}

/* Replace pids of the traced process by getpid() or getpgrp(). */
static void own_pid(struct gather *g, struct c_args *args)
{
	const struct call *c = g->call;
	struct c_program *o = &g->p->program;
	int cmd = call_int(c, 1);
	const char *own = NULL;

	if (c->desc->class != CLASS_DESC || args->n < 3)
		return;
	/* the program must survive the signals of F_SETSIG and O_ASYNC */
	o->io_signal |= cmd == ABI_F_SETFL && c->args[2] & ABI_O_ASYNC;
	o->signals |= cmd == ABI_F_SETSIG;
	if (cmd == ABI_F_SETOWN && call_int(c, 2) < 0) {
		own = "-getpgrp()";
		o->inexact += !c->failed; /* the group may have been another */
	} else if (cmd == ABI_F_SETOWN && (call_int(c, 2) == c->pid || call_int(c, 2) == c->tid)) {
		own = "getpid()";
	} else if (cmd == ABI_F_SETOWN_EX) {
		own = own_owner(g);
	}
	if (own) {
		buf_reset(&args->text[2]);
		buf_adds(&args->text[2], own);
	}
}

static enum c_step_kind step_kind(const struct call *c, const struct ioctl_desc *d)
{
	if (d && (d->request == PERF_EVENT_IOC_ENABLE || d->request == PERF_EVENT_IOC_REFRESH))
		return STEP_START;
	if (d && d->request == PERF_EVENT_IOC_DISABLE)
		return STEP_STOP;
	if (c->desc->id == CALL_PRCTL)
		return call_int(c, 0) == ABI_PR_TASK_PERF_EVENTS_ENABLE ? STEP_START : STEP_STOP;
	return STEP_CALL;
}

/* Add another descriptor of the current event. */
static void add_duplicate(struct gather *g, struct buf *text)
{
	struct c_event e = { .attr = -1, .output = -1, .leader = -1 };
	int index, of = g->event;

	if (of >= 0)
		e = g->p->program.events[of];
	e.name = xstrdup(of >= 0 ? e.name : "event");
	e.used = true;
	e.closed = false;
	index = gather_add_event(g->p, &e);
	map_set(&g->p->fds, (uint64_t)g->call->ret, (void *)(uintptr_t)(index + 1));
	g->other = of;
	g->event = index;
	c_mark(text, "fd[", MARK_EVENT, index, "] = ");
}

/* Gather a call as NAME(ARGUMENTS). */
void gather_plain(struct gather *g)
{
	const struct call *c = g->call;
	const struct ioctl_desc *d = c->desc->class == CLASS_IOCTL ? ioctl_of(c) : NULL;
	struct c_args args;
	struct buf call = { 0 }, text = { 0 };
	bool makes_fd = call_result_kind(c) == RESULT_FD && !c->failed;
	struct c_step *s;

	gather_args(g, &args);
	own_pid(g, &args);
	if (d && args.n == 3) {
		struct buf pointer = { 0 };

		if (ioctl_pointer(g, d, &pointer)) {
			buf_free(&args.text[2]);
			args.text[2] = pointer;
		}
	}
	if (g->strange) {
		gather_note(g, "with a descriptor that the process had not opened");
		if (makes_fd) /* dup2() over an event */
			map_del(&g->p->fds, (uint64_t)c->ret);
		goto out;
	}
	c_need_header(&g->p->program.needs, d ? "sys/ioctl.h" :
		      c->desc->class == CLASS_POLL ? "sys/epoll.h" :
		      c->desc->id == CALL_PRCTL ? "sys/prctl.h" : "fcntl.h");
	buf_addf(&call, "%s(", c->desc->id == CALL_FCNTL64 ? "fcntl" : c->desc->name);
	for (size_t i = 0; i < args.n; i++)
		buf_addf(&call, "%s%s", i ? ", " : "", buf_str(&args.text[i]));
	buf_addc(&call, ')');
	if (makes_fd)
		add_duplicate(g, &text);
	if (d && d->request == PERF_EVENT_IOC_SET_OUTPUT && g->event >= 0 && !c->failed)
		g->p->program.events[g->event].output = gather_event_at(g->p, (int)c->args[2]);
	gather_checked(&text, buf_str(&call), c);
	s = gather_checked_step(g, step_kind(c, d), text.data, d ? d->meaning : c->desc->meaning);
	s->pauses = d && d->request == PERF_EVENT_IOC_PAUSE_OUTPUT && c->args[2] == 1;
out:
	c_args_free(&args);
	buf_free(&call);
	buf_free(&text);
}

void gather_read_count(struct gather *g)
{
	struct c_program *o = &g->p->program;
	int event = gather_event_at(g->p, call_int(g->call, 0));

	gather_use(g, event);
	if (event < 0 || g->call->failed)
		return;
	/* of repeated reads without other calls between, keep the last */
	for (size_t i = o->nsteps; i-- > 0;) {
		const struct c_step *s = &o->steps[i];

		if (s->kind == STEP_READ && s->events[0] == event) {
			memmove(&o->steps[i], &o->steps[i + 1],
				(o->nsteps - i - 1) * sizeof(*o->steps));
			o->nsteps--;
			break;
		}
		if (s->kind != STEP_READ && s->kind != STEP_POLL && s->kind != STEP_GONE)
			break;
	}
	gather_step(g, STEP_READ, NULL, "Reads the counts of an event or its group");
}

void gather_close(struct gather *g)
{
	const struct call *c = g->call;
	int fd = call_int(c, 0), event = gather_event_at(g->p, fd);
	struct buf text = { 0 };

	if (event < 0) {
		gather_note(g, "on an event that the process had not opened");
		return;
	}
	map_del(&g->p->fds, (uint64_t)fd);
	g->p->program.events[event].closed = true;
	g->event = event;
	c_mark(&text, "MUST(close(fd[", MARK_EVENT, event, "]));");
	gather_step(g, STEP_CLOSE, text.data, c->desc->meaning)->must = true;
	buf_free(&text);
}
