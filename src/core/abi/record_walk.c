// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions that all record decoders use. */
#include "core/abi/record_walk.h"

#include <stdio.h>
#include <string.h>

#include "core/abi/swap.h"
#include "core/abi/tables.h"

bool record_take(struct record *r, size_t need)
{
	if (need <= r->end - r->at) {
		r->at += need;
		return true;
	}
	if (!r->wants)
		r->wants = need > SIZE_MAX - r->at ? SIZE_MAX : r->at + need;
	return false;
}

uint64_t record_count(const struct record *r, size_t at, size_t width)
{
	return r->swap ? swap_load(r->bytes + at, width) : load_uint(r->bytes + at, width);
}

void record_note_symbol(const struct record *r, uint64_t ip, unsigned int cpumode,
			bool after_call)
{
	const struct record_hooks *h = r->hooks;
	const char *name = h->symbol ? h->symbol(h->ctx, r->pid, ip, cpumode, after_call) : NULL;

	if (name)
		sink_note(r->s, "symbol", name);
}

const char *record_event(const struct record *r, uint64_t id)
{
	const struct record_hooks *h = r->hooks;

	if (h->event)
		return h->event(h->ctx, id);
	return r->names && r->names->event ? r->names->event(r->names, id) : NULL;
}

/* Write the notes of a member. */
enum more { MORE_EVENT, MORE_CODE, MORE_BRANCH, MORE_PID };

static const struct {
	const struct layout *layout;
	unsigned int field;
	enum more more;
} mores[] = {
	{ &layout_perf_sample_tid, PERF_SAMPLE_TID_PID, MORE_PID },
	{ &layout_perf_sample_ip, PERF_SAMPLE_IP_IP, MORE_CODE },
	{ &layout_perf_sample_id, PERF_SAMPLE_ID_ID, MORE_EVENT },
	{ &layout_perf_sample_identifier, PERF_SAMPLE_IDENTIFIER_IDENTIFIER,
	  MORE_EVENT },
	{ &layout_perf_branch_entry, PERF_BRANCH_ENTRY_FROM, MORE_BRANCH },
	{ &layout_perf_branch_entry, PERF_BRANCH_ENTRY_TO, MORE_BRANCH },
	{ &layout_perf_record_lost, PERF_RECORD_LOST_ID, MORE_EVENT },
	{ &layout_perf_record_throttle, PERF_RECORD_THROTTLE_ID, MORE_EVENT },
	{ &layout_perf_record_text_poke, PERF_RECORD_TEXT_POKE_ADDR, MORE_CODE },
};

static void say_more(struct record *r, const struct layout *l,
		     unsigned int field, uint64_t v)
{
	size_t i, n = sizeof(mores) / sizeof(mores[0]);
	const char *name;

	for (i = 0; i < n; i++)
		if (mores[i].layout == l && mores[i].field == field)
			break;
	if (i == n)
		return;
	switch (mores[i].more) {
	case MORE_EVENT:
		/* the identifier at the start is the same number */
		if (l == &layout_perf_sample_id &&
		    r->format->sample_type & PERF_SAMPLE_IDENTIFIER)
			break;
		name = record_event(r, v);
		if (name)
			sink_note(r->s, "event", name);
		break;
	case MORE_CODE:
		record_note_symbol(r, v, r->misc & PERF_RECORD_MISC_CPUMODE_MASK, false);
		break;
	case MORE_BRANCH:
		record_note_symbol(r, v, PERF_RECORD_MISC_CPUMODE_UNKNOWN, false);
		break;
	case MORE_PID:
		r->pid = (int32_t)v;
		break;
	}
}

bool record_fields(struct record *r, const struct layout *l, size_t base)
{
	if (r->swap)
		swap_layout(l, r->swap + base, 0, r->end - base);
	return record_members(r, l, base);
}

bool record_members(struct record *r, const struct layout *l, size_t base)
{
	for (unsigned int i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];
		struct layout one = { .name = l->name, .fields = f, .n = 1 };
		struct walk w = {
			.layout = &one, .bytes = r->bytes + base,
			.arch = r->format->arch, .names = r->names,
		};

		w.len = (size_t)f->offset + f->width;
		if (!record_take(r, base + w.len - r->at))
			return false;
		layout_emit(&w, r->s);
		say_more(r, l, i, field_get(f, w.bytes, w.len));
	}
	return true;
}

void record_string(struct record *r, const char *key)
{
	size_t at = r->at, left = r->end - at, len, padded;
	const uint8_t *p = r->bytes + at, *nul = memchr(p, 0, left);
	size_t max = r->s->max_string;

	len = nul ? (size_t)(nul - p) : left;
	/* names are no strings of -s, as in strace */
	r->s->max_string = SIZE_MAX;
	sink_string(r->s, key, (const char *)p, len, !nul);
	r->s->max_string = max;
	/* the NUL and padding up to a multiple of eight */
	padded = (len + 8) & ~(size_t)7;
	for (size_t i = len; nul && padded <= left && i < padded; i++)
		if (p[i])
			padded = len + 1;
	if (!record_take(r, padded))
		r->at = r->end;
}

void record_digest(struct record *r, const char *key, const uint8_t *p,
		   size_t len, bool cut)
{
	char text[64] = "";

	sink_bytes(r->s, key, p, len, cut);
	for (size_t i = 0; i < len && 2 * i + 2 < sizeof(text); i++)
		snprintf(text + 2 * i, 3, "%02x", p[i]);
	if (len)
		sink_note(r->s, "hex", text);
}

bool record_slot(struct record *r, const struct slot *slot)
{
	const uint8_t *p = r->bytes + r->at;
	size_t need;

	if (slot->layout && !slot->key)
		return record_fields(r, slot->layout, r->at);
	r->slot = slot;
	need = slot->layout ? slot->layout->size : slot->need(r, r->at);
	if (!record_take(r, need))
		return false;
	if (r->swap && slot->swap)
		slot->swap(r, r->swap + (p - r->bytes), need);
	else if (r->swap)
		swap_words(r->swap + (p - r->bytes), need, 8);
	if (slot->layout) {
		struct walk w = {
			.layout = slot->layout, .bytes = p, .len = need,
			.arch = r->format->arch, .names = r->names,
		};

		sink_begin(r->s, slot->key, SINK_OBJECT);
		layout_emit(&w, r->s);
		sink_end(r->s);
	} else {
		slot->emit(r, slot->key, p, need);
	}
	return true;
}

void record_slots(struct record *r, const struct slot *slots)
{
	for (; slots->bits; slots++)
		if (r->format->sample_type & slots->bits &&
		    !record_slot(r, slots))
			return;
}

size_t record_tail(const struct record *r, size_t at)
{
	struct record t = *r;

	while ((++t.slot)->bits) {
		size_t need;

		if (!(r->format->sample_type & t.slot->bits))
			continue;
		if (at > r->end)
			return SIZE_MAX;
		need = t.slot->layout ? t.slot->layout->size : t.slot->need(&t, at);
		if (need > r->end - at)
			return SIZE_MAX;
		at += need;
	}
	return at;
}
