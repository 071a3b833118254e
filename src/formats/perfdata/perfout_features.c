// SPDX-License-Identifier: LGPL-2.1-or-later
/* The features of a perf.data file (tools/perf/util/header.c). */
#include <limits.h>
#include <time.h>

#include "core/host/proc_image.h"
#include "formats/perfdata/perfout_internal.h"

#define NS 1000000000ULL

enum {
	NAME_ALIGN = 64,
	BUILD_ID_ROOM = 24, /* a build id, its size and reserved bytes */
	BUILD_ID_SIZED = 1 << 15, /* in misc: the size is there */
	KERNEL_PID = -1,
	CLOCK_RESOLUTION = 1, /* ns, of the clocks that events can have */
	CLOCK_DATA_VERSION = 1,
};

/*
 * The formats of tracepoints: the start of a file of trace-cmd
 * (Documentation/trace-cmd/trace-cmd.dat.v6.5.txt of libtracecmd).
 */

static void add_terminated(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text) + 1);
}

/* Append a format with its length. */
static void add_sized(struct buf *b, const char *text)
{
	buf_add_u64(b, strlen(text));
	buf_add(b, text, strlen(text));
}

/* Return whether both are tracepoints of the same system, "system:name". */
static bool same_system(const struct perfout_event *a, const struct perfout_event *b)
{
	size_t len = strcspn(a->name, ":");

	return perfout_is_tracepoint(a) && perfout_is_tracepoint(b) &&
	       strcspn(b->name, ":") == len && !memcmp(a->name, b->name, len);
}

