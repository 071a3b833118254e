// SPDX-License-Identifier: LGPL-2.1-or-later
/* The features of a perf.data file (tools/perf/util/header.c). */
#include <limits.h>
#include <string.h>
#include <time.h>

#include "core/abi/layout.h"
#include "core/host/build_id.h"
#include "formats/perfdata/perfout_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

#define NS 1000000000ULL

enum {
	NAME_ALIGN = 64,
	BUILD_ID_ROOM = 24, /* a build id, its size and reserved bytes */
	BUILD_ID_SIZED = 1 << 15, /* in misc: the size is there */
	KERNEL_PID = -1,
	CLOCK_RESOLUTION = 1, /* ns, of the clocks that events can have */
	CLOCK_DATA_VERSION = 1,
};

static void feature_pad(struct buf *b, size_t from, size_t align)
{
	while ((b->len - from) % align)
		buf_addc(b, '\0');
}

static void feature_add_text(struct buf *b, const char *text)
{
	if (text)
		perf_features_string(b, text);
}

static void feature_add_command(const struct perfout_view *v, struct buf *b)
{
	char *const *words = v->facts.command;
	uint32_t n = 0;

	while (words && words[n])
		n++;
	if (!n)
		return;
	buf_add_u32(b, n);
	for (uint32_t i = 0; i < n; i++)
		perf_features_string(b, words[i]);
}

static bool is_written(const struct perfout_view *v, const struct perfout_event *e)
{
	return !e->left_out && perfout_fits(v, e);
}

static void feature_add_descriptions(const struct perfout_view *v, struct buf *b)
{
	size_t size = perfout_attr_size(v);
	uint32_t n = 0;

	for (size_t i = 0; i < v->nevents; i++)
		n += is_written(v, v->events[i]);
	buf_add_u32(b, n);
	buf_add_u32(b, (uint32_t)size);
	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *e = v->events[i];

		if (!is_written(v, e))
			continue;
		perfout_attr(v, e, size, b);
		buf_add_u32(b, (uint32_t)e->nids);
		perf_features_string(b, e->name);
		buf_add(b, e->ids, e->nids * sizeof(*e->ids));
	}
}

/* Append the groups: perf expects the members of each to follow their leader. */
static void feature_add_groups(const struct perfout_view *v, struct buf *b)
{
	uint32_t groups = 0;
	struct buf rows = { 0 };

	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *leader = v->events[i];
		uint32_t n = 1;

		while (i + n < v->nevents && v->events[i + n]->leader == leader)
			n++;
		if (n == 1 || !is_written(v, leader))
			continue;
		groups++;
		perf_features_string(&rows, "{anon_group}");
		buf_add_u32(&rows, (uint32_t)leader->index);
		buf_add_u32(&rows, n);
	}
	if (groups) {
		buf_add_u32(b, groups);
		buf_add(b, rows.data, rows.len);
	}
	buf_free(&rows);
}

void perfout_add_build_id(struct perfout_view *v, const char *path, const uint8_t *id,
			  size_t size)
{
	const struct field *f = layout_perf_event_header.fields;
	bool kernel = !strcmp(path, BUILD_ID_KERNEL);
	uint8_t head[RECORD_HEAD] = { 0 }, room[BUILD_ID_ROOM] = { 0 };
	struct buf *b = &v->build_ids;
	size_t at = b->len;

	if (strlen(path) > PATH_MAX)
		return;
	memcpy(room, id, size);
	room[BUILD_ID_BYTES] = (uint8_t)size;
	buf_add(b, head, sizeof(head));
	buf_add_u32(b, (uint32_t)KERNEL_PID);
	buf_add(b, room, sizeof(room));
	buf_add(b, path, strlen(path) + 1);
	feature_pad(b, at + RECORD_HEAD + 4 + BUILD_ID_ROOM, NAME_ALIGN);
	feature_pad(b, at, 8); /* it is a record in a pipe */
	field_set(&f[PERF_EVENT_HEADER_MISC],
		  (kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER) | BUILD_ID_SIZED,
		  (uint8_t *)b->data + at);
	field_set(&f[PERF_EVENT_HEADER_SIZE], b->len - at, (uint8_t *)b->data + at);
}

