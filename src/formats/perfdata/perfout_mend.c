// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records of the kernel as perf expects them. */
#include "formats/perfdata/perfout_internal.h"

/*
 * Tasks: an event that measures one task and is not inherited tells whose records without
 * PERF_SAMPLE_TID are: they get pid and tid, by which perf finds process and symbols.
 */

/* Return the offset of pid and tid in a record, which has none, or 0: it has no sample_id. */
static size_t perfout_tid_at(const struct record_format *f, uint32_t type, size_t len)
{
	static const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	static const uint64_t after = PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				      PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	size_t at, others;

	if (type == PERF_RECORD_SAMPLE) {
		at = RECORD_HEAD + 8 * (size_t)__builtin_popcountll(f->sample_type & before);
		return at <= len ? at : 0;
	}
	others = 8 * (size_t)__builtin_popcountll(f->sample_type & after);
	return f->sample_id_all && len >= RECORD_HEAD + others ? len - others : 0;
}

/*
 * Append a record of p with pid and tid inserted and return true; the caller sets the size in its
 * header.  Return false if nothing is inserted.
 */
static bool perfout_insert_tid(struct perfout_view *v, const struct activity_record *r,
			       struct perfout_event *p, uint32_t type, struct buf *out)
{
	/* without ids, another event may have written it */
	pid_t tid = r->sure ? event_single_task(r->event) : -1;
	pid_t pid = tid > 0 ? (pid_t)(uintptr_t)map_get(&v->threads, (uint64_t)tid) : -1;
	size_t at = p->adds_tid ? perfout_tid_at(&p->format, type, r->len) : 0;

	if (type == PERF_RECORD_SAMPLE && (at ? tid < 0 : !(p->format.sample_type & PERF_SAMPLE_TID)))
		p->sample_lacks_task = true;
	if (!at)
		return false;
	buf_add(out, r->bytes, at);
	buf_add_u32(out, (uint32_t)(pid ? pid : tid)); /* a process that was never seen: its leader */
	buf_add_u32(out, (uint32_t)tid);
	buf_add(out, r->bytes + at, r->len - at);
	return true;
}

/*
 * Counts in records (PERF_SAMPLE_READ, PERF_RECORD_READ): each with the id of its event, which perf
 * demands of an event with PERF_SAMPLE_READ (tools/perf/util/evlist.c, evlist__valid_read_format())
 * and by which it delivers the sample.
 */

/* The events of which a record has counts, in the order of the counts. */
struct counted {
	struct event **events;
	size_t n;
};

/* Remove the one that closed first, but neither e nor its leader: these wrote the record. */
static bool counted_remove_closed(struct counted *c, const struct event *e)
{
	size_t first = 0;

	for (size_t i = 1; i < c->n; i++) {
		const struct event *at = c->events[i], *best = c->events[first];

		if (at != e && at->closed &&
		    (!first || at->closed_ns < best->closed_ns ||
		     (at->closed_ns == best->closed_ns && at->number < best->number)))
			first = i;
	}
	if (!first)
		return false;
	c->n--;
	memmove(c->events + first, c->events + first + 1, (c->n - first) * sizeof(*c->events));
	return true;
}

/*
 * Find the events of nr counts: the kernel writes the leader's first, then those of the others as
 * they were opened.  Free c->events.
 */
static void counted_find(const struct perfout_view *v, struct event *e, uint64_t nr,
			 struct counted *c)
{
	struct event *leader = e->leader ? e->leader : e, *const *events;
	size_t n = model_events(v->model, &events), first = leader->number - 1;

	if (leader->closed && nr == 1) /* e leads itself since then */
		leader = e;
	c->n = 0;
	c->events = xmalloc((n - first + 1) * sizeof(*c->events));
	for (size_t i = first; i < n; i++)
		if (events[i] && (events[i] == leader || events[i]->leader == leader))
			c->events[c->n++] = events[i];
	if (!c->n) /* closed: it was alone, or others would have kept it */
		c->events[c->n++] = e;
	while (c->n > nr && counted_remove_closed(c, e))
		;
}

/* Return the event in the file of a count, which may have no ring buffer, or NULL. */
static struct perfout_member *counted_member(struct perfout_view *v, const struct counted *c,
					     uint64_t index)
{
	struct perfout_member *m = index < c->n ? perfout_member(v, c->events[index]) : NULL;

	if (!m)
		return NULL;
	m->event->lacks_task_and_time = m->event->left_out = false;
	return perfout_admit_event(v, m->event) ? m : NULL;
}

/* Where the counts of a record are, and how they are laid out. */
struct reads {
	size_t at, head, value, id; /* bytes: begin, before the first value, of each, before its id */
	uint64_t nr;
};

