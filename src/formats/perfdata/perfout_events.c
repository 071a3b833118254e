// SPDX-License-Identifier: LGPL-2.1-or-later
/* The events of a perf.data file. */
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "formats/perfdata/perfout_internal.h"

/* Collecting --------------------------------------------------------------- */

/* Return what distinguishes the events of one attr: who is measured, and where. */
static uint64_t perfout_target_of(const struct event *e)
{
	pid_t pid = e->pid ? e->pid : e->opener;

	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)e->cpu;
}

/*
 * Return whether e is one more of these events.  An open one on the same target makes it
 * another: perf can have two events with the same attr.
 */
static bool perfout_belongs(const struct perfout_view *v, const struct perfout_event *p,
			    const struct event *e, const struct perfout_event *leader)
{
	const struct perfout_member *m;
	const struct event *other;

	if (p->leader != leader || p->len != e->attr_len || memcmp(p->attr, e->attr, p->len))
		return false;
	m = map_get(&p->targets, perfout_target_of(e));
	other = m ? model_event_number(v->model, m->number) : NULL;
	return !other || other->closed;
}

bool perfout_is_tracepoint(const struct perfout_event *e)
{
	return strchr(e->name, ':') && perfout_attr_of(e, ATTR_TYPE) == PERF_TYPE_TRACEPOINT;
}

void perfout_read_format(const struct perfout_view *v, struct perfout_event *e)
{
	const char *text = NULL;

	if (e->format_text || !perfout_is_tracepoint(e))
		return;
	if (v->names->format)
		text = v->names->format(v->names, perfout_attr_of(e, ATTR_CONFIG));
	if (text)
		e->format_text = xstrdup(text);
}

static struct perfout_event *perfout_new_event(struct perfout_view *v, const struct event *e,
					       struct perfout_event *leader)
{
	struct perfout_event *p = xcalloc(1, sizeof(*p));

	p->attr = xmalloc(e->attr_len ? e->attr_len : 1);
	memcpy(p->attr, e->attr, e->attr_len);
	p->len = e->attr_len;
	p->number = e->number;
	p->leader = leader;
	p->lacks_task_and_time = p->left_out = event_is_bare(e);
	p->opened_by_perf = map_get(&v->perf_tasks, (uint64_t)e->opener);
	record_format_of(&p->format, p->attr, p->len, v->facts.arch);
	/* if it measures one task only */
	p->adds_tid = !p->left_out && !(p->format.sample_type & PERF_SAMPLE_TID) &&
		      event_single_task(e) > 0;
	if (p->adds_tid)
		p->format.sample_type |= PERF_SAMPLE_TID;
	perfout_name_event(v, p, e->opener);
	if (v->live) /* in a dump, the format follows */
		perfout_read_format(v, p);
	v->events = xrealloc(v->events, (v->nevents + 1) * sizeof(*v->events));
	p->index = v->nevents;
	v->events[v->nevents++] = p;
	return p;
}

void perfout_add_id(struct perfout_view *v, struct perfout_event *e, uint64_t id)
{
	if (!id || map_get(&v->by_id, id))
		return;
	map_set(&v->by_id, id, e);
	if (!(e->nids & (e->nids - 1)))
		e->ids = xrealloc(e->ids, (e->nids ? 2 * e->nids : 1) * sizeof(*e->ids));
	e->ids[e->nids++] = id;
}

struct perfout_member *perfout_member(struct perfout_view *v, const struct event *e)
{
	struct perfout_member *m = map_get(&v->members, e->number);
	const struct perfout_member *first = NULL; /* of its group */
	struct perfout_event *leader, *p = NULL;

	if (!m && !event_attr_known(e))
		return NULL;
	if (!m) {
		/* a leader leads itself */
		if (e->leader && e->leader != e &&
		    (!e->leader->leader || e->leader->leader == e->leader))
			first = perfout_member(v, e->leader);
		leader = first ? first->event : NULL;
		for (size_t i = 0; i < v->nevents && !p; i++)
			if (perfout_belongs(v, v->events[i], e, leader))
				p = v->events[i];
		m = xcalloc(1, sizeof(*m));
		m->event = p ? p : perfout_new_event(v, e, leader);
		m->number = e->number;
		map_set(&v->members, e->number, m);
		map_set(&m->event->targets, perfout_target_of(e), m);
	}
	m->id = m->id ? m->id : e->id;
	perfout_add_id(v, m->event, e->id);
	return m;
}

