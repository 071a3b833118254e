// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records as a whole: header, identifying values, and bytes left over. */
#include "core/abi/record.h"

#include <string.h>

#include "core/abi/record_walk.h"
#include "core/abi/swap.h"
#include "core/abi/tables.h"

/* The part between the header and the sample_id, by the type of record ---------------- */

enum { BUILD_ID_MAX = 20 };

static void emit_mmap2(struct record *r)
{
	const struct layout *l = &layout_perf_record_mmap2_build_id;
	const uint8_t *id;
	uint64_t size;

	if (r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && !r->format->no_build_id) {
		if (!record_fields(r, l, 0))
			return;
		id = r->bytes + r->at;
		if (!record_take(r, BUILD_ID_MAX))
			return;
		size = layout_get(l, PERF_RECORD_MMAP2_BUILD_ID_BUILD_ID_SIZE, r->bytes, r->at);
		record_digest(r, "build_id", id, size < BUILD_ID_MAX ? size : BUILD_ID_MAX,
			      size > BUILD_ID_MAX);
	} else {
		record_fields(r, &layout_perf_record_mmap2_inode, 0);
	}
	if (!r->wants && record_fields(r, &layout_perf_record_mmap2, 0))
		record_string(r, "filename");
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
	sink_begin(s, "namespaces", SINK_ARRAY);
	for (uint64_t i = 0; i < nr; i++) {
		sink_begin(s, NULL, SINK_OBJECT);
		sink_enum(s, "index", &xlat_perf_ns_index, i);
		record_fields(r, link, r->at);
		sink_end(s);
	}
	sink_end(s);
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
	sink_bytes(s, "old_bytes", p, old, false);
	sink_bytes(s, "new_bytes", p + old, new, false);
	for (; pad && r->at < r->end && !r->bytes[r->at]; pad--)
		r->at++;
}

static const struct slot values = {
	.bits = 1, .key = "values", .need = read_need, .emit = read_emit,
};

static const struct slot callchain = {
	.bits = 1, .key = "callchain", .need = callchain_need, .emit = callchain_emit,
};

struct body {
	const struct layout *layout;	/* the fixed part, or NULL */
	const char *string;		/* key of a string that follows it; or NULL */
	const struct slot *part;	/* a part as of samples that follows it; or NULL */
	void (*more)(struct record *r);	/* write what else follows it; or NULL */
	const struct xlat *misc;	/* flags of misc; or NULL */
};

