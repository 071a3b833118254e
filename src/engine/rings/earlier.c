// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/rings/earlier.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "engine/rings/events.h"
#include "engine/rings/look.h"
#include "xlat/constants.h"

enum { HOLDERS_MAX = 8 };	/* processes that are named */

/* A process, and its events of that type. */
struct holding {
	const struct events_holder *process;
	const struct events_event *first, *last;
	size_t n;
};

struct holdings {
	struct holding *list;
	size_t n;
};

/* Add an event to what its holders hold. */
static void add_event(struct holdings *all, const struct events_event *v)
{
	for_each(h, v->holders, v->nholders) {
		struct holding *by;
		size_t k = 0;

		if (!h->pid || h->pid == (uint32_t)getpid())
			continue;
		while (k < all->n && all->list[k].process->pid != h->pid)
			k++;
		if (k == all->n) {
			all->list = xrealloc(all->list, ++all->n * sizeof(*all->list));
			all->list[k] = (struct holding){ .process = h };
		}
		by = &all->list[k];
		by->n += by->last != v;
		by->first = by->first ? by->first : v;
		by->last = v;
	}
}

/* Types of events of the CPU's counters, besides the number of its PMU. */
static bool is_generic(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

void holders_add_of(const struct events *events, const struct holders_of *of,
		    const struct names *names, struct buf *out)
{
	/* the number of the PMU that an event in the list shows for the type, else the type */
	uint32_t pmu = of->type;
	struct holdings all = { 0 };

	for (size_t i = 0; i < events->n; i++) {
		const struct events_facts *f = &events->list[i]->facts;

		if (f->type == of->type || (is_generic(f->type) && is_generic(of->type))) {
			pmu = f->pmu;
			break;
		}
	}
	/*
	 * A breakpoint is in the way of another only if both can be on one CPU with one thread
	 * there (kernel/events/hw_breakpoint.c, fetch_bp_busy_slots()).
	 */
	for (size_t i = 0; i < events->n; i++) {
		const struct events_facts *f = &events->list[i]->facts;
		bool meets = (of->tid < 0 || !f->target || f->target == (uint32_t)of->tid) &&
			     (of->cpu < 0 || f->cpu < 0 || f->cpu == of->cpu);

		if (f->pmu == pmu && (meets || of->type != PERF_TYPE_BREAKPOINT))
			add_event(&all, events->list[i]);
	}
	for (size_t i = 0; i < all.n && i < HOLDERS_MAX; i++) {
		const struct holding *h = &all.list[i];
		uint8_t attr[EVENTS_ATTR_MAX];
		size_t len = events_attr(h->first, attr);

		buf_addf(out, "%s%s[%u] (", i ? ", " : "", h->process->comm, h->process->pid);
		event_name(attr, len, names, out);
		if (h->n > 1)
			buf_addf(out, " and %zu more", h->n - 1);
		buf_adds(out, ")");
	}
	if (all.n > HOLDERS_MAX)
		buf_addf(out, " and %zu more processes", all.n - HOLDERS_MAX);
	free(all.list);
}

void holders_add(const struct holders_of *of, const struct names *names, struct buf *out)
{
	struct events events;

	events_open(&events);
	events_read(&events);
	if (events.bpf)
		holders_add_of(&events, of, names, out);
	events_close(&events);
}

/* A list is not read again within this time: that it lacks an event has another cause. */
enum { EARLIER_FRESH_NS = 100000000 };

struct earlier {
	struct session *session;
	struct events events;
	bool opened;
	uint64_t read_ns;
};

/* A task whose events are asked for. */
struct earlier_task {
	struct earlier *earlier;
	pid_t pid, tid;
	struct event **events;	/* of its descriptors */
	size_t n;
};

struct earlier *earlier_new(struct session *s)
{
	struct earlier *l = xcalloc(1, sizeof(*l));

	l->session = s;
	return l;
}

void earlier_free(struct earlier *l)
{
	if (!l)
		return;
	if (l->opened)
		events_close(&l->events);
	free(l);
}

/* Read the list, unless it is fresh or BPF cannot be used. */
static void earlier_read(struct earlier *l)
{
	if (!l->opened)
		events_open(&l->events);
	l->opened = true;
	if (!l->events.programs || clock_ns() - l->read_ns <= EARLIER_FRESH_NS)
		return;
	events_read(&l->events);
	l->read_ns = clock_ns();
}

void earlier_each_holder(struct earlier *l, void (*hook)(void *ctx, pid_t pid), void *ctx)
{
	struct map pids = { 0 };

	earlier_read(l);
	for (size_t i = 0; i < l->events.n; i++)
		for (size_t k = 0; k < l->events.list[i]->nholders; k++)
			if (l->events.list[i]->holders[k].pid)
				map_set(&pids, l->events.list[i]->holders[k].pid, l);
	/* the hook may cause the list to be read again */
	map_each(slot, &pids)
		hook(ctx, (pid_t)slot->key);
	map_free(&pids);
}

static bool earlier_held(const struct events_event *v, pid_t pid, enum events_reference by)
{
	for (size_t i = 0; i < v->nholders; i++)
		if (v->holders[i].pid == (uint32_t)pid && v->holders[i].reference == by)
			return true;
	return false;
}

static void earlier_list_fd(void *ctx, int fd, bool cloexec, struct event *e)
{
	struct earlier_task *t = ctx;

	(void)fd, (void)cloexec;
	APPEND(t->events, t->n) = e;
}

static int earlier_compare(const void *a, const void *b)
{
	const struct event *const *x = a, *const *y = b;

	return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

static void earlier_identify_fd(void *ctx, int fd, bool cloexec, struct event *e)
{
	const struct earlier_task *t = ctx;
	uint64_t id = e->id ? 0 : look_id(t->pid, t->tid, fd);

	(void)cloexec;
	if (id)
		session_feed(t->earlier->session, &(struct activity){
			ACTIVITY_ID, .id = { e, id },
		});
}

static void earlier_describe_event(const struct earlier_task *t, struct event *e)
{
	struct earlier *l = t->earlier;
	struct session *s = l->session;
	struct events_event *v;
	struct event *output = NULL; /* the process has mapped its ring, to which e writes */
	uint8_t attr[EVENTS_ATTR_MAX];

	/* the task may have closed its descriptor since, or ended: the id is of this event for good */
	if (event_known(e) || !e->id)
		return;
	v = l->opened ? map_get(&l->events.by_id, e->id) : NULL;
	if (!v) {
		earlier_read(l);
		v = map_get(&l->events.by_id, e->id);
	}
	if (!v || !v->facts.attr_len)
		return;
	if (v->facts.ring && !earlier_held(v, t->pid, EVENTS_MAPPING))
		for (size_t i = 0; i < l->events.n; i++) {
			const struct events_event *w = l->events.list[i];

			if (w->facts.ring == v->facts.ring &&
			    earlier_held(w, t->pid, EVENTS_MAPPING)) {
				output = model_event_by_id(s->model, w->facts.id);
				break;
			}
		}
	session_feed(s, &(struct activity){
		ACTIVITY_DESCRIBED, .described = {
			.tid = t->tid, .ns = clock_ns(), .event = e,
			.attr = attr, .attr_len = events_attr(v, attr), .cpu = v->facts.cpu,
			.pid = v->facts.target ? (pid_t)v->facts.target : -1,
			.cgroup = v->facts.cgroup, .enabled = v->facts.state >= 0,
			.leader = model_event_by_id(s->model, v->facts.leader), .output = output,
		},
	});
}

void earlier_describe(struct earlier *l, pid_t pid, pid_t tid)
{
	struct earlier_task t = { .earlier = l, .pid = pid, .tid = tid };

	model_each_fd(l->session->model, tid, earlier_identify_fd, &t);
	model_each_fd(l->session->model, tid, earlier_list_fd, &t);
	if (t.n)
		qsort(t.events, t.n, sizeof(*t.events), earlier_compare);
	for (size_t i = 0; i < t.n; i++)
		earlier_describe_event(&t, t.events[i]);
	free(t.events);
}

/* A ring's mapping begins with page 0 of the event's file, an AUX area elsewhere. */
static struct event *earlier_ring_event(void *ctx, pid_t pid, uint64_t start, bool *aux)
{
	const struct earlier *l = ctx;

	for (size_t i = 0; l->opened && i < l->events.n; i++) {
		const struct events_event *v = l->events.list[i];

		for_each(h, v->holders, v->nholders) {
			if (h->reference != EVENTS_MAPPING || h->pid != (uint32_t)pid ||
			    h->start != start)
				continue;
			*aux = h->page;
			return model_event_by_id(l->session->model, v->facts.id);
		}
	}
	return NULL;
}

void earlier_rings(struct earlier *l, pid_t tid)
{
	session_adopt_rings(l->session, tid, earlier_ring_event, l);
}
