// SPDX-License-Identifier: LGPL-2.1-or-later
/* When events were enabled and rings mapped, and when records were written. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/record.h"
#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "formats/report/report.h"

/* Return list with room for index number; new elements are zero. */
static void *grow_zeroed(void *list, size_t *n, size_t number, size_t size)
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
	r->events = grow_zeroed(r->events, &r->nevents, number, sizeof(*r->events));
	return &r->events[number];
}

static struct report_ring *life_ring(struct report *r, unsigned int number)
{
	r->rings = grow_zeroed(r->rings, &r->nrings, number, sizeof(*r->rings));
	return &r->rings[number];
}

/* Update the events that were open at the last update, and those opened since. */
static void update_events(struct report *r, uint64_t ns)
{
	struct event *const *events;
	size_t n = model_events(r->model, &events), kept = 0;

	r->open = xrealloc(r->open, (r->nopen + n - r->nlooked + 1) * sizeof(*r->open));
	while (r->nlooked < n)
		r->open[r->nopen++] = events[r->nlooked++];
	for (size_t i = 0; i < r->nopen; i++) {
		const struct event *e = r->open[i];
		struct report_event *life = life_event(r, e->number);
		bool on = e->enabled && !e->closed;

		if (on && !life->on) {
			APPEND(life->enabled, life->nenabled) = (struct report_span){ .from = ns };
		} else if (!on && life->on) {
			life->enabled[life->nenabled - 1].to =
				e->closed && e->closed_ns ? e->closed_ns : ns;
		}
		life->on = on;
		if (!e->closed)
			r->open[kept++] = e;
	}
	r->nopen = kept;
}

static void update_rings(struct report *r, uint64_t ns)
{
	struct ring *const *rings;
	size_t n = model_rings(r->model, &rings);

	for (size_t i = 0; i < n; i++) {
		struct report_ring *ring = life_ring(r, rings[i]->number);

		if (!rings[i]->mappings && !ring->mapped.to)
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
	case CLASS_PROCESS: /* for prctl */
		update_events(r, c->exit_ns);
		break;
	case CLASS_MEMORY:
		update_rings(r, c->exit_ns);
		ring = model_ring_at(r->model, c->tid, (uint64_t)c->ret,
				     (uint64_t)c->ret + 1);
		if (ring && !life_ring(r, ring->number)->mapped.from)
			life_ring(r, ring->number)->mapped.from = c->exit_ns;
		break;
	default:
		break;
	}
}

void life_tick(struct report *r)
{
	uint64_t at = r->exec_ns;

	if (!at)
		return;
	r->exec_ns = 0;
	update_events(r, at);
	update_rings(r, at);
}

/* Return the number of the clock of an event's records; 0: too many clocks. */
static uint16_t record_clock(struct report *r, const struct event *e)
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
 * A record is found some time after it was written.  Its own time may be of another clock.
 * The offset of that clock is the least difference between the time of a record and of the
 * look that found it.
 */
void life_record(struct report *r, const struct activity_record *rec)
{
	struct report_record *new;
	struct record_id id;
	size_t n = r->nrecords;
	int64_t off;

	r->records_seen++;
	if (!record_identify(rec->bytes, rec->len, rec->format, &id) || n >= REPORT_RECORDS)
		return;
	GROW(r->records, n);
	new = &r->records[r->nrecords++];
	*new = (struct report_record){
		.ns = rec->ns, .event = rec->event->number, .type = (uint16_t)id.type,
		.clock = id.has_time ? record_clock(r, rec->event) : 0,
	};
	if (!new->clock)
		return;
	new->ns = id.time;
	off = (int64_t)(rec->ns - id.time);
	if (off < r->clocks[new->clock - 1].offset)
		r->clocks[new->clock - 1].offset = off;
}

bool life_ring_fill(const struct activity_look *l, uint64_t *bytes)
{
	*bytes = l->ring->unread; /* the model has seen the page by now */
	return l->page_len && !l->ring->overwrite;
}

void life_looked(struct report *r, const struct activity_look *l)
{
	struct report_ring *ring = life_ring(r, l->ring->number);
	uint64_t bytes;

	if (!life_ring_fill(l, &bytes))
		return;
	ring->measured = true;
	if (bytes > ring->most)
		ring->most = bytes;
}

static int compare_records(const void *a, const void *b)
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
	update_events(r, r->last_ns);
	for (size_t i = 0; i < n; i++) {
		struct report_event *life = life_event(r, events[i]->number);

		if (life->on)
			life->enabled[life->nenabled - 1].to = r->last_ns;
	}
	for_each(rec, r->records, r->nrecords)
		if (rec->clock)
			rec->ns += (uint64_t)r->clocks[rec->clock - 1].offset;
	if (r->nrecords)
		qsort(r->records, r->nrecords, sizeof(*r->records), compare_records);
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
