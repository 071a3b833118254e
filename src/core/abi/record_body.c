// SPDX-License-Identifier: LGPL-2.1-or-later
/* The types of records: a fixed part described by a layout, then variable parts. */
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/record_walk.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { BUILD_ID_MAX = 20 };

static void emit_build_id(struct record *r)
{
	const uint8_t *id;
	uint64_t size;

	if (!record_fields(r, &layout_perf_record_mmap2_build_id, 0))
		return;
	id = r->bytes + r->at;
	if (!record_take(r, BUILD_ID_MAX))
		return;
	size = layout_get(&layout_perf_record_mmap2_build_id,
			  PERF_RECORD_MMAP2_BUILD_ID_BUILD_ID_SIZE, r->bytes,
			  r->at);
	record_digest(r, "build_id", id, size < BUILD_ID_MAX ? size : BUILD_ID_MAX,
		      size > BUILD_ID_MAX);
}

static void emit_mmap2(struct record *r)
{
	if (r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && !r->format->no_build_id)
		emit_build_id(r);
	else
		record_fields(r, &layout_perf_record_mmap2_inode, 0);
	if (!r->wants && record_fields(r, &layout_perf_record_mmap2, 0))
		record_string(r, "filename");
}

static void emit_filename(struct record *r)
{
	record_string(r, "filename");
}

static void emit_comm(struct record *r)
{
	record_string(r, "comm");
}

static void emit_name(struct record *r)
{
	record_string(r, "name");
}

static void body_emit_path(struct record *r)
{
	record_string(r, "path");
}

static void emit_values(struct record *r)
{
	static const struct slot values = {
		.bits = 1, .key = "values", .need = read_need, .emit = read_emit,
	};

	record_slot(r, &values);
}

static void emit_namespaces(struct record *r)
{
	const struct layout *link = &layout_perf_ns_link_info;
	uint64_t nr = layout_get(&layout_perf_record_namespaces,
				 PERF_RECORD_NAMESPACES_NR_NAMESPACES,
				 r->bytes, r->at);
	struct sink *s = r->s;

	if (nr > (r->end - r->at) / link->size) {
		record_take(r, nr > SIZE_MAX / link->size ? SIZE_MAX :
			    (size_t)nr * link->size);
		return;
	}
	s->ops->begin(s, "namespaces", SINK_ARRAY);
	for (uint64_t i = 0; i < nr; i++) {
		s->ops->begin(s, NULL, SINK_OBJECT);
		s->ops->enumeration(s, "index", &xlat_perf_ns_index, i);
		record_fields(r, link, r->at);
		s->ops->end(s);
	}
	s->ops->end(s);
}

static void emit_tag(struct record *r)
{
	const uint8_t *tag = r->bytes + r->at;

	if (record_take(r, BPF_TAG_SIZE))
		record_digest(r, "tag", tag, BPF_TAG_SIZE, false);
}

/* Write the old and the new code, padded with zeros to a multiple of eight. */
static void emit_text_poke(struct record *r)
{
	const struct layout *l = &layout_perf_record_text_poke;
	size_t old = layout_get(l, PERF_RECORD_TEXT_POKE_OLD_LEN, r->bytes, r->at);
	size_t new = layout_get(l, PERF_RECORD_TEXT_POKE_NEW_LEN, r->bytes, r->at);
	const uint8_t *p = r->bytes + r->at;
	size_t pad = -(r->at + old + new) & 7;
	struct sink *s = r->s;

	if (!record_take(r, old + new))
		return;
	s->ops->bytes(s, "old_bytes", p, old, false);
	s->ops->bytes(s, "new_bytes", p + old, new, false);
	for (; pad && r->at < r->end && !r->bytes[r->at]; pad--)
		r->at++;
}

static void emit_callchain(struct record *r)
{
	static const struct slot callchain = {
		.bits = 1, .key = "callchain", .need = callchain_need,
		.emit = callchain_emit,
	};

	record_slot(r, &callchain);
}

static void emit_sample(struct record *r)
{
	record_slots(r, sample_slots);
}

struct body {
	const struct layout *layout;	/* the fixed part, or NULL */
	void (*more)(struct record *r);	/* emit what follows it; or NULL */
	const struct xlat *misc;	/* flags of misc; or NULL */
};