static const char common_fields[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n\nprint fmt: \"\"\n";

/* Append the formats of the events of one system, from the first one on. */
static void perfout_add_system(const struct perfout_view *v, size_t first, struct buf *out)
{
	const struct perfout_event *e = v->events[first];
	struct buf texts = { 0 };
	uint32_t n = 0;

	for (size_t i = first; i < v->nevents; i++) {
		const char *name = v->events[i]->name, *known = v->events[i]->format_text;
		struct buf text = { 0 };

		if (!same_system(e, v->events[i]))
			continue;
		/* what all formats have in common: perf refuses a file without */
		if (!known)
			buf_addf(&text, "name: %.*s\nID: %llu\nformat:\n%s",
				 (int)strcspn(strchr(name, ':') + 1, ":"), strchr(name, ':') + 1,
				 (unsigned long long)perfout_attr_of(v->events[i], ATTR_CONFIG),
				 common_fields);
		add_sized(&texts, known ? known : buf_str(&text));
		buf_free(&text);
		n++;
	}
	buf_add(out, e->name, strcspn(e->name, ":"));
	buf_addc(out, '\0');
	buf_add_u32(out, n);
	buf_add(out, texts.data, texts.len);
	buf_free(&texts);
}

/* Append the systems, each at its first event; return how many they are. */
static uint32_t perfout_add_systems(const struct perfout_view *v, struct buf *out)
{
	uint32_t n = 0;

	for (size_t i = 0; i < v->nevents; i++)
		perfout_read_format(v, v->events[i]);
	for (size_t i = 0; i < v->nevents; i++) {
		size_t k = 0;

		while (k < i && !same_system(v->events[k], v->events[i]))
			k++;
		if (k < i || !perfout_is_tracepoint(v->events[i]))
			continue;
		perfout_add_system(v, i, out);
		n++;
	}
	return n;
}

/* Append the formats of the tracepoints among the events, as trace-cmd and perf have them. */
static void perfout_tracing(const struct perfout_view *v, struct buf *out)
{
	unsigned int word = v->facts.arch->word, head = 8 + word;
	struct buf systems = { 0 }, page = { 0 };
	uint32_t n = perfout_add_systems(v, &systems);

	if (n) {
		buf_add(out, "\x17\x08\x44tracing", 10);
		add_terminated(out, "0.6");
		buf_addc(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		buf_addc(out, (char)word);
		buf_add_u32(out, v->facts.page_size);
		/*
		 * the formats of a page of ftrace's buffer and of an entry there: a perf.data file
		 * has neither, but perf refuses empty ones
		 */
		buf_addf(&page,
			 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
			 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:0;\n",
			 word, head, v->facts.page_size - head);
		add_terminated(out, "header_page");
		add_sized(out, buf_str(&page));
		add_terminated(out, "header_event");
		add_sized(out, "\ttype_len : 5 bits\n");
		buf_add_u32(out, 0); /* events of ftrace */
		buf_add_u32(out, n);
		buf_add(out, systems.data, systems.len);
		buf_add_u32(out, 0); /* kallsyms */
		buf_add_u32(out, 0); /* formats of printk */
		buf_add_u64(out, 0); /* names of tasks */
	}
	buf_free(&systems);
	buf_free(&page);
}

/* Sections ------------------------------------------------------------------------- */

static void feature_add_descriptions(const struct perfout_view *v, struct buf *b)
{
	size_t size = perfout_attr_size(v);
	uint32_t n = 0;

	for (size_t i = 0; i < v->nevents; i++)
		n += perfout_is_written(v, v->events[i]);
	buf_add_u32(b, n);
	buf_add_u32(b, (uint32_t)size);
	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *e = v->events[i];

		if (!perfout_is_written(v, e))
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
		if (n == 1 || !perfout_is_written(v, leader))
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
	uint16_t mode = strcmp(path, BUILD_ID_KERNEL) ? PERF_RECORD_MISC_USER :
							PERF_RECORD_MISC_KERNEL;
	uint8_t room[BUILD_ID_ROOM] = { 0 };
	struct buf b = { 0 };

	if (strlen(path) > PATH_MAX)
		return;
	memcpy(room, id, size);
	room[BUILD_ID_BYTES] = (uint8_t)size;
	perfout_begin_record(&b, 0, mode | BUILD_ID_SIZED, RECORD_HEAD);
	buf_add_u32(&b, (uint32_t)KERNEL_PID);
	buf_add(&b, room, sizeof(room));
	buf_add(&b, path, strlen(path) + 1);
	perfout_pad(&b, RECORD_HEAD + 4 + BUILD_ID_ROOM, NAME_ALIGN);
	perfout_end_record(&b); /* it is a record in a pipe */
	buf_add(&v->build_ids, b.data, b.len);
	buf_free(&b);
}

/* Append what the time of day is at a time of the records, for perf script -F tod. */
static void feature_add_clock(const struct perfout_view *v, struct buf sections[FEATURES])
{
	const struct perfout_event *e = perfout_first_event(v);
	uint64_t ns = v->facts.start_ns, day = ns + (uint64_t)v->facts.real_offset;
	struct timespec t, real;
	uint32_t clock;

	if (!e || !perfout_attr_of(e, ATTR_USE_CLOCKID))
		return;
	clock = (uint32_t)perfout_attr_of(e, ATTR_CLOCKID);
	buf_add_u64(&sections[HEADER_CLOCKID], CLOCK_RESOLUTION);
	if (clock == CLOCK_REALTIME) {
		ns = day;
	} else if (clock != CLOCK_MONOTONIC) {
		/* a dump has no other clock */
		if (!v->live || clock_gettime(CLOCK_REALTIME, &real) ||
		    clock_gettime((clockid_t)clock, &t))
			return;
		ns = (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
		day = (uint64_t)real.tv_sec * NS + (uint64_t)real.tv_nsec;
	}
	buf_add_u32(&sections[HEADER_CLOCK_DATA], CLOCK_DATA_VERSION);
	buf_add_u32(&sections[HEADER_CLOCK_DATA], clock);
	buf_add_u64(&sections[HEADER_CLOCK_DATA], day);
	buf_add_u64(&sections[HEADER_CLOCK_DATA], ns);
}

static void perfout_features(const struct perfout_view *v, struct buf sections[FEATURES])
{
	const struct session_facts *f = &v->facts;
	const char *const texts[FEATURES] = {
		[HEADER_HOSTNAME] = f->nodename, [HEADER_OSRELEASE] = f->release,
		[HEADER_VERSION] = PACKAGE_STRING, [HEADER_ARCH] = f->machine,
	};
	uint32_t words = 0;

	if (!v->nevents)
		return;
	perfout_tracing(v, &sections[HEADER_TRACING_DATA]);
	buf_add(&sections[HEADER_BUILD_ID], v->build_ids.data, v->build_ids.len);
	for (size_t i = 0; i < FEATURES; i++)
		if (texts[i])
			perf_features_string(&sections[i], texts[i]);
	if (f->cpus) {
		buf_add_u32(&sections[HEADER_NRCPUS], f->cpus);
		buf_add_u32(&sections[HEADER_NRCPUS], f->cpus_online);
	}
	while (f->command && f->command[words])
		words++;
	if (words)
		buf_add_u32(&sections[HEADER_CMDLINE], words);
	for (uint32_t i = 0; i < words; i++)
		perf_features_string(&sections[HEADER_CMDLINE], f->command[i]);
	feature_add_descriptions(v, &sections[HEADER_EVENT_DESC]);
	feature_add_groups(v, &sections[HEADER_GROUP_DESC]);
	if (v->first_sample_ns) {
		buf_add_u64(&sections[HEADER_SAMPLE_TIME], v->first_sample_ns);
		buf_add_u64(&sections[HEADER_SAMPLE_TIME], v->last_sample_ns);
	}
	feature_add_clock(v, sections);
	for (size_t i = 0; f->features && i < FEATURES; i++)
		if (!sections[i].len)
			buf_add(&sections[i], f->features->sections[i].data,
				f->features->sections[i].len);
}

void perfout_pipe_formats(struct perfout_view *v)
{
	struct buf data = { 0 }, b = { 0 };

	if (!v->formats_in_pipe)
		perfout_tracing(v, &data);
	if (data.len) {
		perfout_pad(&data, 0, 8);
		perfout_begin_record(&b, PERF_RECORD_HEADER_TRACING_DATA, 0, RECORD_HEAD);
		buf_add_u32(&b, (uint32_t)data.len);
		buf_add_u32(&b, 0);
		perfout_end_record(&b);
		buf_add(&v->out->pending, b.data, b.len);
		buf_add(&v->out->pending, data.data, data.len);
		v->formats_in_pipe = true;
	}
	buf_free(&data);
	buf_free(&b);
}

/* Write a section to a pipe, which has some in records of their own. */
static void pipe_feature(struct perfout_view *v, unsigned int feature, struct buf *section)
{
	const struct layout *l = &layout_perf_event_header;
	struct buf b = { 0 };

	if (feature == HEADER_TRACING_DATA) {
		perfout_pipe_formats(v);
		return;
	}
	if (feature == HEADER_BUILD_ID) {
		for (size_t at = 0; at < section->len;) {
			uint8_t *bytes = (uint8_t *)section->data + at;

			field_set(&l->fields[PERF_EVENT_HEADER_TYPE], PERF_RECORD_HEADER_BUILD_ID,
				  bytes);
			at += layout_get(l, PERF_EVENT_HEADER_SIZE, bytes, RECORD_HEAD);
		}
		buf_add(&v->out->pending, section->data, section->len);
		return;
	}
	perfout_begin_record(&b, PERF_RECORD_HEADER_FEATURE, 0, RECORD_HEAD);
	buf_add_u64(&b, feature);
	buf_add(&b, section->data, section->len);
	perfout_end_record(&b);
	if (b.len <= RECORD_MOST)
		buf_add(&v->out->pending, b.data, b.len);
	buf_free(&b);
}

void perfout_pipe_features(struct perfout_view *v, bool end)
{
	struct buf sections[FEATURES] = { { 0 } };

	perfout_features(v, sections);
	for (unsigned int i = 0; i < FEATURES; i++) {
		bool late = i == HEADER_BUILD_ID || i == HEADER_SAMPLE_TIME;

		if (sections[i].len && late == end && i != HEADER_EVENT_DESC)
			pipe_feature(v, i, &sections[i]);
		buf_free(&sections[i]);
	}
}

void perfout_flush(struct perfout_view *v, enum perfout_stage stage)
{
	struct buf features[FEATURES] = { { 0 } };
	size_t size = perfout_attr_size(v);
	struct perfout_table t = { .entry = size + 16 };

	if (!v->out->pipe)
		perfout_features(v, features);
	for (size_t i = 0; i < v->nevents && !v->out->pipe; i++) {
		const struct perfout_event *e = v->events[i];

		if (!perfout_is_written(v, e))
			continue;
		perfout_attr(v, e, size, &t.attrs);
		buf_add_u64(&t.attrs, 0);
		buf_add_u64(&t.attrs, e->nids * sizeof(*e->ids));
		buf_add(&t.ids, e->ids, e->nids * sizeof(*e->ids));
	}
	perfout_write(v->out, &t, features, stage);
	buf_free(&t.attrs);
	buf_free(&t.ids);
	for (size_t i = 0; i < FEATURES; i++)
		buf_free(&features[i]);
}