static const struct body bodies[] = {
	[PERF_RECORD_MMAP] = { .layout = &layout_perf_record_mmap, .string = "filename",
			       .misc = &xlat_perf_record_misc_mmap },
	[PERF_RECORD_LOST] = { .layout = &layout_perf_record_lost },
	[PERF_RECORD_COMM] = { .layout = &layout_perf_record_comm, .string = "comm",
			       .misc = &xlat_perf_record_misc_comm },
	[PERF_RECORD_EXIT] = { .layout = &layout_perf_record_task },
	[PERF_RECORD_THROTTLE] = { .layout = &layout_perf_record_throttle },
	[PERF_RECORD_UNTHROTTLE] = { .layout = &layout_perf_record_throttle },
	[PERF_RECORD_FORK] = { .layout = &layout_perf_record_task,
			       .misc = &xlat_perf_record_misc_fork },
	[PERF_RECORD_READ] = { .layout = &layout_perf_record_read, .part = &values },
	[PERF_RECORD_SAMPLE] = { .misc = &xlat_perf_record_misc_sample },
	[PERF_RECORD_MMAP2] = { .layout = &layout_perf_record_mmap, .more = emit_mmap2,
				.misc = &xlat_perf_record_misc_mmap },
	[PERF_RECORD_AUX] = { .layout = &layout_perf_record_aux },
	[PERF_RECORD_ITRACE_START] = { .layout = &layout_perf_record_itrace_start },
	[PERF_RECORD_LOST_SAMPLES] = { .layout = &layout_perf_record_lost_samples },
	[PERF_RECORD_SWITCH] = { .misc = &xlat_perf_record_misc_switch },
	[PERF_RECORD_SWITCH_CPU_WIDE] = { .layout = &layout_perf_record_switch_cpu_wide,
					  .misc = &xlat_perf_record_misc_switch },
	[PERF_RECORD_NAMESPACES] = { .layout = &layout_perf_record_namespaces,
				     .more = emit_namespaces },
	[PERF_RECORD_KSYMBOL] = { .layout = &layout_perf_record_ksymbol, .string = "name" },
	[PERF_RECORD_BPF_EVENT] = { .layout = &layout_perf_record_bpf_event, .more = emit_tag },
	[PERF_RECORD_CGROUP] = { .layout = &layout_perf_record_cgroup, .string = "path" },
	[PERF_RECORD_TEXT_POKE] = { .layout = &layout_perf_record_text_poke, .more = emit_text_poke },
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = { .layout = &layout_perf_record_aux_output_hw_id },
	[PERF_RECORD_CALLCHAIN_DEFERRED] = { .layout = &layout_perf_record_callchain_deferred,
					     .part = &callchain },
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

/*
 * Return the end of the body of a KSYMBOL, BPF_EVENT or TEXT_POKE record, of which the first
 * len bytes are present.  Return SIZE_MAX for other records, whose header has the exact size,
 * and if bytes that the length depends on are missing.
 */
static size_t record_body_end(uint32_t type, const uint8_t *bytes, size_t len)
{
	const struct layout *l = record_layout(type);
	const uint8_t *nul;

	if (!l || len < l->size)
		return SIZE_MAX;
	switch (type) {
	case PERF_RECORD_KSYMBOL:
		nul = memchr(bytes + l->size, 0, len - l->size);
		return nul ? ((size_t)(nul - bytes) + 8) & ~(size_t)7 : SIZE_MAX;
	case PERF_RECORD_BPF_EVENT:
		return l->size + BPF_TAG_SIZE;
	case PERF_RECORD_TEXT_POKE:
		return (l->size + layout_get(l, PERF_RECORD_TEXT_POKE_OLD_LEN, bytes, l->size) +
			layout_get(l, PERF_RECORD_TEXT_POKE_NEW_LEN, bytes, l->size) + 7) &
		       ~(size_t)7;
	default:
		return SIZE_MAX;
	}
}

/* The record as a whole --------------------------------------------------------------- */

/* Types from here on are the perf tool's, never the kernel's. */
#define USER_TYPE_START 64

void record_format_of(struct record_format *f, const uint8_t *attr, size_t len,
		      const struct arch *arch)
{
	const struct layout *l = &layout_perf_event_attr;
	size_t size = layout_get(l, ATTR_SIZE, attr, len);

	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (len > size)
		len = size;
	*f = (struct record_format){
		.sample_type = layout_get(l, ATTR_SAMPLE_TYPE, attr, len),
		.read_format = layout_get(l, ATTR_READ_FORMAT, attr, len),
		.branch_sample_type = layout_get(l, ATTR_BRANCH_SAMPLE_TYPE, attr, len),
		.sample_regs_user = layout_get(l, ATTR_SAMPLE_REGS_USER, attr, len),
		.sample_regs_intr = layout_get(l, ATTR_SAMPLE_REGS_INTR, attr, len),
		.sample_id_all = layout_get(l, ATTR_SAMPLE_ID_ALL, attr, len),
		.no_build_id = len && !layout_get(l, ATTR_BUILD_ID, attr, len),
		.arch = arch,
	};
}

static uint64_t header_get(unsigned int field, const uint8_t *bytes)
{
	return layout_get(&layout_perf_event_header, field, bytes, RECORD_HEADER);
}

/* Return the size of the sample_id at the end of a record of this type. */
static size_t trailer_size(uint32_t type, const struct record_format *f)
{
	size_t n = 0;

	if (!f->sample_id_all || !type || type == PERF_RECORD_SAMPLE ||
	    type >= USER_TYPE_START)
		return 0;
	for (const struct slot *t = sample_id_slots; t->bits; t++)
		n += f->sample_type & t->bits ? 8 : 0;
	return n;
}

/*
 * Return the offset of a sample_id of trailer bytes.  It follows the body; where the body's
 * length is not known it ends the record.
 */
static size_t trailer_offset(uint32_t type, const uint8_t *bytes, size_t len, size_t size,
			     size_t trailer)
{
	size_t last = size - trailer, body = record_body_end(type, bytes, len < size ? len : size);

	return body < last ? body : last;
}

/* Read one part of a sample or sample_id, eight bytes. */
static void identify_part(uint64_t bit, const uint8_t *p, struct record_id *out)
{
	switch (bit) {
	case PERF_SAMPLE_IDENTIFIER:
	case PERF_SAMPLE_ID:
		out->has_id = true;
		out->id = load_uint(p, 8);
		break;
	case PERF_SAMPLE_TIME:
		out->has_time = true;
		out->time = load_uint(p, 8);
		break;
	case PERF_SAMPLE_TID:
		out->has_tid = true;
		out->pid = (int32_t)layout_get(&layout_perf_sample_tid,
					       PERF_SAMPLE_TID_PID, p, 8);
		out->tid = (int32_t)layout_get(&layout_perf_sample_tid,
					       PERF_SAMPLE_TID_TID, p, 8);
		break;
	case PERF_SAMPLE_CPU:
		out->has_cpu = true;
		out->cpu = (uint32_t)layout_get(&layout_perf_sample_cpu,
						PERF_SAMPLE_CPU_CPU, p, 8);
		break;
	}
}

bool record_identify(const uint8_t *bytes, size_t len,
		     const struct record_format *f, struct record_id *out)
{
	const struct slot *slot = sample_slots;
	size_t at = RECORD_HEADER, trailer;

	*out = (struct record_id){ .pid = -1, .tid = -1 };
	if (len < RECORD_HEADER)
		return false;
	out->type = (uint32_t)header_get(PERF_EVENT_HEADER_TYPE, bytes);
	out->misc = (uint16_t)header_get(PERF_EVENT_HEADER_MISC, bytes);
	out->size = (uint16_t)header_get(PERF_EVENT_HEADER_SIZE, bytes);
	if (out->size < RECORD_HEADER || out->size > len)
		return false;
	if (out->type != PERF_RECORD_SAMPLE) {
		trailer = trailer_size(out->type, f);
		if (!trailer || trailer > out->size - at)
			return true;
		slot = sample_id_slots;
		at = trailer_offset(out->type, bytes, len, out->size, trailer);
	}
	/* the identifying parts have eight bytes and precede all others */
	for (; slot->bits && slot->layout && out->size - at >= 8; slot++) {
		if (!(f->sample_type & slot->bits))
			continue;
		identify_part(slot->bits, bytes + at, out);
		at += 8;
	}
	return true;
}

static void emit_header(struct record *r, size_t len)
{
	const struct field *fields = layout_perf_event_header.fields;
	const struct xlat *own = record_misc_flags(r->type);
	uint64_t mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	uint64_t rest = r->misc & ~(uint64_t)PERF_RECORD_MISC_CPUMODE_MASK;
	struct sink_part parts[18];
	const struct xlat_entry *e;
	size_t n = 0, at = 0;

	sink_enum(r->s, fields[PERF_EVENT_HEADER_TYPE].name,
		  &xlat_perf_event_type, r->type);
	/* mode 0 has no meaning in records without a CPU mode */
	if (mode || r->type == PERF_RECORD_SAMPLE)
		parts[n++] = (struct sink_part){ &xlat_perf_record_misc_cpumode, mode, 0 };
	while (own && (e = xlat_next_flag(own, &rest, &at)))
		parts[n++] = (struct sink_part){ own, e->value, 0 };
	at = 0;
	while ((e = xlat_next_flag(&xlat_perf_record_misc, &rest, &at)))
		parts[n++] = (struct sink_part){ &xlat_perf_record_misc, e->value, 0 };
	if (rest || !n)
		parts[n++] = (struct sink_part){ NULL, rest, 0 };
	sink_packed(r->s, fields[PERF_EVENT_HEADER_MISC].name, r->misc, parts, n);
	sink_uint(r->s, fields[PERF_EVENT_HEADER_SIZE].name, r->size);
	if (r->size < RECORD_HEADER)
		sink_note(r->s, "bounds", "less than a header");
	else if (len < r->size)
		sink_notef(r->s, "bounds", "truncated after %zu byte%s", len, len == 1 ? "" : "s");
}

/* Write the bytes before end that no field accounts for, and note missing ones. */
static void record_emit_rest(struct record *r)
{
	struct sink *s = r->s;

	if (r->at < r->end) {
		sink_bytes(s, "rest", r->bytes + r->at, r->end - r->at, false);
		if (!r->wants)
			sink_notef(s, "bounds", "%zu byte%s that no field accounts for",
				   r->end - r->at, r->end - r->at == 1 ? "" : "s");
	}
	if (r->wants == SIZE_MAX)
		sink_note(s, "bounds", "a count exceeds the size of any record");
	else if (r->wants)
		sink_notef(s, "bounds", "the next field would end at %zu, not by %zu",
			   r->wants, r->end);
}

/* Write the sample_id, which follows the body. */
static void emit_trailer(struct record *r, size_t trailer)
{
	struct record t = *r;

	t.wants = 0;
	t.at = r->end;
	t.end = r->end + trailer;
	sink_begin(r->s, "sample_id", SINK_OBJECT);
	record_slots(&t, sample_id_slots);
	sink_end(r->s);
	r->at += trailer;
	if (r->wants && r->wants != SIZE_MAX)
		r->wants += trailer;
}

static size_t emit_all(struct record *r, size_t len)
{
	size_t trailer = trailer_size(r->type, r->format);
	const struct body *b = body_of(r->type);
	bool whole = len >= r->size;
	struct record_id id;
	size_t after;

	emit_header(r, len);
	if (r->size < RECORD_HEADER)
		return RECORD_HEADER;
	if (trailer > (size_t)r->size - RECORD_HEADER) {
		r->wants = RECORD_HEADER + trailer;
		trailer = 0;
	}
	r->end = trailer_offset(r->type, r->bytes, len, r->size, trailer);
	after = r->end + trailer;
	if (r->end > len)
		r->end = len;
	/* symbols before the sample_id depend on the task in it */
	if (record_identify(r->bytes, len, r->format, &id) && id.has_tid)
		r->pid = id.pid;
	if (!b->layout || record_members(r, b->layout, 0)) {
		if (b->string)
			record_string(r, b->string);
		else if (b->part)
			record_slot(r, b->part);
		else if (b->more)
			b->more(r);
		else if (r->type == PERF_RECORD_SAMPLE)
			record_slots(r, sample_slots);
	}
	record_emit_rest(r);
	if (trailer && whole)
		emit_trailer(r, trailer);
	/*
	 * perf_event_ksymbol_output(), perf_event_bpf_output() and perf_event_text_poke_output() in
	 * the kernel add the size of the sample_id to the same header for one event after another,
	 * so that the record of each later event is longer.
	 */
	if (after < r->size && whole) {
		sink_bytes(r->s, "surplus", r->bytes + after, r->size - after, false);
		sink_notef(r->s, "bounds", "%zu bytes too long: the kernel counted the sample_id "
			   "of other events", r->size - after);
	}
	return whole && r->wants ? r->wants : r->at;
}

static void record_head_get(struct record *r)
{
	r->type = (uint32_t)header_get(PERF_EVENT_HEADER_TYPE, r->bytes);
	r->misc = (uint16_t)header_get(PERF_EVENT_HEADER_MISC, r->bytes);
	r->size = (uint16_t)header_get(PERF_EVENT_HEADER_SIZE, r->bytes);
}

static const struct record_hooks no_hooks;

size_t record_emit(const uint8_t *bytes, size_t len,
		   const struct record_format *f, const struct names *n,
		   struct sink *s, const struct record_hooks *hooks)
{
	struct record r = {
		.bytes = bytes, .at = RECORD_HEADER, .pid = -1, .format = f,
		.names = n, .hooks = hooks ? hooks : &no_hooks, .s = s,
	};
	size_t used = 0;

	sink_begin(s, NULL, SINK_OBJECT);
	if (len < RECORD_HEADER) {
		sink_bytes(s, "rest", bytes, len, false);
		sink_note(s, "bounds", "less than a header");
	} else {
		record_head_get(&r);
		used = emit_all(&r, len);
	}
	sink_end(s);
	return used;
}

/* The walk of the decoder finds the parts; what it reads is converted before. */
void swap_record(uint8_t *bytes, size_t len, const struct record_format *f,
		 const struct record_hooks *hooks)
{
	struct sink s = { .ops = &sink_null_ops };
	struct record r = {
		.bytes = bytes, .swap = bytes, .at = RECORD_HEADER, .pid = -1, .format = f,
		.hooks = hooks ? hooks : &no_hooks, .s = &s,
	};
	const struct layout *fixed;

	if (len < RECORD_HEADER)
		return;
	swap_layout(&layout_perf_event_header, bytes, 0, RECORD_HEADER);
	record_head_get(&r);
	/* the place of the sample_id may depend on it */
	fixed = record_layout(r.type);
	if (fixed)
		swap_layout(fixed, bytes, 0, len < r.size ? len : r.size);
	emit_all(&r, len);
}
