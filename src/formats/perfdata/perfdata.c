// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "formats/perfdata/perfdata.h"

#include <byteswap.h>

#include "core/abi/swap.h"
#include "formats/perfdata/perfdata_internal.h"

enum {
	PIPE_HEADER = 16,
	IDS_SECTION = 16,	/* struct perf_file_section */
	ATTR_LEAST = PERF_ATTR_SIZE_VER0, ATTR_MOST = 4096,
	FEATURE_BYTES = 64 << 20,
};

static const uint64_t magic = 0x32454c4946524550ULL;	/* PERFILE2 */
static const uint64_t magic1 = 0x454c494646524550ULL;	/* PERFFILE, up to 3.4 */

bool perfdata_is(FILE *f)
{
	uint8_t start[8];
	size_t n = 0;
	uint64_t v;
	int c;

	while (n < sizeof(start) && (c = getc(f)) != EOF)
		start[n++] = (uint8_t)c;
	v = n == sizeof(start) ? load_uint(start, 8) : 0;
	/* glibc and musl accept that many bytes back */
	while (n)
		ungetc(start[--n], f);
	return v == magic || v == bswap_64(magic) || v == magic1 || v == bswap_64(magic1);
}

/* Names in the file ----------------------------------------------------------- */

static const char *perfdata_name_pmu(const struct names *n, uint32_t type)
{
	const struct perfdata *p = (const struct perfdata *)n;
	const char *name = map_get(&p->pmus, type);

	return name ? name : p->host ? p->host->pmu(p->host, type) : NULL;
}

static const char *perfdata_name_tracepoint(const struct names *n, uint64_t id)
{
	const struct layout *l = &layout_perf_event_attr;
	const struct perfdata *p = (const struct perfdata *)n;

	for_each(e, p->events, p->nevents)
		if (e->name && strchr(e->name, ':') &&
		    layout_get(l, ATTR_TYPE, e->attr, e->attr_len) == PERF_TYPE_TRACEPOINT &&
		    layout_get(l, ATTR_CONFIG, e->attr, e->attr_len) == id)
			return e->name;
	return p->host ? p->host->tracepoint(p->host, id) : NULL;
}

static const char *perfdata_name_terms(const struct names *n, uint32_t type,
				       const uint64_t *config, size_t nconfigs)
{
	const struct perfdata *p = (const struct perfdata *)n;

	return p->host ? p->host->terms(p->host, type, config, nconfigs) : NULL;
}

static const char *perfdata_name_event(const struct names *n, uint64_t id)
{
	const struct perfdata_event *e = perfdata_event_of((const struct perfdata *)n, id);

	return e ? e->name : NULL;
}

/* Events ---------------------------------------------------------------------- */

/* Add an event; attr and the nids ids, of 8 bytes each, are as in the file and copied. */
static void perfdata_add_event(struct perfdata *p, const uint8_t *attr, size_t len,
			       const uint8_t *ids, size_t nids)
{
	struct perfdata_event *e;

	/* grows in powers of two */
	if (!(p->nevents & (p->nevents - 1)))
		p->events = xrealloc(p->events, (p->nevents ? 2 * p->nevents : 1) *
				     sizeof(*p->events));
	e = &p->events[p->nevents++];
	*e = (struct perfdata_event){
		.attr = xmalloc(len), .attr_len = len,
		.ids = xmalloc(nids ? nids * sizeof(*e->ids) : 1), .nids = nids,
	};
	memcpy(e->attr, attr, len);
	if (p->swapped)
		swap_layout(&layout_perf_event_attr, e->attr, 0, len);
	for (size_t i = 0; i < nids; i++) {
		e->ids[i] = perfdata_load(p, ids + 8 * i, 8);
		if (!map_get(&p->by_id, e->ids[i]))
			map_set(&p->by_id, e->ids[i], (void *)(uintptr_t)p->nevents);
	}
}

/* Add an event from its attr_size bytes in the file: the attr and the section of its ids. */
static bool add_stored(struct perfdata *p, uint64_t at, size_t attr_size)
{
	uint8_t stored[ATTR_MOST + IDS_SECTION];
	const uint8_t *bytes = perffile_at(&p->file, at, attr_size);
	size_t len = attr_size - IDS_SECTION;
	uint64_t offset, size;
	uint8_t *ids;

	if (!bytes)
		return perfdata_broken(p, "an attr at byte %llu is missing",
				       (unsigned long long)at);
	memcpy(stored, bytes, attr_size);
	offset = perfdata_load(p, stored + len, 8);
	size = perfdata_load(p, stored + len + 8, 8);
	p->nids += size / 8;
	/* ids are unique, so that all of them are shorter than the file */
	if (size % 8 || !perffile_has(&p->file, offset, size) ||
	    p->nids > p->file.size / 8) {
		perfdata_add_event(p, stored, len, NULL, 0);
		return perfdata_broken(p, "the ids of event %zu should be %llu bytes at %llu",
			      p->nevents - 1, (unsigned long long)size,
			      (unsigned long long)offset);
	}
	ids = perffile_read(&p->file, offset, size);
	perfdata_add_event(p, stored, len, ids, ids ? size / 8 : 0);
	free(ids);
	return true;
}