static const struct body bodies[] = {
	[PERF_RECORD_MMAP] = { &layout_perf_record_mmap, emit_filename,
			       &xlat_perf_record_misc_mmap },
	[PERF_RECORD_LOST] = { &layout_perf_record_lost, NULL, NULL },
	[PERF_RECORD_COMM] = { &layout_perf_record_comm, emit_comm,
			       &xlat_perf_record_misc_comm },
	[PERF_RECORD_EXIT] = { &layout_perf_record_task, NULL, NULL },
	[PERF_RECORD_THROTTLE] = { &layout_perf_record_throttle, NULL, NULL },
	[PERF_RECORD_UNTHROTTLE] = { &layout_perf_record_throttle, NULL, NULL },
	[PERF_RECORD_FORK] = { &layout_perf_record_task, NULL,
			       &xlat_perf_record_misc_fork },
	[PERF_RECORD_READ] = { &layout_perf_record_read, emit_values, NULL },
	[PERF_RECORD_SAMPLE] = { NULL, emit_sample,
				 &xlat_perf_record_misc_sample },
	[PERF_RECORD_MMAP2] = { &layout_perf_record_mmap, emit_mmap2,
				&xlat_perf_record_misc_mmap },
	[PERF_RECORD_AUX] = { &layout_perf_record_aux, NULL, NULL },
	[PERF_RECORD_ITRACE_START] = { &layout_perf_record_itrace_start,
				       NULL, NULL },
	[PERF_RECORD_LOST_SAMPLES] = { &layout_perf_record_lost_samples,
				       NULL, NULL },
	[PERF_RECORD_SWITCH] = { NULL, NULL, &xlat_perf_record_misc_switch },
	[PERF_RECORD_SWITCH_CPU_WIDE] = { &layout_perf_record_switch_cpu_wide,
					  NULL, &xlat_perf_record_misc_switch },
	[PERF_RECORD_NAMESPACES] = { &layout_perf_record_namespaces,
				     emit_namespaces, NULL },
	[PERF_RECORD_KSYMBOL] = { &layout_perf_record_ksymbol, emit_name,
				  NULL },
	[PERF_RECORD_BPF_EVENT] = { &layout_perf_record_bpf_event, emit_tag,
				    NULL },
	[PERF_RECORD_CGROUP] = { &layout_perf_record_cgroup, body_emit_path, NULL },
	[PERF_RECORD_TEXT_POKE] = { &layout_perf_record_text_poke,
				    emit_text_poke, NULL },
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = {
		&layout_perf_record_aux_output_hw_id, NULL, NULL },
	[PERF_RECORD_CALLCHAIN_DEFERRED] = {
		&layout_perf_record_callchain_deferred, emit_callchain, NULL },
};

static const struct body *body_of(uint32_t type)
{
	static const struct body unknown;

	return type < sizeof(bodies) / sizeof(bodies[0]) ? &bodies[type] : &unknown;
}

const struct xlat *record_misc_flags(uint32_t type)
{
	return body_of(type)->misc;
}

const struct layout *record_layout(uint32_t type)
{
	return body_of(type)->layout;
}

static size_t ksymbol_end(const struct layout *l, const uint8_t *bytes, size_t len)
{
	const uint8_t *name = bytes + l->size, *nul = memchr(name, 0, len - l->size);

	return nul ? l->size + (((size_t)(nul - name) + 8) & ~(size_t)7) : SIZE_MAX;
}

static size_t text_poke_end(const struct layout *l, const uint8_t *bytes)
{
	return (l->size + layout_get(l, PERF_RECORD_TEXT_POKE_OLD_LEN, bytes, l->size) +
		layout_get(l, PERF_RECORD_TEXT_POKE_NEW_LEN, bytes, l->size) + 7) & ~(size_t)7;
}

size_t record_body_end(uint32_t type, const uint8_t *bytes, size_t len)
{
	const struct layout *l = record_layout(type);

	if (!l || len < l->size)
		return SIZE_MAX;
	switch (type) {
	case PERF_RECORD_KSYMBOL:
		return ksymbol_end(l, bytes, len);
	case PERF_RECORD_BPF_EVENT:
		return l->size + BPF_TAG_SIZE;
	case PERF_RECORD_TEXT_POKE:
		return text_poke_end(l, bytes);
	default:
		return SIZE_MAX;
	}
}

void record_body(struct record *r)
{
	const struct body *b = body_of(r->type);

	if (b->layout && !record_members(r, b->layout, 0))
		return;
	if (b->more)
		b->more(r);
}
