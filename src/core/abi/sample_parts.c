// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counts, callchains, raw data, words and AUX data in samples. */
#include "core/abi/layout.h"
#include "core/abi/layout_emit.h"
#include "core/abi/read_format.h"
#include "core/abi/record_walk.h"
#include "core/abi/swap.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

size_t word_need(const struct record *r, size_t at)
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

size_t callchain_need(const struct record *r, size_t at)
{
	uint64_t nr;

	if (r->end - at < 8)
		return 8;
	nr = record_count(r, at, 8);
	return nr > (r->end - at) / 8 ? SIZE_MAX : 8 + 8 * (size_t)nr;
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

/*
 * Return whether v is a marker, known or not: all are multiples of 32.  Other values above
 * PERF_CONTEXT_MAX are what the kernel found where it expected a return address.
 */
static bool is_marker(uint64_t v)
{
	return v >= PERF_CONTEXT_MAX && !(v % 32);
}

/* Write an address or a marker by name; one of the markers is followed by a cookie. */
void callchain_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	unsigned int mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct sink *s = r->s;
	bool cookie = false, after_call = false;

	s->ops->begin(s, key, SINK_ARRAY);
	for (size_t at = 8; at + 8 <= len; at += 8) {
		uint64_t v = load_uint(p + at, 8);

		if (cookie) {
			s->ops->hex(s, NULL, v);
			s->ops->note(s, "words", "cookie");
			cookie = false;
		} else if (is_marker(v)) {
			s->ops->enumeration(s, NULL, &xlat_perf_callchain_context, v);
			mode = context_mode(v);
			after_call = false;
			cookie = v == PERF_CONTEXT_USER_DEFERRED;
		} else {
			s->ops->addr(s, NULL, v);
			record_note_symbol(r, v, mode, after_call);
			after_call = true;
		}
	}
	s->ops->end(s);
}

size_t raw_need(const struct record *r, size_t at)
{
	return r->end - at < 4 ? 4 : 4 + (size_t)record_count(r, at, 4);
}

void raw_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	const struct record_hooks *h = r->hooks;
	struct sink *s = r->s;

	s->ops->begin(s, key, SINK_OBJECT);
	if (!h->raw || !h->raw(h->ctx, p + 4, len - 4, s)) {
		s->ops->uint(s, "size", len - 4);
		s->ops->bytes(s, "data", p + 4, len - 4, false);
	}
	s->ops->end(s);
}

void raw_swap(struct record *r, uint8_t *p, size_t len)
{
	const struct record_hooks *h = r->hooks;

	swap_words(p, 4, 4);
	if (h->swap_raw)
		h->swap_raw(h->ctx, p + 4, len - 4);
}

size_t aux_need(const struct record *r, size_t at)
{
	uint64_t size;

	if (r->end - at < 8)
		return 8;
	size = record_count(r, at, 8);
	return size > r->end - at ? SIZE_MAX : 8 + (size_t)size;
}

void aux_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	struct sink *s = r->s;

	s->ops->begin(s, key, SINK_OBJECT);
	s->ops->uint(s, "size", len - 8);
	s->ops->bytes(s, "data", p + 8, len - 8, false);
	s->ops->end(s);
}

void aux_swap(struct record *r, uint8_t *p, size_t len)
{
	(void)r;
	(void)len;
	swap_words(p, 8, 8);
}

static void emit_word(struct record *r, const char *key, const struct layout *l,
		      const uint8_t *p)
{
	struct walk w = {
		.layout = l, .bytes = p, .len = l->size,
		.arch = r->format->arch, .names = r->names,
	};

	r->s->ops->begin(r->s, key, SINK_OBJECT);
	layout_emit(&w, r->s);
	r->s->ops->end(r->s);
}

void weight_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	struct walk w = {
		.layout = &layout_perf_sample_full_weight, .bytes = p, .len = len,
	};

	if (r->format->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		emit_word(r, key, &layout_perf_sample_weight, p);
	else
		layout_emit(&w, r->s);
}

void data_src_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	(void)len;
	emit_word(r, key, &layout_perf_mem_data_src, p);
}

void transaction_emit(struct record *r, const char *key, const uint8_t *p, size_t len)
{
	(void)len;
	emit_word(r, key, &layout_perf_txn, p);
}
