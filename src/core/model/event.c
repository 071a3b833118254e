// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lifetime and reference counts of attrs, events and ring buffers. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/model/calls.h"

/* One copy of equal attrs: programs open thousands of events with the same one. */
struct attr_kept {
	size_t refs;
	uint64_t hash;
	size_t len;
	uint8_t bytes[];
};

static struct attr_kept *kept_of(const uint8_t *bytes)
{
	return (struct attr_kept *)(bytes - offsetof(struct attr_kept, bytes));
}

const uint8_t *attr_keep(struct model *m, const uint8_t *attr, size_t len)
{
	uint64_t hash = hash_bytes(HASH_START, attr, len);
	struct attr_kept *k = map_get(&m->attrs, hash);

	if (k && k->len == len && (!len || !memcmp(k->bytes, attr, len))) {
		k->refs++;
		return k->bytes;
	}
	k = xcalloc(1, sizeof(*k) + len);
	k->refs = 1;
	k->hash = hash;
	k->len = len;
	if (len)
		memcpy(k->bytes, attr, len);
	map_set(&m->attrs, hash, k); /* on a collision, only the newer one is shared */
	return k->bytes;
}

void attr_forget(struct model *m, const uint8_t *kept)
{
	struct attr_kept *k = kept_of(kept);

	if (--k->refs)
		return;
	if (map_get(&m->attrs, k->hash) == k)
		map_del(&m->attrs, k->hash);
	free(k);
}

void list_add(struct list *l, void *item)
{
	if (!(l->n & (l->n - 1))) /* full at each power of two */
		l->items = xrealloc(l->items, (l->n ? 2 * l->n : 1) * sizeof(*l->items));
	l->items[l->n++] = item;
}

struct event *event_new(struct model *m, const uint8_t *attr, size_t len)
{
	struct event *e = xcalloc(1, sizeof(*e));

	e->owner = m;
	e->number = ++m->nevents;
	e->opened_ns = m->now_ns;
	e->attr = attr_keep(m, attr, len);
	e->attr_len = len;
	map_set(&m->event_numbers, e->number, e);
	if (m->keep)
		list_add(&m->events, event_ref(e));
	return e;
}

static void forget_source(struct event *output, const struct event *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < output->nsources; i++)
		if (output->sources[i] != e)
			output->sources[kept++] = output->sources[i];
	output->nsources = kept;
}

void event_lead(struct event *e, struct event *leader)
{
	e->leader = event_ref(leader);
	leader->leads = true;
	leader->members += !e->closed;
	leader->formats |= 1U << (e->read_format & 31);
}

struct event *group_next(const struct model *m, struct event *leader, unsigned int *number)
{
	struct event *e = NULL;

	*number = *number ? *number + 1 : leader->number;
	for (; *number <= m->nevents; ++*number) {
		e = map_get(&m->event_numbers, *number);
		if (e && (e == leader || e->leader == leader))
			return e;
	}
	return NULL;
}

struct event *model_next_event(const struct model *m, size_t *at)
{
	struct map_slot *slot = map_next(&m->event_numbers, at);

	return slot ? slot->value : NULL;
}

void model_on_end(struct model *m, void (*hook)(void *ctx, const struct event *e), void *ctx)
{
	m->ended = hook;
	m->ended_ctx = ctx;
}

struct ring *event_ring(const struct event *e, bool aux)
{
	struct ring *r = e->buffer[0];

	if (!r && e->output && !e->detached)
		r = e->output->buffer[0];
	return r && aux ? r->event->buffer[1] : r;
}

void event_redirect(struct event *e, struct event *output)
{
	struct event *before = e->output;
	struct ring *r = output ? event_ring(output, false) : NULL;

	/* the other event may itself write to the ring buffer of a third one */
	if (r && r->event != e)
		output = r->event;
	e->detached = !r;
	if (before == output)
		return;
	/* events whose output's ring is gone may not hold each other in a circle */
	for (struct event *o = output; o; o = o->output)
		if (o->output == e) {
			event_redirect(o, NULL);
			break;
		}
	e->output = output ? event_ref(output) : NULL;
	if (output) {
		output->ring.shared = true;
		APPEND(output->sources, output->nsources) = e;
	}
	if (before) {
		forget_source(before, e);
		event_unref(before);
	}
}

bool event_is_bare(const struct event *e)
{
	return !event_attr(e, ATTR_SAMPLE_TYPE) && !event_attr(e, ATTR_SAMPLE_PERIOD);
}

bool event_has_all_tasks(const struct event *e)
{
	return e->flags & PERF_FLAG_PID_CGROUP || (e->pid < 0 && e->cpu >= 0);
}

pid_t event_single_task(const struct event *e)
{
	if (e->pid < 0 || e->flags & PERF_FLAG_PID_CGROUP || event_attr(e, ATTR_INHERIT))
		return -1;
	return e->pid ? e->pid : e->opener;
}

bool event_is_probe(const struct event *e)
{
	return e->closed && !e->ended && !e->found && !e->maps && !e->reads && !e->controls &&
	       !e->output && !e->leader && !e->filter && !e->bpf && e->start != START_EXEC;
}

void event_note_lost(struct event *e, uint64_t lost)
{
	struct event *to = e->output ? e->output : e;

	if (lost > e->lost_read)
		to->ring.lost_read += lost - e->lost_read;
	e->lost_read = lost;
}