/* Records ---------------------------------------------------------------------- */

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

bool perfdata_records(struct perfdata *p,
		      void (*record)(void *ctx, const struct perfdata_record *r),
		      void *ctx)
{
	static const struct record_format none;
	const struct layout *l = &layout_perf_event_header;
	struct perfdata_record r = { .offset = p->data };
	uint8_t head[RECORD_HEAD];

	for (; r.offset < p->data_end; r.offset += r.len + r.payload) {
		uint64_t left = p->data_end - r.offset;

		r.bytes = left < RECORD_HEAD ? NULL :
			  perffile_at(&p->file, r.offset, RECORD_HEAD);
		if (!r.bytes)
			return perfdata_broken(p, "the last record, at byte %llu, is truncated",
					       (unsigned long long)r.offset);
		memcpy(head, r.bytes, RECORD_HEAD);
		if (p->swapped)
			swap_layout(l, head, 0, RECORD_HEAD);
		r.type = (uint32_t)layout_get(l, PERF_EVENT_HEADER_TYPE, head, RECORD_HEAD);
		r.len = layout_get(l, PERF_EVENT_HEADER_SIZE, head, RECORD_HEAD);
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

/* Files ------------------------------------------------------------------------ */

static bool read_features(struct perfdata *p, const uint8_t *header)
{
	const struct layout *l = &layout_perf_file_header;
	uint64_t at = p->data_end;

	for (unsigned int bit = 0; bit < 256; bit++) {
		const uint8_t *where;
		uint64_t offset, size;
		uint8_t *bytes;

		if (!(layout_get(l, PERF_FILE_HEADER_FEATURES + bit / 64, header, l->size) >>
		      bit % 64 & 1))
			continue;
		where = perffile_at(&p->file, at, IDS_SECTION);
		if (!where)
			return perfdata_broken(p, "the table of features at byte %llu is missing",
				      (unsigned long long)at);
		at += IDS_SECTION;
		offset = perfdata_load(p, where, 8);
		size = perfdata_load(p, where + 8, 8);
		if (!perffile_has(&p->file, offset, size))
			return perfdata_broken(p, "feature %u should be %llu bytes at %llu", bit,
				      (unsigned long long)size, (unsigned long long)offset);
		if (size > FEATURE_BYTES)
			continue;
		bytes = perffile_read(&p->file, offset, size);
		if (bytes)
			perfdata_read_feature(p, bit, bytes, size);
		free(bytes);
	}
	return true;
}

static bool perfdata_read_file(struct perfdata *p, const uint8_t *header)
{
	const struct layout *l = &layout_perf_file_header;
	uint64_t size = layout_get(l, PERF_FILE_HEADER_ATTR_SIZE, header, l->size);
	uint64_t attrs = layout_get(l, PERF_FILE_HEADER_ATTRS_OFFSET, header, l->size);
	uint64_t bytes = layout_get(l, PERF_FILE_HEADER_ATTRS_SIZE, header, l->size);
	uint64_t data = layout_get(l, PERF_FILE_HEADER_DATA_SIZE, header, l->size);

	p->data = layout_get(l, PERF_FILE_HEADER_DATA_OFFSET, header, l->size);
	if (size < ATTR_LEAST + IDS_SECTION || size > ATTR_MOST + IDS_SECTION)
		return perfdata_broken(p, "its attrs are %llu bytes each",
				       (unsigned long long)size);
	if (!perffile_has(&p->file, attrs, bytes) || bytes % size)
		return perfdata_broken(p, "its attrs should be %llu bytes at %llu",
			      (unsigned long long)bytes, (unsigned long long)attrs);
	for (uint64_t i = 0; i < bytes / size; i++)
		if (!add_stored(p, attrs + i * size, size))
			return false;
	p->data_end = p->file.size;
	if (!perffile_has(&p->file, p->data, data)) {
		if (p->data > p->file.size)
			p->data = p->file.size;
		return perfdata_broken(p, "its records should be %llu bytes at %llu",
			      (unsigned long long)data, (unsigned long long)p->data);
	}
	if (!data && p->data < p->file.size && p->nevents)
		return perfdata_broken(p, "no size of its records: perf record did not finish");
	p->data_end = p->data + data;
	return read_features(p, header);
}

/* Read an event or a feature, which are records in a pipe. */
static void read_piped(void *ctx, const struct perfdata_record *r)
{
	struct perfdata *p = ctx;
	struct perfdata_event *e;
	size_t len;

	switch (r->type) {
	case PERF_RECORD_HEADER_ATTR:
		len = r->len < RECORD_HEAD + 8 ? 0 : perfdata_load(p, r->bytes + RECORD_HEAD + 4, 4);
		if (!len)
			len = ATTR_LEAST;
		if (len < ATTR_LEAST || len > r->len - RECORD_HEAD ||
		    (r->len - RECORD_HEAD - len) % 8) {
			perfdata_broken(p, "the attr at byte %llu is not whole",
			       (unsigned long long)r->offset);
			break;
		}
		perfdata_add_event(p, r->bytes + RECORD_HEAD, len, r->bytes + RECORD_HEAD + len,
			  (r->len - RECORD_HEAD - len) / 8);
		break;
	case PERF_RECORD_EVENT_UPDATE:
		if (r->len <= 24 ||
		    perfdata_load(p, r->bytes + 8, 8) != PERF_EVENT_UPDATE__NAME)
			break;
		e = perfdata_event_of(p, perfdata_load(p, r->bytes + 16, 8));
		if (e)
			perfdata_set_name(e, (const char *)r->bytes + 24,
				 strnlen((const char *)r->bytes + 24, r->len - 24));
		break;
	case PERF_RECORD_HEADER_FEATURE:
		if (r->len >= 16)
			perfdata_read_feature(p, perfdata_load(p, r->bytes + 8, 8), r->bytes + 16,
				     r->len - 16);
		break;
	}
}

static bool read_header(struct perfdata *p)
{
	const struct layout *l = &layout_perf_file_header;
	const uint8_t *at = perffile_at(&p->file, 0, PIPE_HEADER);
	size_t features = l->fields[PERF_FILE_HEADER_FEATURES].offset;
	uint8_t header[256];
	uint64_t size;

	if (!at)
		return perfdata_broken(p, "it has only %llu bytes",
				       (unsigned long long)p->file.size);
	p->swapped = load_uint(at, 8) == bswap_64(magic);
	if (perfdata_load(p, at, 8) != magic) {
		warn("cannot read '%s': written by a perf before 3.5; pipe the output of "
		     "perf evlist -v to pevtrace decode --attr=-", p->file.path);
		return !(p->broken = true);
	}
	size = perfdata_load(p, at + 8, 8);
	p->pipe = size == PIPE_HEADER;
	if (p->pipe) {
		p->data = PIPE_HEADER;
		p->data_end = p->file.size;
		perfdata_records(p, read_piped, p);
		return true;
	}
	if (size != l->size)
		return perfdata_broken(p, "its header is %llu bytes, not %u or %u",
			      (unsigned long long)size, l->size, PIPE_HEADER);
	at = perffile_at(&p->file, 0, l->size);
	if (!at)
		return perfdata_broken(p, "it has only %llu bytes",
				       (unsigned long long)p->file.size);
	memcpy(header, at, l->size);
	if (p->swapped)
		swap_layout(l, header, 0, l->size);
	/*
	 * The bitmap of features is an array of longs: they have 32 bits if that is how
	 * HEADER_HOSTNAME is set, which perf always writes.
	 */
	if (p->swapped &&
	    !(layout_get(l, PERF_FILE_HEADER_FEATURES, header, l->size) >> HEADER_HOSTNAME & 1)) {
		swap_words(header + features, l->size - features, 8);
		swap_words(header + features, l->size - features, 4);
	}
	return perfdata_read_file(p, header);
}

struct perfdata *perfdata_open(FILE *f, const char *path, const struct names *host)
{
	struct perfdata *p = xcalloc(1, sizeof(*p));
	size_t k;

	p->names = (struct names){
		.pmu = perfdata_name_pmu, .tracepoint = perfdata_name_tracepoint,
		.terms = perfdata_name_terms, .event = perfdata_name_event, .page_size = 4096,
	};
	p->arch = arch_native();
	if (!perffile_open(&p->file, f, path)) {
		free(p);
		return NULL;
	}
	if (read_header(p) && !p->nevents)
		warn("%s: the file contains no event", path);
	if (!p->nevents) {
		perfdata_close(p);
		return NULL;
	}
	if (p->desc)
		perfdata_read_desc(p);
	if (p->same_host && p->same_release)
		p->host = host;
	/* list the different record formats, to try on each record */
	for_each(e, p->events, p->nevents) {
		record_format_of(&e->format, e->attr, e->attr_len, p->arch);
		e->format.no_build_id = false; /* perf inject adds build ids */
		for (k = 0; k < p->ntried; k++)
			if (p->tried[k]->format.sample_type == e->format.sample_type &&
			    p->tried[k]->format.sample_id_all == e->format.sample_id_all)
				break;
		if (k == p->ntried && k < FORMATS_TRIED)
			p->tried[p->ntried++] = e;
	}
	return p;
}

void perfdata_close(struct perfdata *p)
{
	for (size_t i = 0; i < p->nevents; i++) {
		free(p->events[i].attr);
		free(p->events[i].name);
		free(p->events[i].ids);
	}
	map_free_values(&p->pmus);
	map_free(&p->by_id);
	free(p->events);
	free(p->desc);
	free(p->record);
	perffile_close(&p->file);
	free(p);
}

bool perfdata_whole(const struct perfdata *p)
{
	return !p->broken;
}

size_t perfdata_nevents(const struct perfdata *p)
{
	return p->nevents;
}

const struct perfdata_event *perfdata_event(const struct perfdata *p, size_t i)
{
	return &p->events[i];
}

const struct names *perfdata_names(const struct perfdata *p)
{
	return &p->names;
}
