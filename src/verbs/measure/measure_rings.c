// SPDX-License-Identifier: LGPL-2.1-or-later
/* Rings of a measurement, and their records. */
#include "verbs/measure/measure_internal.h"

#include <time.h>
#include <unistd.h>

#include "core/abi/layout.h"
#include "core/host/symbols.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/rings/writer.h"
#include "formats/perfdata/measured.h"
#include "verbs/measure/refusal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

/*
 * A record becomes visible a little after its time: hold younger records back, as an
 * older one may still appear in another ring.
 */
enum { SETTLE_NS = 1000000 };

/* Flags of PERF_RECORD_AUX for data that were lost. */
#define CUT (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)

static size_t ring_index(const struct measure *m, const struct stream_ring *r)
{
	return (size_t)(r - m->stream.rings);
}

static uint32_t record_type(const uint8_t *bytes)
{
	return (uint32_t)load_uint(bytes, 4); /* the first member of the header */
}

static void on_aux(void *ctx, const struct stream_ring *r, const struct aux_result *result)
{
	struct measure *m = ctx;

	(void)r;
	m->aux_bytes += result->bytes;
	m->aux_cut += result->missed || result->odd_head;
}

static void on_aux_piece(void *ctx, const struct stream_ring *r, const uint8_t *bytes, size_t len,
			 uint64_t position)
{
	struct measure *m = ctx;

	if (m->own_session.options.perf_data)
		session_feed(&m->own_session.session, &(struct activity){
			ACTIVITY_AUX, .aux = {
				.tid = gettid(), .ns = clock_ns(),
				.ring = m->rings[ring_index(m, r)], .position = position,
				.bytes = bytes, .len = len,
			},
		});
}

/* The event of the lost records does not matter. */
static void count_lost(struct measure *m, const uint8_t *bytes, size_t len)
{
	uint32_t type = record_type(bytes);

	if (type == PERF_RECORD_LOST)
		m->lost += layout_get(&layout_perf_record_lost, PERF_RECORD_LOST_LOST, bytes,
				      len);
	else if (type == PERF_RECORD_LOST_SAMPLES)
		m->lost_samples += layout_get(&layout_perf_record_lost_samples,
					      PERF_RECORD_LOST_SAMPLES_LOST, bytes, len);
	else if (type == PERF_RECORD_AUX)
		m->aux_cut += (layout_get(&layout_perf_record_aux, PERF_RECORD_AUX_FLAGS, bytes,
					  len) & CUT) != 0;
}

static void rings_on_record(void *ctx, const struct stream_ring *from, const uint8_t *bytes,
			    size_t len)
{
	struct measure *m = ctx;
	struct session *s = &m->own_session.session;
	struct ring *ring = m->rings[ring_index(m, from)];
	struct record_format format;
	struct activity a = { .kind = ACTIVITY_RECORD };

	count_lost(m, bytes, len);
	if (m->wanted && !m->wanted(m, record_type(bytes)))
		return;
	writer_find(s->model, ring, bytes, len, &format, &a.record);
	if (m->own_session.machine.symbols)
		symbols_record(m->own_session.machine.symbols, bytes, len);
	a.record.tid = gettid();
	a.record.ns = clock_ns();
	session_feed(s, &a);
}

static void on_looked(void *ctx, const struct stream_ring *from,
		      const struct ring_result *result)
{
	struct measure *m = ctx;

	session_feed(&m->own_session.session, &(struct activity){
		ACTIVITY_LOOK, .look = {
			.tid = gettid(), .ns = clock_ns(),
			.ring = m->rings[ring_index(m, from)], .page = result->page.bytes,
			.page_len = sizeof(result->page.bytes),
			.missed = result->missed, .torn = result->torn,
		},
	});
}

static const struct stream_ops stream_ops = {
	.record = rings_on_record, .looked = on_looked, .aux = on_aux,
	.aux_piece = on_aux_piece,
};

static void find_rings(struct measure *m)
{
	m->rings = xcalloc(m->stream.n, sizeof(*m->rings));
	for (size_t i = 0; i < m->stream.n; i++) {
		uint64_t at = (uintptr_t)m->stream.rings[i].at;

		m->rings[i] = model_ring_at(m->own_session.session.model, gettid(), at, at + 1);
	}
}

/*
 * Records of several rings can be sorted if all have a time of one clock, which pevtrace can
 * read, at the same offset.
 */
static void plan_order(struct measure *m)
{
	const struct event_spec *first = m->events.events;

	m->ordered = event_get(first, ATTR_USE_CLOCKID) &&
		     event_get(first, ATTR_CLOCKID) == CLOCK_MONOTONIC &&
		     event_get(first, ATTR_SAMPLE_TYPE) & PERF_SAMPLE_TIME;
	for (size_t i = 0; i < m->events.n; i++) {
		static const unsigned int same[] = {
			ATTR_USE_CLOCKID, ATTR_CLOCKID, ATTR_SAMPLE_TYPE, ATTR_SAMPLE_ID_ALL,
		};

		for (size_t k = 0; k < sizeof(same) / sizeof(*same); k++)
			if (event_get(&m->events.events[i], same[k]) !=
			    event_get(first, same[k]))
				m->ordered = false;
	}
	if (m->ordered)
		record_format_of(&m->stream.format, first->attr.bytes, first->attr.len,
				 arch_native());
}

/* Report the processes that are measured, for outputs that contain records. */
static void report_measured(struct measure *m)
{
	const struct options *o = &m->own_session.options;
	struct measured *measured;

	if (!o->json && !o->perf_data)
		return;
	measured = measured_new(&m->own_session.session, false);
	measured_task(measured, gettid());
	measured_free(measured);
}

bool measure_map(struct measure *m)
{
	int error;

	m->stream.ops = &stream_ops;
	m->stream.ctx = m;
	plan_order(m);
	error = batch_map(&m->batch, &m->stream, m->pages);
	if (error) {
		refusal_map(m->stream.n + 1, m->pages, error);
		return false;
	}
	if (m->aux_pages)
		error = batch_map_aux(&m->batch, &m->stream, m->aux_pages, m->aux_snapshot);
	if (error) {
		refusal_aux(m->aux_pages, error);
		return false;
	}
	find_rings(m);
	report_measured(m);
	return true;
}

void measure_look(struct measure *m, bool last)
{
	if (m->stream.n)
		stream_look(&m->stream, last || !m->ordered ? UINT64_MAX :
			    clock_ns() - SETTLE_NS);
}
