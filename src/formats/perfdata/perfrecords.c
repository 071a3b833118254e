// SPDX-License-Identifier: LGPL-2.1-or-later
/* The records of a perf.data file and their events. */
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/swap.h"
#include "core/lib/die.h"
#include "formats/perfdata/perfdata_state.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Convert the record at bytes by a format, in a copy. */
static const uint8_t *converted(struct perfdata *p, const uint8_t *bytes, size_t len,
				const struct record_format *f)
{
	if (!p->record)
		p->record = xmalloc(RECORD_MOST);
	memcpy(p->record, bytes, len);
	swap_record(p->record, len, f, NULL);
	return p->record;
}

/*
 * Find the event of a record by its id.  The offset of the id depends on the event's format;
 * perf makes the formats of a session agree in it, so that the first one usually fits.
 */
static const struct perfdata_event *event_for(struct perfdata *p, const uint8_t *bytes,
					      size_t len)
{
	const struct perfdata_event *e;
	struct record_id id;

	if (p->nevents <= 1)
		return p->nevents ? &p->events[0] : NULL;
	for (size_t i = 0; i < p->ntried; i++) {
		const struct record_format *f = &p->tried[i]->format;
		const uint8_t *record = p->swapped ? converted(p, bytes, len, f) : bytes;

		if (!record_identify(record, len, f, &id) || !id.has_id)
			continue;
		e = perfdata_event_of(p, id.id);
		if (e)
			return e;
	}
	/* records that perf synthesized have id 0 and the first event's format */
	return &p->events[0];
}

/* Set r->payload to the payload after a record, which its size does not include. */
static bool payload(const struct perfdata *p, struct perfdata_record *r)
{
	r->payload = 0;
	if (r->type == PERF_RECORD_AUXTRACE && r->len >= 16)
		r->payload = perfdata_load(p, r->bytes + RECORD_HEAD, 8);
	else if (r->type == PERF_RECORD_HEADER_TRACING_DATA && p->pipe && r->len >= 12)
		r->payload = (perfdata_load(p, r->bytes + RECORD_HEAD, 4) + 7) & ~7ULL;
	return r->payload <= p->data_end - r->offset - r->len;
}

/* Read type and length of the record at bytes. */
static void record_head(const struct perfdata *p, const uint8_t *bytes, struct perfdata_record *r)
{
	const struct layout *l = &layout_perf_event_header;
	uint8_t head[RECORD_HEAD];

	memcpy(head, bytes, RECORD_HEAD);
	if (p->swapped)
		swap_layout(l, head, 0, RECORD_HEAD);
	r->type = (uint32_t)layout_get(l, PERF_EVENT_HEADER_TYPE, head, RECORD_HEAD);
	r->len = layout_get(l, PERF_EVENT_HEADER_SIZE, head, RECORD_HEAD);
}

bool perfdata_records(struct perfdata *p,
		      void (*record)(void *ctx, const struct perfdata_record *r),
		      void *ctx)
{
	static const struct record_format none;
	struct perfdata_record r = { .offset = p->data };

	for (; r.offset < p->data_end; r.offset += r.len + r.payload) {
		uint64_t left = p->data_end - r.offset;

		r.bytes = left < RECORD_HEAD ? NULL :
			  perffile_at(&p->file, r.offset, RECORD_HEAD);
		if (!r.bytes)
			return perfdata_broken(p, "the last record, at byte %llu, is truncated",
					       (unsigned long long)r.offset);
		record_head(p, r.bytes, &r);
		if (r.len < RECORD_HEAD || r.len > left)
			return perfdata_broken(p, "the record at byte %llu should be %zu bytes "
					       "long", (unsigned long long)r.offset, r.len);
		r.bytes = perffile_at(&p->file, r.offset, r.len);
		if (!r.bytes)
			return perfdata_broken(p, "the record at byte %llu cannot be read",
					       (unsigned long long)r.offset);
		r.event = r.type < PERF_RECORD_HEADER_ATTR && p->ntried ?
			  event_for(p, r.bytes, r.len) : NULL;
		if (!payload(p, &r))
			return perfdata_broken(p, "the bytes after the record at %llu are "
					       "truncated", (unsigned long long)r.offset);
		if (p->swapped)
			r.bytes = converted(p, r.bytes, r.len, r.event ? &r.event->format : &none);
		record(ctx, &r);
	}
	return true;
}