/* Return false if the record has none, or not all of them. */
static bool reads_find(const struct record_format *f, const uint8_t *bytes, size_t len,
		       struct reads *r)
{
	static const uint64_t before = /* eight bytes each */
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
		PERF_SAMPLE_PERIOD;
	uint64_t type = load_uint(bytes, 4), rf = f->read_format;
	size_t times = 8 * (size_t)__builtin_popcountll(rf & (PERF_FORMAT_TOTAL_TIME_ENABLED |
							      PERF_FORMAT_TOTAL_TIME_RUNNING));
	size_t more = 8 * (size_t)__builtin_popcountll(rf & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
	bool group = rf & PERF_FORMAT_GROUP;

	if (type == PERF_RECORD_READ)
		r->at = RECORD_HEAD + 8; /* behind pid and tid */
	else if (type == PERF_RECORD_SAMPLE && f->sample_type & PERF_SAMPLE_READ)
		r->at = RECORD_HEAD + 8 * (size_t)__builtin_popcountll(f->sample_type & before);
	else
		return false;
	r->id = group ? 8 : 8 + times;
	r->head = group ? 8 + times : 0;
	r->value = r->id + more;
	if (len < r->at + r->head)
		return false;
	r->nr = group ? load_uint(bytes + r->at, 8) : 1;
	return r->nr <= (len - r->at - r->head) / r->value;
}

/* Know the events of a group by the ids in its counts. */
static void reads_learn(struct perfout_view *v, struct event *e, const uint8_t *values,
			const struct reads *r)
{
	struct counted c = { 0 };

	for (uint64_t i = 0; i < r->nr; i++) {
		uint64_t id = load_uint(values + i * r->value + r->id, 8);
		struct perfout_member *m;

		if (map_get(&v->by_id, id))
			continue;
		if (!c.events)
			counted_find(v, e, r->nr, &c);
		m = counted_member(v, &c, i);
		if (m)
			perfout_add_id(v, m->event, id);
	}
	free(c.events);
}

/* Append the values, each with the id of its event; return how many have one. */
static uint64_t reads_add(struct perfout_view *v, struct event *e, const uint8_t *values,
			  const struct reads *r, bool group, struct buf *out)
{
	struct counted c = { &e, 1 };
	uint64_t nr = 0;

	if (group)
		counted_find(v, e, r->nr, &c);
	for (uint64_t i = 0; i < r->nr; i++, values += r->value) {
		struct perfout_member *m = counted_member(v, &c, i);

		if (!m) {
			v->counts_unnamed++;
			continue;
		}
		buf_add(out, values, r->id);
		buf_add_u64(out, perfout_id(v, m));
		buf_add(out, values + r->id, r->value - r->id);
		nr++;
	}
	if (group)
		free(c.events);
	return nr;
}

/*
 * Append a record of e with ids added to its counts and return true; the caller sets the size in
 * its header.  Return false if no ids are added.  Counted events become events of the file.
 */
static bool perfout_add_read_ids(struct perfout_view *v, struct event *e,
				 const struct perfout_event *p, const uint8_t *bytes, size_t len,
				 struct buf *out)
{
	const struct record_format *f = &p->format;
	bool group = f->read_format & PERF_FORMAT_GROUP;
	const uint8_t *values;
	struct reads r;
	uint64_t nr;

	if (!reads_find(f, bytes, len, &r))
		return false;
	values = bytes + r.at + r.head;
	if (group && f->read_format & PERF_FORMAT_ID)
		reads_learn(v, e, values, &r);
	if (!perfout_adds_read_ids(p))
		return false;
	buf_add(out, bytes, r.at + r.head);
	nr = reads_add(v, e, values, &r, group, out);
	if (group)
		memcpy(out->data + r.at, &nr, sizeof(nr));
	values += r.nr * r.value;
	buf_add(out, values, (size_t)(bytes + len - values));
	return true;
}

struct activity_record perfout_mend(struct perfout_view *v, const struct activity_record *r,
				       uint32_t type, struct perfout_event *e, struct buf copies[2])
{
	const struct field *misc_field = &layout_perf_event_header.fields[PERF_EVENT_HEADER_MISC];
	uint64_t misc = layout_get(&layout_perf_event_header, PERF_EVENT_HEADER_MISC, r->bytes,
				   r->len);
	bool stale = type == PERF_RECORD_MMAP2 && r->format->no_build_id &&
		     misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	struct activity_record now = *r;
	struct buf *copy = &copies[0];

	if (!perfout_insert_tid(v, r, e, type, copy) && stale)
		buf_add(copy, r->bytes, r->len);
	if (copy->len) {
		now.bytes = (const uint8_t *)copy->data;
		now.len = copy->len;
	}
	if (stale)
		field_set(misc_field, misc & ~PERF_RECORD_MISC_MMAP_BUILD_ID,
			  (uint8_t *)copy->data);
	if (perfout_add_read_ids(v, r->event, e, now.bytes, now.len, &copies[1]))
		copy = &copies[1];
	if (copy->len) {
		now.bytes = (const uint8_t *)copy->data;
		now.len = copy->len;
		perfout_set_size(copy);
	}
	return now;
}