/* Return whether the time of the clock, which attrs name, is known beside the time of day. */
static bool clock_known(const struct perfout_view *v, clockid_t clock, uint64_t *ns, uint64_t *day)
{
	struct timespec t, real;

	*ns = v->facts.start_ns;
	*day = *ns + (uint64_t)v->facts.real_offset;
	if (clock == CLOCK_REALTIME)
		*ns = *day;
	if (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME)
		return true;
	if (!v->live || clock_gettime(CLOCK_REALTIME, &real) || clock_gettime(clock, &t))
		return false; /* a dump has no other clock */
	*ns = (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
	*day = (uint64_t)real.tv_sec * NS + (uint64_t)real.tv_nsec;
	return true;
}

/* Append what the time of day is at a time of the records, for perf script -F tod. */
static void feature_add_clock(const struct perfout_view *v, struct buf sections[FEATURES])
{
	const struct perfout_event *e = perfout_first_event(v);
	uint64_t ns, day;
	uint32_t clock;

	if (!e || !perfout_attr_of(e, ATTR_USE_CLOCKID))
		return;
	clock = (uint32_t)perfout_attr_of(e, ATTR_CLOCKID);
	buf_add_u64(&sections[HEADER_CLOCKID], CLOCK_RESOLUTION);
	if (!clock_known(v, (clockid_t)clock, &ns, &day))
		return;
	buf_add_u32(&sections[HEADER_CLOCK_DATA], CLOCK_DATA_VERSION);
	buf_add_u32(&sections[HEADER_CLOCK_DATA], clock);
	buf_add_u64(&sections[HEADER_CLOCK_DATA], day);
	buf_add_u64(&sections[HEADER_CLOCK_DATA], ns);
}

void perfout_features(const struct perfout_view *v, struct buf sections[FEATURES])
{
	const struct session_facts *f = &v->facts;

	if (!v->nevents)
		return;
	perfout_tracing(v, &sections[HEADER_TRACING_DATA]);
	buf_add(&sections[HEADER_BUILD_ID], v->build_ids.data, v->build_ids.len);
	feature_add_text(&sections[HEADER_HOSTNAME], f->nodename);
	feature_add_text(&sections[HEADER_OSRELEASE], f->release);
	feature_add_text(&sections[HEADER_VERSION], PACKAGE_STRING);
	feature_add_text(&sections[HEADER_ARCH], f->machine);
	if (f->cpus) {
		buf_add_u32(&sections[HEADER_NRCPUS], f->cpus);
		buf_add_u32(&sections[HEADER_NRCPUS], f->cpus_online);
	}
	feature_add_command(v, &sections[HEADER_CMDLINE]);
	feature_add_descriptions(v, &sections[HEADER_EVENT_DESC]);
	feature_add_groups(v, &sections[HEADER_GROUP_DESC]);
	if (v->first_ns) {
		buf_add_u64(&sections[HEADER_SAMPLE_TIME], v->first_ns);
		buf_add_u64(&sections[HEADER_SAMPLE_TIME], v->last_ns);
	}
	feature_add_clock(v, sections);
	for (size_t i = 0; f->features && i < FEATURES; i++)
		if (!sections[i].len)
			buf_add(&sections[i], f->features->sections[i].data,
				f->features->sections[i].len);
}

/* Write a record of perf that has a body, which may be longer than its size says (payload). */
static void pipe_record(struct perfout_view *v, uint32_t type, const struct buf *body,
			const struct buf *payload)
{
	const struct field *f = layout_perf_event_header.fields;
	uint8_t head[RECORD_HEAD] = { 0 };

	if (RECORD_HEAD + body->len > RECORD_MOST)
		return;
	field_set(&f[PERF_EVENT_HEADER_TYPE], type, head);
	field_set(&f[PERF_EVENT_HEADER_SIZE], RECORD_HEAD + body->len, head);
	perfout_add(v->out, head, sizeof(head));
	perfout_add(v->out, body->data, body->len);
	if (payload)
		perfout_add(v->out, payload->data, payload->len);
}

static void pipe_feature(struct perfout_view *v, uint64_t feature, const struct buf *section)
{
	struct buf body = { 0 };

	buf_add_u64(&body, feature);
	buf_add(&body, section->data, section->len);
	feature_pad(&body, 0, 8);
	pipe_record(v, PERF_RECORD_HEADER_FEATURE, &body, NULL);
	buf_free(&body);
}

/* A pipe has these in records of their own. */
static void pipe_tracing(struct perfout_view *v, struct buf *data)
{
	struct buf body = { 0 };

	feature_pad(data, 0, 8);
	buf_add_u32(&body, (uint32_t)data->len);
	buf_add_u32(&body, 0);
	pipe_record(v, PERF_RECORD_HEADER_TRACING_DATA, &body, data);
	v->formats_piped = true;
	buf_free(&body);
}

static void pipe_build_ids(struct perfout_view *v, struct buf *section)
{
	const struct layout *l = &layout_perf_event_header;
	size_t size;

	for (size_t at = 0; at < section->len; at += size) {
		uint8_t *bytes = (uint8_t *)section->data + at;

		size = layout_get(l, PERF_EVENT_HEADER_SIZE, bytes, RECORD_HEAD);
		field_set(&l->fields[PERF_EVENT_HEADER_TYPE], PERF_RECORD_HEADER_BUILD_ID, bytes);
		perfout_add(v->out, bytes, size);
	}
}

void perfout_pipe_formats(struct perfout_view *v)
{
	struct buf data = { 0 };

	if (!v->formats_piped)
		perfout_tracing(v, &data);
	if (data.len)
		pipe_tracing(v, &data);
	buf_free(&data);
}

void perfout_pipe_features(struct perfout_view *v, bool end)
{
	struct buf sections[FEATURES] = { { 0 } };

	perfout_features(v, sections);
	for (unsigned int i = 0; i < FEATURES; i++) {
		bool late = i == HEADER_BUILD_ID || i == HEADER_SAMPLE_TIME;

		if (sections[i].len && late == end && i != HEADER_EVENT_DESC) {
			if (i == HEADER_TRACING_DATA)
				pipe_tracing(v, &sections[i]);
			else if (i == HEADER_BUILD_ID)
				pipe_build_ids(v, &sections[i]);
			else
				pipe_feature(v, i, &sections[i]);
		}
		buf_free(&sections[i]);
	}
}

void perfout_flush(struct perfout_view *v, enum perfout_stage stage)
{
	struct buf features[FEATURES] = { { 0 } };
	struct perfout_table t = { .entry = 0 };

	if (!perfout_is_pipe(v->out)) {
		perfout_features(v, features);
		perfout_tables(v, &t);
	}
	perfout_write(v->out, &t, features, stage);
	buf_free(&t.attrs);
	buf_free(&t.ids);
	for (size_t i = 0; i < FEATURES; i++)
		buf_free(&features[i]);
}
