// SPDX-License-Identifier: LGPL-2.1-or-later
/* Branch stacks, registers and copies of the user stack in samples. */
#include <stdio.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/layout_emit.h"
#include "core/abi/record_walk.h"
#include "core/abi/swap.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

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
size_t branches_need(const struct record *r, size_t at)
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
	r->s->ops->begin(r->s, NULL, SINK_OBJECT);
	record_fields(&entry, &layout_perf_branch_entry, 0);
	layout_emit(&flags, r->s);
	r->s->ops->end(r->s);
}

void branches_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	uint64_t nr = load_uint(p, 8);
	size_t extra = len - 8 - (size_t)nr * BRANCH_ENTRY;
	struct sink *s = r->s;

	p += 8;
	s->ops->begin(s, key, SINK_OBJECT);
	s->ops->uint(s, "nr", nr);
	if (extra && r->format->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) {
		s->ops->sint(s, "hw_idx", (int64_t)load_uint(p, 8));
		p += 8;
		extra -= 8;
	}
	s->ops->begin(s, "entries", SINK_ARRAY);
	for (uint64_t i = 0; i < nr; i++, p += BRANCH_ENTRY)
		emit_branch(r, p);
	s->ops->end(s);
	if (extra) {
		s->ops->begin(s, "counters", SINK_ARRAY);
		for (; extra >= 8; extra -= 8, p += 8)
			s->ops->hex(s, NULL, load_uint(p, 8));
		s->ops->end(s);
	}
	s->ops->end(s);
}

void branches_swap(struct record *r, uint8_t *p, size_t len)
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

static size_t regs_need(const struct record *r, size_t at, uint64_t mask)
{
	if (r->end - at < 8 ||
	    record_count(r, at, 8) == PERF_SAMPLE_REGS_ABI_NONE)
		return 8;
	return 8 + 8 * (size_t)__builtin_popcountll(mask);
}

size_t regs_user_need(const struct record *r, size_t at)
{
	return regs_need(r, at, r->format->sample_regs_user);
}

size_t regs_intr_need(const struct record *r, size_t at)
{
	return regs_need(r, at, r->format->sample_regs_intr);
}

/* Write one register, keyed by its name or its bit number. */
static void emit_reg(const struct record *r, unsigned int bit, uint64_t v)
{
	const struct xlat *regs = r->format->arch ? r->format->arch->regs : NULL;
	const char *name = xlat_name(regs, bit);
	char unnamed[16];

	if (regs && name) {
		name += strlen(regs->prefix);
	} else {
		snprintf(unnamed, sizeof(unnamed), "bit%u", bit);
		name = unnamed;
	}
	r->s->ops->hex(r->s, name, v);
}

static void sample_emit_regs(struct record *r, const char *key, uint64_t mask,
			     const uint8_t *p, size_t len)
{
	struct sink *s = r->s;

	s->ops->begin(s, key, SINK_OBJECT);
	s->ops->enumeration(s, "abi", &xlat_perf_sample_regs_abi, load_uint(p, 8));
	for (size_t at = 8; at < len; at += 8) {
		emit_reg(r, (unsigned int)__builtin_ctzll(mask),
			 load_uint(p + at, 8));
		mask &= mask - 1;
	}
	s->ops->end(s);
}

void regs_user_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	sample_emit_regs(r, key, r->format->sample_regs_user, p, len);
}

void regs_intr_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	sample_emit_regs(r, key, r->format->sample_regs_intr, p, len);
}

size_t stack_need(const struct record *r, size_t at)
{
	uint64_t size;

	if (r->end - at < 8)
		return 8;
	size = record_count(r, at, 8);
	if (!size)
		return 8;
	return size > r->end - at ? SIZE_MAX : 8 + (size_t)size + 8;
}

void stack_swap(struct record *r, uint8_t *p, size_t len)
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
void stack_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	size_t size = (size_t)load_uint(p, 8);
	uint64_t dyn = size ? load_uint(p + len - 8, 8) : 0;
	size_t written = dyn < size ? (size_t)dyn : size;
	struct sink *s = r->s;

	s->ops->begin(s, key, SINK_OBJECT);
	s->ops->uint(s, "size", size);
	if (size) {
		s->ops->bytes(s, "data", p + 8, written, false);
		if (s->full && written < size)
			s->ops->bytes(s, "unwritten", p + 8 + written,
				      size - written, false);
		s->ops->uint(s, "dyn_size", dyn);
	}
	s->ops->end(s);
}
