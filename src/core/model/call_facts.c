// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state of the events and ring buffers of a call, for its checks. */
#include "core/model/calls.h"

#include "core/abi/bpf.h"
#include "core/abi/ioctl.h"
#include "xlat/constants.h"

static pid_t target_of(const struct event *e)
{
	return e->flags & PERF_FLAG_PID_CGROUP || e->pid < 0 ? -1 : e->pid ? e->pid : e->opener;
}

static struct used_event used_event(const struct model *m, const struct event *e)
{
	struct used_event u = { .event = fact_of(e) };
	uint64_t page = m->names->page_size;
	struct ring *ring, *aux;

	if (!e)
		return u;
	ring = event_ring(e, false);
	aux = event_ring(e, true);
	u.mapped = fact_of(e->mapped);
	u.ring = fact_of(ring);
	u.redirected = fact_of(ring && ring != e->buffer[0]);
	u.output = u.redirected == FACT_YES && e->output ? e->output->fd : 0;
	if (ring && page)
		u.pages = (ring->end - ring->start) / page - 1;
	u.aux_length = aux ? aux->end - aux->start : 0;
	u.siblings = (e->leader ? e->leader : e)->members;
	u.filter = fact_of(e->filter);
	u.program = fact_of(e->bpf == BPF_SET || e->bpf == BPF_LINKED || e->bpf == BPF_FOUND);
	if (!event_attr_known(e))
		return (struct used_event){ .event = FACT_YES };
	u.attr = e->attr;
	u.len = e->attr_len;
	u.cpu = e->cpu;
	return u;
}

/* Find what the range of a call on memory has of ring buffers. */
static void used_range(const struct model *m, const struct task *t, const struct call *c,
		       struct refusal_facts *f)
{
	uint64_t page = m->names->page_size ? m->names->page_size : 1, start, end;
	bool covers = false, splits = false;

	for (unsigned int i = 0; model_touches(c, i, &start, &end); i++) {
		end = start + (end - start + page - 1) / page * page;
		for (size_t k = 0; k < t->space->nrings; k++) {
			const struct ring *r = t->space->rings[k];

			if (!ring_overlaps(r, start, end) && !(start == end && r->start == start))
				continue;
			if (!i && r->start <= start && start < r->end)
				f->covered = r->end - start;
			covers |= !i;
			splits |= start > r->start || end < r->end;
		}
	}
	f->covers = fact_of(covers);
	f->splits = fact_of(splits);
}

/* Add up the ring buffers of all tasks that are followed. */
static void used_memory(const struct model *m, struct rule_memory *memory)
{
	uint64_t largest = 0;

	map_each(slot, &m->ring_numbers) {
		const struct ring *r = slot->value;
		uint64_t len = r->end - r->start;

		if (r->first || !r->mappings)
			continue;
		memory->held += len;
		memory->rings++;
		if (len > largest)
			memory->holder = r->event->name;
		largest = len > largest ? len : largest;
	}
}

static void used_program(const struct model *m, const struct call *c, int64_t fd,
			 struct refusal_facts *f)
{
	const struct bpf_program *p = m->names->program ? m->names->program(m->names, c, fd) : NULL;

	if (!p || !p->id)
		return;
	f->program = FACT_YES;
	f->program_type = p->type;
}

void model_call_facts(const struct model *m, const struct call *c, struct refusal_facts *f)
{
	const struct task *t = model_task(m, c->tid);
	const struct ioctl_desc *d = c->desc->id == CALL_IOCTL ? ioctl_of(c) : NULL;
	const struct event *e, *other;
	struct bpf_command b;
	struct file *ep;
	int fd;

	f->call = c;
	if (!t)
		return;
	e = model_about(m, c, &fd);
	if (bpf_command(c, &b)) {
		e = fdtab_event(t->files, b.fd);
		used_program(m, c, b.program, f);
	}
	if (c->desc->id == CALL_EPOLL_CTL) {
		ep = fdtab_file(t->files, call_int(c, 0));
		e = fdtab_event(t->files, call_int(c, 2));
		f->watched = fact_of(ep && map_get(&ep->watched, (uint32_t)c->args[2]));
	}
	f->event = used_event(m, e);
	if (c->desc->class == CLASS_MEMORY) {
		used_range(m, t, c, f);
		used_memory(m, &f->memory);
	}
	if (d && d->request == PERF_EVENT_IOC_SET_BPF)
		used_program(m, c, call_int(c, 2), f);
	if (!d || d->request != PERF_EVENT_IOC_SET_OUTPUT)
		return;
	other = fdtab_event(t->files, call_int(c, 2));
	f->other = used_event(m, other);
	f->same_event = fact_of(e && e == other);
	if (f->event.attr && f->other.attr)
		f->same_task = fact_of(target_of(e) == target_of(other));
}
