// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/event_text.h"

#include <string.h>

#include "core/abi/layout.h"
#include "xlat/tables.h"

static void event_add_flags(struct buf *out, const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e;
	const char *sep = "";
	size_t at = 0;

	while ((e = xlat_next_flag(x, &v, &at))) {
		buf_addf(out, "%s%s", sep, e->name + strlen(x->prefix));
		sep = "|";
	}
	if (v || !*sep)
		buf_addf(out, "%s0x%llx", sep, (unsigned long long)v);
}

static void event_add_string(struct buf *out, const struct attr_text *a, uint64_t addr)
{
	for (size_t i = 0; i < a->nstrings; i++) {
		if (a->strings[i].addr != addr)
			continue;
		buf_addc(out, '"');
		for (const uint8_t *p = a->pool + a->strings[i].at; *p; p++)
			buf_addf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
		buf_addc(out, '"');
		return;
	}
	buf_addf(out, "0x%llx", (unsigned long long)addr);
}

static void event_add_member(struct buf *out, const struct event_spec *e, const struct field *f)
{
	uint64_t v = field_get(f, e->attr.bytes, e->attr.len);

	if (out->len)
		buf_addc(out, ',');
	buf_adds(out, f->name);
	if (f->nbits == 1 && v)
		return;
	buf_addc(out, '=');
	if (f->kind == FIELD_STRING && v)
		event_add_string(out, &e->attr, v);
	else if (f->kind == FIELD_FLAGS)
		event_add_flags(out, f->xlat, v);
	else
		buf_addf(out, f->kind != FIELD_UINT && v > 9999 ? "0x%llx" : "%llu", (unsigned long long)v);
}

void event_text(struct buf *out, struct host *h, const struct names *names,
		const struct event_spec *e)
{
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = e->attr.bytes, .len = e->attr.len,
		.names = names,
	};
	struct event_list base = { 0 };
	bool named = event_list_add(&base, h, e->attr.label) && base.n == 1;
	struct buf text = { 0 };
	const struct field *f;
	size_t at = 0;

	if (!named) {
		event_list_free(&base);
		event_list_add(&base, h, "type=0");
	}
	buf_adds(&text, named ? e->attr.label : "type=");
	if (!named)
		buf_addu(&text, event_get(e, 0));
	while ((f = layout_next(&w, &at)))
		if ((named || at > 1) && field_get(f, w.bytes, w.len) !=
		    field_get(f, base.events[0].attr.bytes, base.events[0].attr.len))
			event_add_member(&text, e, f);
	buf_add(out, text.data, text.len);
	buf_free(&text);
	event_list_free(&base);
}
