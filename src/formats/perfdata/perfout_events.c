// SPDX-License-Identifier: LGPL-2.1-or-later
/* The events of a perf.data file. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "formats/perfdata/perfout_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

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

void perfout_know_program(struct perfout_view *v, pid_t tid, const char *exe)
{
	/* also what a script of that name executes is perf */
	if (perfout_names_perf(exe))
		map_set(&v->perf_tasks, (uint64_t)tid, v);
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
	p->of_perf = map_get(&v->perf_tasks, (uint64_t)e->opener);
	record_format_of(&p->format, p->attr, p->len, v->facts.arch);
	perfout_add_tid(p, e);
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

/* Return the leader of the event's group, or NULL: a leader leads itself. */
static struct perfout_event *perfout_leader(struct perfout_view *v, const struct event *e)
{
	const struct perfout_member *m = NULL;

	if (e->leader && e->leader != e && (!e->leader->leader || e->leader->leader == e->leader))
		m = perfout_member(v, e->leader);
	return m ? m->event : NULL;
}

struct perfout_member *perfout_member(struct perfout_view *v, const struct event *e)
{
	struct perfout_member *m = map_get(&v->members, e->number);
	struct perfout_event *leader = NULL, *p = NULL;

	if (!m && !event_attr_known(e))
		return NULL;
	if (!m) {
		leader = perfout_leader(v, e);
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

static bool perfout_same_clock(const struct perfout_event *a, const struct perfout_event *b)
{
	uint64_t chosen = perfout_attr_of(a, ATTR_USE_CLOCKID);

	return chosen == perfout_attr_of(b, ATTR_USE_CLOCKID) &&
	       (!chosen || perfout_attr_of(a, ATTR_CLOCKID) == perfout_attr_of(b, ATTR_CLOCKID));
}

static const char *perfout_clock_name(const struct perfout_event *e)
{
	const char *name = xlat_name(&xlat_clockid, perfout_attr_of(e, ATTR_CLOCKID));

	return !perfout_attr_of(e, ATTR_USE_CLOCKID) ? "perf's own clock" :
	       name				     ? name :
						       "another clock";
}

void perfout_tell_clocks(const struct perfout_view *v)
{
	const struct perfout_event *a = NULL;

	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *b = v->events[i];

		if (b->left_out || !b->has_timed_record)
			continue;
		if (a && !perfout_same_clock(a, b)) {
			warn("the times of %s are of %s, but those of %s of %s: perf sorts all "
			     "records by time, so names and mappings of samples are wrong; use one "
			     "clock for all events", a->name, perfout_clock_name(a), b->name,
			     perfout_clock_name(b));
			return;
		}
		a = b;
	}
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
	map_free(&v->piped);
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

/* Leave out the events that perf could not show, if others are left. */
static void perfout_drop_silent(struct perfout_view *v)
{
	size_t n = 0, all = v->nevents;

	for (size_t i = 0; i < all; i++)
		n += !v->events[i]->left_out;
	for (size_t i = 0; i < all; i++)
		v->events[i]->left_out &= n > 0;
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
	size_t index = 0, n = 0;

	qsort(v->events, v->nevents, sizeof(*v->events), by_number);
	perfout_drop_silent(v);
	first = perfout_first_event(v);
	for (size_t i = 0; i < v->nevents; i++) {
		n += !v->events[i]->left_out;
		v->events[i]->index = v->events[i]->left_out ? 0 : index++;
	}
	for (size_t i = 0; i < v->nevents && n > 1; i++)
		if (!v->events[i]->left_out && !agree(first, v->events[i]))
			v->with_ids = true;
	v->ids_decided = true;
}

void perfout_undecide(struct perfout_view *v)
{
	for (size_t i = 0; i < v->nevents; i++)
		v->events[i]->left_out = v->events[i]->lacks_task_and_time;
	v->ids_decided = false;
}

bool perfout_fits(const struct perfout_view *v, const struct perfout_event *e)
{
	const struct perfout_event *first = perfout_first_event(v);

	return e == first || v->with_ids || agree(first, e);
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

/* Return the size that the program passed: the kernel describes earlier events in its own. */
static size_t passed_size(const struct perfout_event *e)
{
	uint64_t size = perfout_attr_of(e, ATTR_SIZE);

	return size && size < e->len ? size : e->len;
}

size_t perfout_attr_size(const struct perfout_view *v)
{
	size_t most = PERF_ATTR_SIZE_VER0;

	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *e = v->events[i];
		size_t size = e->of_perf ? passed_size(e) : least_size(e);

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

void perfout_tables(const struct perfout_view *v, struct perfout_table *t)
{
	size_t size = perfout_attr_size(v);

	t->entry = size + 16;
	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *e = v->events[i];

		if (e->left_out || (v->ids_decided && !perfout_fits(v, e)))
			continue;
		perfout_attr(v, e, size, &t->attrs);
		buf_add_u64(&t->attrs, 0);
		buf_add_u64(&t->attrs, e->nids * sizeof(*e->ids));
		buf_add(&t->ids, e->ids, e->nids * sizeof(*e->ids));
	}
}

/* Begin a record of that type. */
static void begin_record(struct buf *b, uint32_t type)
{
	buf_reset(b);
	buf_add_u32(b, type);
	buf_add_u32(b, 0);
}

static void end_record(struct perfout_view *v, struct buf *b)
{
	while (b->len & 7)
		buf_addc(b, '\0');
	b->data[6] = (char)(b->len & 0xff);
	b->data[7] = (char)(b->len >> 8);
	perfout_add(v->out, b->data, b->len);
}

/*
 * Return whether the event is to be written to a pipe, perhaps again, which is another event for
 * perf: only to find the events of counts by their ids, and no tracepoint, whose format it reads once.
 */
static bool pipes_event(const struct perfout_event *e)
{
	bool reads = e->format.sample_type & PERF_SAMPLE_READ && !perfout_is_tracepoint(e);

	return !e->in_pipe || (e->ids_in_pipe < e->nids && (!e->ids_in_pipe || reads));
}

bool perfout_is_late_tracepoint(const struct perfout_view *v, const struct perfout_event *e)
{
	return v->formats_piped && !e->in_pipe && perfout_is_tracepoint(e);
}

bool perfout_pipe_event(struct perfout_view *v, struct perfout_event *e)
{
	/* perf of Debian 12 expects attrs of its own size in a pipe */
	size_t least = least_size(e);
	size_t size = least < PERF_ATTR_SIZE_VER7 ? PERF_ATTR_SIZE_VER7 : least;
	size_t most = (RECORD_MOST - RECORD_HEAD - size) / sizeof(*e->ids);
	struct buf b = { 0 };
	bool written = false;

	while (!e->left_out && pipes_event(e)) {
		const uint64_t *ids = e->ids ? e->ids + e->ids_in_pipe : NULL;
		size_t n = e->nids - e->ids_in_pipe < most ? e->nids - e->ids_in_pipe : most;

		begin_record(&b, PERF_RECORD_HEADER_ATTR);
		perfout_attr(v, e, size, &b);
		if (n)
			buf_add(&b, ids, n * sizeof(*ids));
		end_record(v, &b);
		if (n) {
			begin_record(&b, PERF_RECORD_EVENT_UPDATE);
			buf_add_u64(&b, PERF_EVENT_UPDATE__NAME);
			buf_add_u64(&b, ids[0]);
			buf_add(&b, e->name, strlen(e->name) + 1);
			end_record(v, &b);
		}
		for (size_t i = 0; i < n; i++)
			map_set(&v->piped, ids[i], e);
		e->ids_in_pipe += n;
		written = e->in_pipe = true;
	}
	buf_free(&b);
	return written;
}

uint64_t perfout_piped_id(const struct perfout_view *v, const struct perfout_event *e, uint64_t id)
{
	const struct perfout_event *own = map_get(&v->by_id, id);

	if (!perfout_is_pipe(v->out) || map_get(&v->piped, id))
		return id;
	e = own ? own : e;
	return e->ids_in_pipe ? e->ids[0] : id;
}

size_t perfout_id_at(const struct perfout_event *e, bool sample, size_t len)
{
	struct places p = places_of(e->format.sample_type);

	if (p.sample < 0 || (!sample && !e->format.sample_id_all) ||
	    len < RECORD_HEAD + 8 * (size_t)(sample ? p.sample + 1 : p.other))
		return 0;
	return sample ? RECORD_HEAD + 8 * (size_t)p.sample : len - 8 * (size_t)p.other;
}