uint64_t event_attr(const struct event *e, unsigned int member)
{
	return layout_get(&layout_perf_event_attr, member, e->attr, e->attr_len);
}

void event_unref(struct event *e)
{
	if (!e || --e->refs)
		return;
	if (e->owner->ended)
		e->owner->ended(e->owner->ended_ctx, e);
	map_del(&e->owner->event_numbers, e->number);
	if (e->id && map_get(&e->owner->by_id, e->id) == e)
		map_del(&e->owner->by_id, e->id);
	if (e->output) {
		forget_source(e->output, e);
		event_unref(e->output);
	}
	event_unref(e->leader);
	free(e->sources);
	attr_forget(e->owner, e->attr);
	free(e->records);
	free(e->filter);
	free(e->name);
	free(e->probed);
	free(e);
}

/*
 * End the event if nothing is left that keeps its file open, and release it if the model keeps
 * few and nothing but the list of all events holds on to it.
 */
static void event_settle(struct event *e)
{
	bool closed = !e->handles && !e->mapped && !e->links;
	void **listed = e->owner->few ? &e->owner->events.items[e->number - 1] : NULL;

	if (closed && !e->closed) {
		e->closed_ns = e->owner->now_ns;
		if (e->leader)
			e->leader->members--;
	} else if (e->closed && !closed && e->leader) {
		e->leader->members++;
	}
	e->closed = closed;
	if (!closed)
		return;
	/* a closed event writes nowhere, but the summary shows where it did */
	if (e->output)
		forget_source(e->output, e);
	if (!listed || !*listed || e->leader || e->leads || e->lost_read || e->bpf != BPF_NONE ||
	    (!e->maps && !event_is_probe(e) && kept_of(e->attr)->refs == 1))
		return;
	*listed = NULL;
	event_unref(e);
}

void event_handles(struct event *e, int change)
{
	e->handles += (unsigned int)change;
	event_settle(e);
}

static void event_mapped(struct event *e, int change)
{
	e->mapped += (unsigned int)change;
	event_settle(e);
}

void event_linked(struct event *e, int change)
{
	e->links += (unsigned int)change;
	if (change < 0 && e->handles)
		e->bpf = BPF_DETACHED;
	event_settle(e);
}

struct ring *ring_map(struct model *m, struct task *t, struct event *e, struct ring *first,
		      uint64_t start, uint64_t end, bool aux)
{
	struct ring *r = xcalloc(1, sizeof(*r));
	struct space *s = t->space;

	r->number = ++m->nrings;
	r->event = event_ref(e);
	r->first = first ? ring_ref(first) : NULL;
	r->pid = t->pid;
	r->start = start;
	r->end = end;
	r->aux = aux;
	map_set(&m->ring_numbers, r->number, r);
	if (m->keep && !m->few && !first)
		list_add(&m->rings, ring_ref(r));
	APPEND(s->rings, s->nrings) = ring_ref(r);
	ring_first(r)->mappings++;
	if (!first && !aux && m->names->page_size && end - start > m->names->page_size)
		e->ring.size = end - start - m->names->page_size;
	event_mapped(e, 1);
	return r;
}

void ring_unref(struct ring *r)
{
	if (--r->refs)
		return;
	map_del(&r->event->owner->ring_numbers, r->number);
	event_unref(r->event);
	if (r->first)
		ring_unref(r->first);
	free(r);
}

struct space *space_new(void)
{
	struct space *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	return s;
}

static void unmap(struct ring *r)
{
	struct ring *first = ring_first(r), **current = &first->event->buffer[first->aux];

	r->unmapped = true;
	if (!--first->mappings) {
		first->event->ring.unread += first->ends_unread && !first->overwrite ?
					    first->unread : 0;
		if (*current == first)
			*current = NULL;
		for (size_t i = 0; !first->aux && i < first->event->nsources; i++)
			first->event->sources[i]->detached = true;
	}
	event_mapped(r->event, -1);
	ring_unref(r);
}

void space_unref(struct space *s)
{
	if (--s->refs)
		return;
	for (size_t i = 0; i < s->nrings; i++)
		unmap(s->rings[i]);
	free(s->rings);
	free(s);
}

struct ring *space_find(const struct space *s, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < s->nrings; i++)
		if (ring_overlaps(s->rings[i], start, end))
			return s->rings[i];
	return NULL;
}

void space_leave(struct space *s, uint64_t start, uint64_t end, bool leaving)
{
	for (size_t i = 0; i < s->nrings; i++)
		if (ring_overlaps(s->rings[i], start, end))
			s->rings[i]->leaving = leaving;
}

void space_note_left(struct space *s, uint64_t start, uint64_t end, uint64_t since_ns)
{
	for (size_t i = 0; i < s->nrings; i++) {
		struct ring *r = ring_first(s->rings[i]);

		if (ring_overlaps(s->rings[i], start, end))
			r->ends_unread = r->looked_ns >= since_ns;
	}
}

void space_remove(struct space *s, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nrings; i++) {
		struct ring *r = s->rings[i];

		if (ring_overlaps(r, start, end))
			unmap(r);
		else
			s->rings[kept++] = r;
	}
	s->nrings = kept;
}