uint64_t perfout_id(struct perfout_view *v, struct perfout_member *m)
{
	if (!m->id) {
		m->id = 1ULL << 63 | m->number;
		perfout_add_id(v, m->event, m->id);
	}
	return m->id;
}

void perfout_free_events(struct perfout_view *v)
{
	for (size_t i = 0; i < v->nevents; i++) {
		free(v->events[i]->attr);
		free(v->events[i]->name);
		free(v->events[i]->format_text);
		free(v->events[i]->ids);
		map_free(&v->events[i]->targets);
		free(v->events[i]);
	}
	free(v->events);
	perfout_free_words(v);
	map_free_values(&v->members);
	map_free(&v->perf_tasks);
	map_free(&v->commands);
	map_free(&v->threads);
	map_free(&v->by_id);
	map_free(&v->ids_in_pipe);
	map_free(&v->late_events);
}

/* Formats ------------------------------------------------------------------ */

/* The places of an id, in words: in a sample, and from the end of other records; or -1. */
struct places {
	int sample, other;
};

static struct places places_of(uint64_t type)
{
	static const uint64_t before =
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	static const uint64_t after = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;

	if (type & PERF_SAMPLE_IDENTIFIER)
		return (struct places){ 0, 1 };
	if (!(type & PERF_SAMPLE_ID))
		return (struct places){ -1, -1 };
	return (struct places){ __builtin_popcountll(type & before),
				1 + __builtin_popcountll(type & after) };
}

/* Return whether perf finds the event of each record of both. */
static bool agree(const struct perfout_event *a, const struct perfout_event *b)
{
	struct places x = places_of(a->format.sample_type), y = places_of(b->format.sample_type);

	return x.sample >= 0 && x.sample == y.sample && x.other == y.other &&
	       a->format.sample_id_all == b->format.sample_id_all;
}

