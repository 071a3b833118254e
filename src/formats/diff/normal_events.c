// SPDX-License-Identifier: LGPL-2.1-or-later
/* The events of the normal form: storage and names. */
#include "formats/diff/normal.h"

#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/model/event_name.h"
#include "formats/diff/normal_sink.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Events are allocated in blocks, so that their addresses do not change. */
enum { EVENTS_BLOCK = 256 };

/*
 * Return the event's name without modifiers and addresses: an event that differs in :u is
 * a changed event, not another one.
 */
static char *normal_base_name(const struct normal *n, const struct event *e)
{
	static const unsigned int modifiers[] = {
		ATTR_EXCLUDE_USER, ATTR_EXCLUDE_KERNEL, ATTR_PRECISE_IP,
	};
	struct walk w = { .layout = &layout_perf_event_attr, .names = n->names };
	uint8_t attr[EVENT_ATTR_MAX] = { 0 };
	struct buf name = { 0 };
	const struct field *f;
	size_t at = 0;

	memcpy(attr, e->attr, e->attr_len);
	w.bytes = e->attr;
	w.len = e->attr_len;
	for (size_t i = 0; i < sizeof(modifiers) / sizeof(*modifiers); i++)
		field_clear(&w.layout->fields[modifiers[i]], attr, sizeof(attr));
	while ((f = layout_next(&w, &at)))
		if (f->kind == FIELD_ADDR || f->kind == FIELD_STRING)
			field_clear(f, attr, sizeof(attr));
	event_name(attr, e->attr_len, n->names, &name);
	for (size_t i = 0; i < name.len; i++)
		if ((unsigned char)name.data[i] <= ' ' || strchr("*|\"\\\177#", name.data[i]))
			name.data[i] = '_';
	return name.data ? name.data : xstrdup("event");
}

/* Return the one copy of a name that many events share. */
static const char *shared_name(struct normal *n, const char *name)
{
	uint64_t h = hash_text(HASH_START, name);
	char *known;

	while ((known = map_get(&n->bases, h)) && strcmp(known, name))
		h++;
	if (!known) {
		known = xstrdup(name);
		map_set(&n->bases, h, known);
	}
	return known;
}

struct normal_event *normal_event_at(const struct normal *n, size_t index)
{
	return &n->events[index / EVENTS_BLOCK][index % EVENTS_BLOCK];
}

struct normal_event *normal_event_new(struct normal *n, const struct normal_task *t,
				      const char *base)
{
	size_t block = n->nevents / EVENTS_BLOCK;
	struct normal_event *e;

	if (n->nevents % EVENTS_BLOCK == 0) {
		n->events = xrealloc(n->events, (block + 1) * sizeof(struct normal_event *));
		n->events[block] = xcalloc(EVENTS_BLOCK, sizeof(*e));
	}
	e = normal_event_at(n, n->nevents);
	e->index = (uint32_t)n->nevents++;
	e->opener = t;
	e->base = shared_name(n, base);
	e->cpu = -1;
	e->opens = 1;
	return e;
}

/* Return the slot of the model's event of that number, which counts from 1. */
static struct normal_event **numbered(struct normal *n, unsigned int number)
{
	size_t room = n->nnumbers ? n->nnumbers : 16;

	while (room <= number)
		room *= 2;
	if (room > n->nnumbers) {
		n->by_number = xrealloc(n->by_number, room * sizeof(struct normal_event *));
		memset(n->by_number + n->nnumbers, 0,
		       (room - n->nnumbers) * sizeof(struct normal_event *));
		n->nnumbers = room;
	}
	return &n->by_number[number];
}

struct normal_event *normal_event_of(struct normal *n, struct normal_task *t,
				     const struct event *e)
{
	struct normal_event **at = numbered(n, e->number), *known = *at;
	struct buf found = { 0 };
	char *name;

	if (known)
		return known;
	if (!event_known(e)) {
		buf_addf(&found, "found%u", ++t->founds);
		name = found.data;
	} else {
		name = normal_base_name(n, e);
	}
	*at = normal_event_new(n, t, name);
	if (event_known(e))
		(*at)->cpu = e->cpu;
	(*at)->id_known = e->read_format & PERF_FORMAT_ID; /* each read returns one */
	free(name);
	return *at;
}

void normal_events_free(struct normal *n)
{
	for (size_t i = 0; i < n->nevents; i += EVENTS_BLOCK)
		free(n->events[i / EVENTS_BLOCK]);
	map_free_values(&n->bases);
	free(n->by_number);
	free(n->events);
}
