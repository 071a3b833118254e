// SPDX-License-Identifier: LGPL-2.1-or-later
/* The parts of samples. */
#include <stdio.h>
#include <string.h>

#include "core/abi/read_format.h"
#include "core/abi/record_walk.h"
#include "core/abi/swap.h"
#include "core/abi/tables.h"

static size_t weight_need(const struct record *r, size_t at)
{
	(void)r;
	(void)at;
	return 8;
}

size_t read_need(const struct record *r, size_t at)
{
	uint64_t format = r->format->read_format, nr;
	size_t times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 8 : 0) +
		       (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 8 : 0);
	size_t each = 8 + (format & PERF_FORMAT_ID ? 8 : 0) +
		      (format & PERF_FORMAT_LOST ? 8 : 0);

	if (!(format & PERF_FORMAT_GROUP))
		return times + each;
	if (r->end - at < 8)
		return 8 + times;
	nr = record_count(r, at, 8);
	if (nr > (r->end - at) / each)
		return SIZE_MAX;
	return 8 + times + (size_t)nr * each;
}

/* Names for read_format_emit() that ask the record's hook. */
struct hook_names {
	struct names names;	/* first: the decoder hands it back */
	const struct record *record;
};

static const char *sample_name_event(const struct names *n, uint64_t id)
{
	return record_event(((const struct hook_names *)n)->record, id);
}

void read_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	const struct hook_names n = { { .event = sample_name_event }, r };

	read_format_emit(p, len, r->format->read_format, key, &n.names, r->s);
}

/* Return the size of a 64-bit count with as many units of bytes. */
static size_t counted_need(const struct record *r, size_t at, size_t unit)
{
	uint64_t nr;

	if (r->end - at < 8)
		return 8;
	nr = record_count(r, at, 8);
	return nr > (r->end - at) / unit ? SIZE_MAX : 8 + unit * (size_t)nr;
}

size_t callchain_need(const struct record *r, size_t at)
{
	return counted_need(r, at, 8);
}

/* Return the CPU mode of the frames behind a marker. */
static unsigned int context_mode(uint64_t marker)
{
	switch (marker) {
	case PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	}
	return PERF_RECORD_MISC_CPUMODE_UNKNOWN;
}

/* Write an address or a marker by name; one of the markers is followed by a cookie. */
void callchain_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	unsigned int mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct sink *s = r->s;
	bool cookie = false, after_call = false;

	sink_begin(s, key, SINK_ARRAY);
	for (size_t at = 8; at + 8 <= len; at += 8) {
		uint64_t v = load_uint(p + at, 8);

		if (cookie) {
			sink_hex(s, NULL, v);
			sink_note(s, "words", "cookie");
			cookie = false;
		} else if (v >= PERF_CONTEXT_MAX && !(v % 32)) {
			/*
			 * A marker, known or not: all are multiples of 32.  Other values above
			 * PERF_CONTEXT_MAX are what the kernel found where it expected a return
			 * address.
			 */
			sink_enum(s, NULL, &xlat_perf_callchain_context, v);
			mode = context_mode(v);
			after_call = false;
			cookie = v == PERF_CONTEXT_USER_DEFERRED;
		} else {
			sink_addr(s, NULL, v);
			record_note_symbol(r, v, mode, after_call);
			after_call = true;
		}
	}
	sink_end(s);
}

static size_t raw_need(const struct record *r, size_t at)
{
	return r->end - at < 4 ? 4 : 4 + (size_t)record_count(r, at, 4);
}

static void raw_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	const struct record_hooks *h = r->hooks;
	struct sink *s = r->s;

	sink_begin(s, key, SINK_OBJECT);
	if (!h->raw || !h->raw(h->ctx, p + 4, len - 4, s)) {
		sink_uint(s, "size", len - 4);
		sink_bytes(s, "data", p + 4, len - 4, false);
	}
	sink_end(s);
}

static void raw_swap(struct record *r, uint8_t *p, size_t len)
{
	const struct record_hooks *h = r->hooks;

	swap_words(p, 4, 4);
	if (h->swap_raw)
		h->swap_raw(h->ctx, p + 4, len - 4);
}

static size_t aux_need(const struct record *r, size_t at)
{
	return counted_need(r, at, 1);
}

static void aux_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	struct sink *s = r->s;

	sink_begin(s, key, SINK_OBJECT);
	sink_uint(s, "size", len - 8);
	sink_bytes(s, "data", p + 8, len - 8, false);
	sink_end(s);
}

