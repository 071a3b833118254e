// SPDX-License-Identifier: LGPL-2.1-or-later
/* From when to when events were enabled and rings mapped; when records came. */
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "abi/record.h"
#include "lib/die.h"
#include "report/report.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* A zeroed place for number in a list that is indexed by it. */
static void *place(void *list, size_t *n, size_t number, size_t size)
{
	size_t more = 2 * number + 8;

	if (number < *n)
		return list;
	list = xrealloc(list, more * size);
	memset((char *)list + *n * size, 0, (more - *n) * size);
	*n = more;
	return list;
}

struct report_event *life_event(struct report *r, unsigned int number)
{
	r->events = place(r->events, &r->nevents, number, sizeof(*r->events));
	return &r->events[number];
}

static struct report_ring *ring_of(struct report *r, unsigned int number)
{
	r->rings = place(r->rings, &r->nrings, number, sizeof(*r->rings));
	return &r->rings[number];
}

static void begin_span(struct report_event *life, uint64_t ns)
{
	life->enabled = xrealloc(life->enabled,
				 (life->nenabled + 1) * sizeof(*life->enabled));
	life->enabled[life->nenabled++] = (struct report_span){ .from = ns };
	life->on = true;
}

static void look_at_event(struct report *r, const struct event *e, uint64_t ns)
{
	struct report_event *life = life_event(r, e->number);
	bool on = e->enabled && !e->closed;

	if (on == life->on)
		return;
	if (on) {
		begin_span(life, ns);
		return;
	}
	life->enabled[life->nenabled - 1].to = e->closed && e->closed_ns ? e->closed_ns : ns;
	life->on = false;
}

/* Those that were open at the last look, and those opened since. */
static void look_at_events(struct report *r, uint64_t ns)
{
	struct event *const *events;
	size_t n = model_events(r->model, &events), kept = 0;

	r->open = xrealloc(r->open, (r->nopen + n - r->nlooked + 1) * sizeof(*r->open));
	while (r->nlooked < n)
		r->open[r->nopen++] = events[r->nlooked++];
	for (size_t i = 0; i < r->nopen; i++) {
		look_at_event(r, r->open[i], ns);
		if (!r->open[i]->closed)
			r->open[kept++] = r->open[i];
	}
	r->nopen = kept;
}

static void look_at_rings(struct report *r, uint64_t ns)
{
	struct ring *const *rings;
	size_t n = model_rings(r->model, &rings);

	for (size_t i = 0; i < n; i++) {
		struct report_ring *ring = ring_of(r, rings[i]->number);

		if (rings[i]->unmapped && !ring->mapped.to)
			ring->mapped.to = ns;
	}
}

void life_after(struct report *r, const struct call *c)
{
	const struct ring *ring;

	if (c->failed)
		return;
	switch (c->desc->class) {
	case CLASS_OPEN:
	case CLASS_IOCTL:
	case CLASS_DESC:
	case CLASS_PROCESS: /* prctl is one of them */
		look_at_events(r, c->exit_ns);
		break;
	case CLASS_MEMORY:
		look_at_rings(r, c->exit_ns);
		ring = model_ring_at(r->model, c->tid, (uint64_t)c->ret,
				     (uint64_t)c->ret + 1);
		if (ring && !ring_of(r, ring->number)->mapped.from)
			ring_of(r, ring->number)->mapped.from = c->exit_ns;
		break;
	default:
		break;
	}
}

void life_execed(struct report *r, uint64_t ns)
{
	r->exec_ns = ns; /* the model is told after us */
}

void life_tick(struct report *r)
{
	uint64_t at = r->exec_ns;

	if (!at)
		return;
	r->exec_ns = 0;
	look_at_events(r, at);
	look_at_rings(r, at);
}

/* The clock of an event's records; 0: there are too many. */
static uint16_t clock_of(struct report *r, const struct event *e)
{
	uint64_t id = 0;
	size_t i;

	if (event_attr(e, ATTR_USE_CLOCKID))
		id = event_attr(e, ATTR_CLOCKID) + 1;
	for (i = 0; i < r->nclocks; i++)
		if (r->clocks[i].id == id)
			return (uint16_t)(i + 1);
	if (i == REPORT_CLOCKS)
		return 0;
	r->clocks[r->nclocks++] = (struct report_clock){ id, INT64_MAX };
	return (uint16_t)r->nclocks;
}

/*
 * A record is seen some time after it was written.  Its own time, if it has one,
 * is of another clock; how far that is off is the least that lies between any
 * record's time and the look that found it.
 */
void life_record(struct report *r, uint64_t ns, const struct view_record *rec)
{
	struct report_record *new;
	struct record_id id;
	size_t n = r->nrecords;
	int64_t off;

	r->records_seen++;
	if (!record_identify(rec->bytes, rec->len, rec->format, &id) || n >= REPORT_RECORDS)
		return;
	if (!(n & (n - 1))) /* room is made in powers of two */
		r->records = xrealloc(r->records, (n ? 2 * n : 1) * sizeof(*r->records));
	new = &r->records[r->nrecords++];
	*new = (struct report_record){
		.ns = ns, .event = rec->event->number, .type = (uint16_t)id.type,
		.clock = id.has_time ? clock_of(r, rec->event) : 0,
	};
	if (!new->clock)
		return;
	new->ns = id.time;
	off = (int64_t)(ns - id.time);
	if (off < r->clocks[new->clock - 1].offset)
		r->clocks[new->clock - 1].offset = off;
}

void life_looked(struct report *r, const struct view_look *l)
{
	const struct layout *page = &layout_perf_event_mmap_page;
	struct report_ring *ring = ring_of(r, l->ring->number);
	uint64_t head, tail;

	if (!l->page_len || l->ring->overwrite)
		return;
	head = layout_get(page, PERF_EVENT_MMAP_PAGE_DATA_HEAD, l->page, l->page_len);
	tail = layout_get(page, PERF_EVENT_MMAP_PAGE_DATA_TAIL, l->page, l->page_len);
	ring->measured = true;
	if (head - tail > ring->most && head > tail)
		ring->most = head - tail;
}

static int by_event(const void *a, const void *b)
{
	const struct report_record *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

void life_end(struct report *r)
{
	struct event *const *events;
	size_t n = model_events(r->model, &events);

	life_tick(r);
	look_at_events(r, r->last_ns);
	for (size_t i = 0; i < n; i++) {
		struct report_event *life = life_event(r, events[i]->number);

		if (life->on)
			life->enabled[life->nenabled - 1].to = r->last_ns;
	}
	for (size_t i = 0; i < r->nrecords; i++) {
		struct report_record *rec = &r->records[i];

		if (rec->clock)
			rec->ns += (uint64_t)r->clocks[rec->clock - 1].offset;
	}
	if (r->nrecords)
		qsort(r->records, r->nrecords, sizeof(*r->records), by_event);
}

void life_free(struct report *r)
{
	for (size_t i = 0; i < r->nevents; i++)
		free(r->events[i].enabled);
	free(r->events);
	free(r->open);
	free(r->rings);
	free(r->records);
}
