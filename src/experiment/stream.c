// SPDX-License-Identifier: LGPL-2.1-or-later
#include "experiment/stream.h"

#include <stdlib.h>

#include "core/lib/die.h"

/* One read of a ring. */
struct look {
	struct stream *stream;
	size_t ring;
};

void stream_add(struct stream *s, const struct stream_ring *r)
{
	APPEND(s->rings, s->n) = *r;
}

static void stream_hold(void *ctx, const uint8_t *bytes, size_t len)
{
	struct look *l = ctx;
	struct stream *s = l->stream;
	struct record_id id;

	s->held = xgrow(s->held, s->nheld, sizeof(*s->held));
	s->held[s->nheld++] = (struct stream_record){
		.ring = l->ring, .at = s->pool.len, .len = len,
		.time = record_identify(bytes, len, &s->format, &id) && id.has_time ?
			id.time : 0,
		.order = s->order++,
	};
	buf_add(&s->pool, bytes, len);
}

static void pass_aux(struct stream *s, const struct stream_ring *r,
		     const struct aux_result *aux)
{
	if (s->ops->aux && (aux->bytes || aux->missed || aux->odd_head))
		s->ops->aux(s->ctx, r, aux);
}

void stream_snapshot(struct stream *s)
{
	struct aux_result aux;

	for (size_t i = 0; i < s->n; i++) {
		if (!s->rings[i].aux.snapshot)
			continue;
		aux_snapshot(&s->rings[i].aux, &aux, NULL, NULL);
		pass_aux(s, &s->rings[i], &aux);
	}
}

static void stream_aux_piece(void *ctx, const uint8_t *bytes, size_t len, uint64_t position)
{
	const struct look *l = ctx;

	if (l->stream->ops->aux_piece)
		l->stream->ops->aux_piece(l->stream->ctx, &l->stream->rings[l->ring], bytes, len,
					  position);
}

static void stream_read_ring(struct stream *s, size_t i)
{
	struct stream_ring *r = &s->rings[i];
	uint16_t tail = layout_perf_event_mmap_page
		.fields[PERF_EVENT_MMAP_PAGE_DATA_TAIL].offset;
	struct look l = { s, i };
	const struct ring_image image = {
		.bytes = r->at, .length = r->length, .backward = r->backward,
		.overwrite = r->backward, .settle = ring_settle,
	};
	struct ring_result result;
	struct aux_result aux;

	if (ring_walk(&image, &r->seen, &result, stream_hold, &l))
		return;
	aux_look(&r->aux, &aux, stream_aux_piece, &l);
	pass_aux(s, r, &aux);
	if (!r->backward && r->seen.started)
		/*
		 * The kernel may overwrite what lies before data_tail.  Release: all of that has
		 * been read (kernel/events/ring_buffer.c pairs it with its load of data_tail).
		 */
		__atomic_store_n((uint64_t *)((uint8_t *)r->at + tail), r->seen.position,
				 __ATOMIC_RELEASE);
	if ((result.records || result.missed || result.torn) && s->ops->looked)
		s->ops->looked(s->ctx, r, &result);
}

static int stream_by_time(const void *a, const void *b)
{
	const struct stream_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

void stream_look(struct stream *s, uint64_t before)
{
	struct buf pool = { 0 };
	size_t i, n;

	for (i = 0; i < s->n; i++)
		stream_read_ring(s, i);
	if (!s->nheld)
		return;
	/* set the time of a record that has none to that of the record before it in its ring */
	for (size_t i = 1; i < s->nheld; i++)
		if (!s->held[i].time && s->held[i].ring == s->held[i - 1].ring)
			s->held[i].time = s->held[i - 1].time;
	qsort(s->held, s->nheld, sizeof(*s->held), stream_by_time);
	for (i = 0; i < s->nheld && s->held[i].time < before; i++) {
		const struct stream_record *r = &s->held[i];

		s->ops->record(s->ctx, &s->rings[r->ring],
			       (const uint8_t *)s->pool.data + r->at, r->len);
	}
	/* move the records that are still held to the start of the pool */
	for (n = 0; i < s->nheld; i++) {
		struct stream_record *r = &s->held[n++];

		*r = s->held[i];
		buf_add(&pool, s->pool.data + r->at, r->len);
		r->at = pool.len - r->len;
	}
	buf_free(&s->pool);
	s->pool = pool;
	s->nheld = n;
}

void stream_free(struct stream *s)
{
	free(s->rings);
	free(s->held);
	buf_free(&s->pool);
	s->rings = NULL;
	s->held = NULL;
	s->n = s->nheld = 0;
}

void stream_close(struct stream *s, struct own_calls *calls)
{
	for_each(r, s->rings, s->n) {
		if (r->aux.bytes)
			own_call_unmap(calls, (void *)r->aux.bytes, r->aux.size);
		own_call_unmap(calls, r->at, r->length);
	}
	stream_free(s);
}