static void aux_swap(struct record *r, uint8_t *p, size_t len)
{
	(void)r;
	(void)len;
	swap_words(p, 8, 8);
}

static void weight_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	bool parts = r->format->sample_type & PERF_SAMPLE_WEIGHT_STRUCT;
	struct walk w = {
		.layout = parts ? &layout_perf_sample_weight : &layout_perf_sample_full_weight,
		.bytes = p, .len = len,
	};

	if (parts)
		sink_begin(r->s, key, SINK_OBJECT);
	layout_emit(&w, r->s);
	if (parts)
		sink_end(r->s);
}

/* from, to, and a word of flags */
enum { BRANCH_ENTRY = 24, BRANCH_FLAGS = 16 };

/* Return the one of two sizes with which the sample ends at its end. */
static size_t stack_fitting(const struct record *r, size_t at, size_t first,
			    size_t second)
{
	if (second > r->end - at ||
	    record_tail(r, at + first) == r->end ||
	    record_tail(r, at + second) != r->end)
		return first;
	return second;
}

/*
 * The index and counters that the attr requests may be missing: without branches there
 * may be only nr, and not every PMU has counters.  The parts that follow decide.
 */
static size_t branches_need(const struct record *r, size_t at)
{
	uint64_t asked = r->format->branch_sample_type, nr;
	size_t index = asked & PERF_SAMPLE_BRANCH_HW_INDEX ? 8 : 0;
	size_t need;

	if (r->end - at < 8)
		return 8;
	nr = record_count(r, at, 8);
	if (nr > (r->end - at) / BRANCH_ENTRY)
		return SIZE_MAX;
	if (!nr)
		return index ? stack_fitting(r, at, 8, 8 + index) : 8;
	need = 8 + index + BRANCH_ENTRY * (size_t)nr;
	if (need > r->end - at || !(asked & PERF_SAMPLE_BRANCH_COUNTERS))
		return need;
	return stack_fitting(r, at, need, need + 8 * (size_t)nr);
}

static void emit_branch(struct record *r, const uint8_t *p)
{
	struct walk flags = {
		.layout = &layout_perf_branch_entry_flags,
		.bytes = p + BRANCH_FLAGS, .len = BRANCH_ENTRY - BRANCH_FLAGS,
	};
	struct record entry = *r;

	entry.bytes = p;
	entry.swap = NULL;
	entry.at = 0;
	entry.end = BRANCH_ENTRY;
	sink_begin(r->s, NULL, SINK_OBJECT);
	record_fields(&entry, &layout_perf_branch_entry, 0);
	layout_emit(&flags, r->s);
	sink_end(r->s);
}

static void branches_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	uint64_t nr = load_uint(p, 8);
	size_t extra = len - 8 - (size_t)nr * BRANCH_ENTRY;
	struct sink *s = r->s;

	p += 8;
	sink_begin(s, key, SINK_OBJECT);
	sink_uint(s, "nr", nr);
	if (extra && r->format->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) {
		sink_sint(s, "hw_idx", (int64_t)load_uint(p, 8));
		p += 8;
		extra -= 8;
	}
	sink_begin(s, "entries", SINK_ARRAY);
	for (uint64_t i = 0; i < nr; i++, p += BRANCH_ENTRY)
		emit_branch(r, p);
	sink_end(s);
	if (extra) {
		sink_begin(s, "counters", SINK_ARRAY);
		for (; extra >= 8; extra -= 8, p += 8)
			sink_hex(s, NULL, load_uint(p, 8));
		sink_end(s);
	}
	sink_end(s);
}

