// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/attr.h"

#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/lib/list.h"

/* The bytes of type and size, which decoding requires. */
#define ATTR_HEAD 8

/* With sizes below that of Linux 3.4, what lies beyond is captured, up to that of Linux 4.1. */
#define ATTR_BEYOND PERF_ATTR_SIZE_VER3
#define ATTR_BEYOND_END PERF_ATTR_SIZE_VER5

size_t attr_wanted(uint32_t size)
{
	if (!size)
		return PERF_ATTR_SIZE_VER0;
	if (size > ATTR_MAX_SIZE)
		return layout_perf_event_attr.size;
	return size < ATTR_HEAD ? ATTR_HEAD : size;
}

/* Find the next member that lies beyond len bytes and is not zero; w has what there is. */
static const struct field *beyond_next(const struct walk *w, size_t len, size_t *at)
{
	const struct field *f;

	while ((f = layout_next(w, at)))
		if (f->offset >= len && f->offset + f->width <= w->len &&
		    field_get(f, w->bytes, w->len))
			return f;
	return NULL;
}

/* Return whether memory behind an attr may be more of it: few members are set, none reserved. */
static bool beyond_plausible(const uint8_t *bytes, size_t len, size_t have)
{
	const struct walk w = { .layout = &layout_perf_event_attr, .bytes = bytes, .len = have };
	const struct field *f;
	size_t at = 0, n = 0;

	while ((f = beyond_next(&w, len, &at))) {
		n++;
		if (f->kind == FIELD_RESERVED || field_get(f, bytes, have) >> 32)
			return false;
	}
	return n && n <= 4;
}

bool attr_beyond(const uint8_t *bytes, size_t len, size_t have, bool certain, struct buf *out)
{
	uint32_t size = (uint32_t)load_uint(bytes + 4, 4);
	const struct walk w = { .layout = &layout_perf_event_attr, .bytes = bytes, .len = have };
	const struct field *f;
	struct buf names = { 0 };
	size_t at = 0, n = 0;

	while ((f = beyond_next(&w, len, &at)))
		buf_addf(&names, "%s%s", n++ ? ", " : "", f->name);
	if (n && size)
		buf_addf(out, "%s lie%s beyond size %u%s: the kernel does not read %s",
			 buf_str(&names), n == 1 ? "s" : "", size,
			 certain ? "" : ", if the struct is so long", n == 1 ? "it" : "them");
	else if (n)
		buf_addf(out, "size is 0: the kernel reads %d bytes, without %s%s",
			 PERF_ATTR_SIZE_VER0, buf_str(&names),
			 certain ? "" : ", if the struct is so long");
	buf_free(&names);
	return n;
}

/* Note the members beyond the size, which the call captured for that. */
static void note_beyond(const struct call *c, enum call_phase phase, uint64_t addr,
			const struct walk *w, struct sink *s)
{
	uint8_t bytes[ATTR_MAX_SIZE] = { 0 };
	struct buf words = { 0 };

	for_each(k, c->captures, c->ncaptures) {
		if (k->phase != phase || k->addr != addr + w->len || !k->len ||
		    w->len + k->len > sizeof(bytes))
			continue;
		memcpy(bytes, w->bytes, w->len);
		memcpy(bytes + w->len, c->pool.data + k->at, k->len);
		if (attr_beyond(bytes, w->len, w->len + k->len, k->want, &words))
			sink_note(s, "beyond", buf_str(&words));
		break;
	}
	buf_free(&words);
}

void attr_capture(struct call *c, enum call_phase phase, uint64_t addr,
		  const struct mem *m, const struct names *n)
{
	uint8_t bytes[ATTR_MAX_SIZE];
	const size_t usual = layout_perf_event_attr.size;
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = bytes, .names = n,
	};
	const struct field *f;
	size_t at = 0, want, len, have;

	if (phase == AT_SYSCALL_EXIT) {
		if (c->failed)
			capture_bytes(c, phase, addr + 4, 4, m); /* size, for E2BIG */
		return;
	}
	len = addr ? m->read(m, addr, bytes, usual) : 0;
	if (len < ATTR_HEAD) {
		/* its first bytes may still be readable */
		capture_bytes(c, phase, addr, ATTR_HEAD, m);
		return;
	}
	want = attr_wanted((uint32_t)load_uint(bytes + 4, 4));
	if (want > len && len == usual)
		len += m->read(m, addr + len, bytes + len, want - len);
	have = len < ATTR_BEYOND_END ? len : ATTR_BEYOND_END;
	if (want < ATTR_BEYOND && have <= want)
		have = want + m->read(m, addr + want, bytes + want, ATTR_BEYOND_END - want);
	w.len = len = len < want ? len : want;
	call_add_capture(c, phase, addr, (uint32_t)want, bytes, (uint32_t)len);
	/* the size of a header older than ten years is rarely meant; an address is no member's value */
	if (want < ATTR_BEYOND && len == want && beyond_plausible(bytes, want, have))
		call_add_capture(c, phase, addr + want, 0, bytes + want, (uint32_t)(have - want));
	while ((f = layout_next(&w, &at)))
		if (f->kind == FIELD_STRING)
			capture_string(c, phase, field_get(f, bytes, len), m);
}

void attr_emit(const struct call *c, enum call_phase phase, const char *key,
	       uint64_t addr, const struct names *n, struct sink *s)
{
	struct walk w = {
		.layout = &layout_perf_event_attr, .call = c, .arch = c->arch,
		.names = n,
	};
	size_t want;

	w.bytes = call_bytes(c, phase, addr, ATTR_MAX_SIZE, &w.len);
	if (!w.bytes || w.len < 4) {
		call_emit_unreadable(key, addr, s);
		return;
	}
	if (c->before)
		w.before = call_bytes(c->before, phase, c->before->args[0],
				      ATTR_MAX_SIZE, &w.before_len);
	sink_begin(s, key, SINK_OBJECT);
	layout_emit(&w, s);
	layout_emit_tail(&w, s);
	want = attr_wanted((uint32_t)layout_get(w.layout, ATTR_SIZE, w.bytes, w.len));
	if (w.len < want)
		sink_notef(s, "unreadable", "unreadable from byte %zu on", w.len);
	sink_end(s);
	if (w.len == want)
		note_beyond(c, phase, addr, &w, s);
}

void attr_note_size(const struct call *c, uint64_t addr, struct sink *s)
{
	size_t before_len, after_len;
	const uint8_t *before = call_bytes(c, AT_SYSCALL_ENTER, addr, 8, &before_len);
	const uint8_t *after = call_bytes(c, AT_SYSCALL_EXIT, addr + 4, 4, &after_len);
	uint64_t size;
	const char *name;

	if (!before || before_len < 8 || !after || after_len < 4)
		return;
	size = load_uint(after, 4);
	if (size == load_uint(before + 4, 4))
		return;
	name = xlat_name(layout_perf_event_attr.fields[ATTR_SIZE].xlat, size);
	sink_notef(s, "size", "kernel wrote back size=%llu%s%s",
		   (unsigned long long)size, name ? ", " : "", name ? name : "");
}