static int by_number(const void *a, const void *b)
{
	const struct perfout_event *x = *(struct perfout_event *const *)a;
	const struct perfout_event *y = *(struct perfout_event *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

const struct perfout_event *perfout_first_event(const struct perfout_view *v)
{
	for (size_t i = 0; i < v->nevents; i++)
		if (!v->events[i]->left_out)
			return v->events[i];
	return NULL;
}

void perfout_decide(struct perfout_view *v)
{
	const struct perfout_event *first;
	size_t index = 0, shown = 0;

	qsort(v->events, v->nevents, sizeof(*v->events), by_number);
	for (size_t i = 0; i < v->nevents; i++)
		shown += !v->events[i]->left_out;
	/* leave out the events that perf could not show, if others are left */
	for (size_t i = 0; i < v->nevents; i++)
		v->events[i]->left_out &= shown > 0;
	first = perfout_first_event(v);
	for (size_t i = 0; i < v->nevents; i++) {
		struct perfout_event *e = v->events[i];

		e->index = e->left_out ? 0 : index++;
		v->with_ids |= !e->left_out && e != first && !agree(first, e);
	}
	v->ids_decided = true;
}

bool perfout_fits(const struct perfout_view *v, const struct perfout_event *e)
{
	const struct perfout_event *first = perfout_first_event(v);

	return e == first || v->with_ids || agree(first, e);
}

bool perfout_is_written(const struct perfout_view *v, const struct perfout_event *e)
{
	return !e->left_out && perfout_fits(v, e);
}

bool perfout_adds_read_ids(const struct perfout_event *e)
{
	return e->format.sample_type & PERF_SAMPLE_READ && !(e->format.read_format & PERF_FORMAT_ID);
}

struct record_format perfout_format(const struct perfout_view *v, const struct perfout_event *e)
{
	struct record_format f = e->format;

	if (v->with_ids) {
		f.sample_type |= PERF_SAMPLE_IDENTIFIER;
		f.sample_id_all = true;
	}
	if (perfout_adds_read_ids(e))
		f.read_format |= PERF_FORMAT_ID;
	return f;
}

/* Tables ------------------------------------------------------------------- */

/*
 * Return the smallest size that holds the members of an attr that are not zero, but not less than
 * perf of Debian 12 has: perf refuses attrs that are larger than its own.
 */
static size_t least_size(const struct perfout_event *e)
{
	size_t len = e->len;

	while (len > PERF_ATTR_SIZE_VER7 && !e->attr[len - 1])
		len--;
	return len <= PERF_ATTR_SIZE_VER7 ? len : (e->len + 7) & ~(size_t)7;
}

size_t perfout_attr_size(const struct perfout_view *v)
{
	size_t most = PERF_ATTR_SIZE_VER0;

	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *e = v->events[i];
		uint64_t passed = perfout_attr_of(e, ATTR_SIZE);
		size_t size = !e->opened_by_perf ? least_size(e) :
			      /* the kernel describes earlier events in its own size */
			      passed && passed < e->len ? passed : e->len;

		if (!e->left_out && size > most)
			most = size;
	}
	return (most + 7) & ~(size_t)7;
}

void perfout_attr(const struct perfout_view *v, const struct perfout_event *e, size_t size,
		  struct buf *out)
{
	const struct layout *l = &layout_perf_event_attr;
	struct record_format f = perfout_format(v, e);
	uint8_t *attr;

	buf_reserve(out, size);
	attr = (uint8_t *)out->data + out->len;
	memset(attr, 0, size);
	memcpy(attr, e->attr, e->len < size ? e->len : size);
	field_set(&l->fields[ATTR_SIZE], size, attr);
	field_set(&l->fields[ATTR_SAMPLE_TYPE], f.sample_type, attr);
	field_set(&l->fields[ATTR_READ_FORMAT], f.read_format, attr);
	field_set(&l->fields[ATTR_SAMPLE_ID_ALL], f.sample_id_all, attr);
	out->len += size;
}

bool perfout_pipe_event(struct perfout_view *v, struct perfout_event *e)
{
	/* perf of Debian 12 expects attrs of its own size in a pipe */
	size_t least = least_size(e);
	size_t size = least < PERF_ATTR_SIZE_VER7 ? PERF_ATTR_SIZE_VER7 : least;
	size_t most = (RECORD_MOST - RECORD_HEAD - size) / sizeof(*e->ids);
	/*
	 * Written again, it is another event for perf: only to find the events of counts by their
	 * ids, and no tracepoint, whose format perf reads once.
	 */
	bool again = e->format.sample_type & PERF_SAMPLE_READ && !perfout_is_tracepoint(e);
	struct buf b = { 0 };
	bool written = false;

	while (!e->left_out && (!e->in_pipe || (e->nids_in_pipe < e->nids &&
						(!e->nids_in_pipe || again)))) {
		const uint64_t *ids = e->ids ? e->ids + e->nids_in_pipe : NULL;
		size_t n = e->nids - e->nids_in_pipe < most ? e->nids - e->nids_in_pipe : most;

		perfout_begin_record(&b, PERF_RECORD_HEADER_ATTR, 0, RECORD_HEAD);
		perfout_attr(v, e, size, &b);
		if (n)
			buf_add(&b, ids, n * sizeof(*ids));
		perfout_end_record(&b);
		buf_add(&v->out->pending, b.data, b.len);
		if (n) {
			perfout_begin_record(&b, PERF_RECORD_EVENT_UPDATE, 0, RECORD_HEAD);
			buf_add_u64(&b, PERF_EVENT_UPDATE__NAME);
			buf_add_u64(&b, ids[0]);
			buf_add(&b, e->name, strlen(e->name) + 1);
			perfout_end_record(&b);
			buf_add(&v->out->pending, b.data, b.len);
		}
		for (size_t i = 0; i < n; i++)
			map_set(&v->ids_in_pipe, ids[i], e);
		e->nids_in_pipe += n;
		written = e->in_pipe = true;
	}
	buf_free(&b);
	return written;
}

size_t perfout_id_at(const struct perfout_event *e, bool sample, size_t len)
{
	struct places p = places_of(e->format.sample_type);

	if (p.sample < 0 || (!sample && !e->format.sample_id_all) ||
	    len < RECORD_HEAD + 8 * (size_t)(sample ? p.sample + 1 : p.other))
		return 0;
	return sample ? RECORD_HEAD + 8 * (size_t)p.sample : len - 8 * (size_t)p.other;
}