static void branches_swap(struct record *r, uint8_t *p, size_t len)
{
	const struct layout *flags = &layout_perf_branch_entry_flags;
	uint64_t nr = swap_load(p, 8);
	size_t head = 8;

	if (len - 8 > nr * BRANCH_ENTRY &&
	    r->format->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		head += 8;
	swap_words(p, head, 8);
	p += head;
	for (uint64_t i = 0; i < nr; i++, p += BRANCH_ENTRY) {
		swap_words(p, BRANCH_FLAGS, 8);
		swap_layout(flags, p + BRANCH_FLAGS, 0, BRANCH_ENTRY - BRANCH_FLAGS);
	}
	swap_words(p, len - head - nr * BRANCH_ENTRY, 8); /* counters */
}

/* Return the mask of the registers that are in r->slot. */
static uint64_t regs_mask(const struct record *r)
{
	return r->slot->bits & PERF_SAMPLE_REGS_USER ? r->format->sample_regs_user :
						       r->format->sample_regs_intr;
}

static size_t regs_need(const struct record *r, size_t at)
{
	if (r->end - at < 8 || record_count(r, at, 8) == PERF_SAMPLE_REGS_ABI_NONE)
		return 8;
	return 8 + 8 * (size_t)__builtin_popcountll(regs_mask(r));
}

static void regs_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	const struct xlat *regs = r->format->arch ? r->format->arch->regs : NULL;
	uint64_t mask = regs_mask(r);
	struct sink *s = r->s;
	const char *name;
	char unnamed[16];

	sink_begin(s, key, SINK_OBJECT);
	sink_enum(s, "abi", &xlat_perf_sample_regs_abi, load_uint(p, 8));
	for (size_t at = 8; at < len; at += 8) {
		unsigned int bit = (unsigned int)__builtin_ctzll(mask);

		/* keyed by its name or its bit number */
		name = xlat_name(regs, bit);
		if (!name)
			snprintf(unnamed, sizeof(unnamed), "bit%u", bit);
		sink_hex(s, name ? name + strlen(regs->prefix) : unnamed, load_uint(p + at, 8));
		mask &= mask - 1;
	}
	sink_end(s);
}

static size_t stack_need(const struct record *r, size_t at)
{
	size_t need = counted_need(r, at, 1);

	return need > 8 && need < SIZE_MAX ? need + 8 : need;
}

static void stack_swap(struct record *r, uint8_t *p, size_t len)
{
	(void)r;
	swap_words(p, 8, 8);
	if (len > 8)
		swap_words(p + len - 8, 8, 8);	/* dyn_size */
}

/*
 * Write the copy of the stack.  The kernel filled in dyn_size bytes of data; the bytes
 * behind them are old content of the buffer.
 */
static void stack_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	size_t size = (size_t)load_uint(p, 8);
	uint64_t dyn = size ? load_uint(p + len - 8, 8) : 0;
	size_t written = dyn < size ? (size_t)dyn : size;
	struct sink *s = r->s;

	sink_begin(s, key, SINK_OBJECT);
	sink_uint(s, "size", size);
	if (size) {
		sink_bytes(s, "data", p + 8, written, false);
		if (s->full && written < size)
			sink_bytes(s, "unwritten", p + 8 + written,
				   size - written, false);
		sink_uint(s, "dyn_size", dyn);
	}
	sink_end(s);
}

/* The order of parts in a sample, and in the sample_id of other records ------------------- */

#define FIXED(bit, name) \
	{ .bits = PERF_SAMPLE_##bit, .layout = &layout_perf_sample_##name }
#define VARYING(bit, name, part, how) \
	{ .bits = PERF_SAMPLE_##bit, .key = #name, .need = part##_need, \
	  .emit = part##_emit, .swap = how }
/* eight bytes that are more than one member */
#define WORD(bit, name, members) \
	{ .bits = PERF_SAMPLE_##bit, .layout = &layout_perf_##members, .key = #name }

const struct slot sample_slots[] = {
	FIXED(IDENTIFIER, identifier),
	FIXED(IP, ip),
	FIXED(TID, tid),
	FIXED(TIME, time),
	FIXED(ADDR, addr),
	FIXED(ID, id),
	FIXED(STREAM_ID, stream_id),
	FIXED(CPU, cpu),
	FIXED(PERIOD, period),
	VARYING(READ, read, read, NULL),
	VARYING(CALLCHAIN, callchain, callchain, NULL),
	VARYING(RAW, raw, raw, raw_swap),
	VARYING(BRANCH_STACK, branch_stack, branches, branches_swap),
	VARYING(REGS_USER, regs_user, regs, NULL),
	VARYING(STACK_USER, stack_user, stack, stack_swap),
	VARYING(WEIGHT_TYPE, weight, weight, NULL),
	WORD(DATA_SRC, data_src, mem_data_src),
	WORD(TRANSACTION, transaction, txn),
	VARYING(REGS_INTR, regs_intr, regs, NULL),
	FIXED(PHYS_ADDR, phys_addr),
	FIXED(CGROUP, cgroup),
	FIXED(DATA_PAGE_SIZE, data_page_size),
	FIXED(CODE_PAGE_SIZE, code_page_size),
	VARYING(AUX, aux, aux, aux_swap),
	{ .bits = 0 },
};

const struct slot sample_id_slots[] = {
	FIXED(TID, tid),
	FIXED(TIME, time),
	FIXED(ID, id),
	FIXED(STREAM_ID, stream_id),
	FIXED(CPU, cpu),
	FIXED(IDENTIFIER, identifier),
	{ .bits = 0 },
};
