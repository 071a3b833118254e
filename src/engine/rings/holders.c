// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/rings/holders.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "engine/rings/events.h"
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

static struct holding *holding_of(struct holdings *all, const struct events_holder *h)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].process->pid == h->pid)
			return &all->list[i];
	all->list = xrealloc(all->list, (all->n + 1) * sizeof(*all->list));
	all->list[all->n] = (struct holding){ .process = h };
	return &all->list[all->n++];
}

static void add_event(struct holdings *all, const struct events_event *v)
{
	for (size_t i = 0; i < v->nholders; i++) {
		const struct events_holder *h = &v->holders[i];
		struct holding *by;

		if (!h->pid || h->pid == (uint32_t)getpid())
			continue;
		by = holding_of(all, h);
		by->n += by->last != v;
		by->first = by->first ? by->first : v;
		by->last = v;
	}
}

static void add_holding(const struct holding *h, const struct names *names, struct buf *out)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	size_t len = events_attr(h->first, attr);

	buf_addf(out, "%s[%u] (", h->process->comm, h->process->pid);
	event_name(attr, len, names, out);
	if (h->n > 1)
		buf_addf(out, " and %zu more", h->n - 1);
	buf_adds(out, ")");
}

/* Types of events of the CPU's counters, besides the number of its PMU. */
static bool is_generic(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

/* Return the number of the PMU that an event in the list shows for a type, else the type. */
static uint32_t pmu_of(const struct events *events, uint32_t type)
{
	for (size_t i = 0; i < events->n; i++) {
		const struct events_facts *f = &events->list[i]->facts;

		if (f->type == type || (is_generic(f->type) && is_generic(type)))
			return f->pmu;
	}
	return type;
}

/*
 * Return whether an event of the same PMU can be in the way: a breakpoint only if both can be on
 * one CPU with one thread there (kernel/events/hw_breakpoint.c, fetch_bp_busy_slots()).
 */
static bool is_in_way(const struct events_facts *f, const struct holders_of *of)
{
	if (of->type != PERF_TYPE_BREAKPOINT)
		return true;
	return (of->tid < 0 || !f->target || f->target == (uint32_t)of->tid) &&
	       (of->cpu < 0 || f->cpu < 0 || f->cpu == of->cpu);
}

void holders_add_of(const struct events *events, const struct holders_of *of,
		    const struct names *names, struct buf *out)
{
	uint32_t pmu = pmu_of(events, of->type);
	struct holdings all = { 0 };

	for (size_t i = 0; i < events->n; i++)
		if (events->list[i]->facts.pmu == pmu && is_in_way(&events->list[i]->facts, of))
			add_event(&all, events->list[i]);
	for (size_t i = 0; i < all.n && i < HOLDERS_MAX; i++) {
		buf_adds(out, i ? ", " : "");
		add_holding(&all.list[i], names, out);
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
