// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/host/event_syntax.h"

#include <stdio.h>
#include <string.h>

#include "core/abi/attr_member.h"
#include "core/host/event_reading.h"
#include "core/lib/scan_text.h"

static bool syntax_items(struct reading *r);

static bool syntax_group(struct reading *r)
{
	const char *brace = r->c.at++;
	size_t leader = r->list->n;

	if (r->grouped)
		return FAIL_AT(r, brace, "groups cannot be nested");
	r->grouped = true;
	r->first = leader;
	if (!syntax_items(r))
		return false;
	r->grouped = false;
	if (syntax_peek(r) != '}')
		return FAIL_AT(r, brace, "expected } after the group");
	r->c.at++;
	for (size_t i = leader; i < r->list->n; i++)
		r->list->events[i].leader = leader;
	r->first = leader;
	return syntax_may_modify(r, leader, true);
}

static bool syntax_item(struct reading *r)
{
	char ch = syntax_peek(r);
	const char *end;
	size_t len;

	if (ch == '{')
		return syntax_group(r);
	len = syntax_reach(r->c.at, r->c.end, ",:/={}\" \t\n");
	end = scan_blanks(r->c.at + len, r->c.end);
	if (!len)
		return ch && !strchr(",}", ch) ?
		       FAIL_AT(r, r->c.at, "an event cannot begin with '%c'", ch) :
		       FAIL_AT(r, r->c.at, "expected an event");
	if (end < r->c.end && *end == '=')
		return syntax_member(r, len);
	if (attr_member(r->c.at, len) && (end == r->c.end || strchr(",}", *end)))
		return syntax_member(r, len);
	return syntax_event(r, len);
}

static bool syntax_items(struct reading *r)
{
	do {
		if (!syntax_item(r))
			return false;
	} while (syntax_peek(r) == ',' && r->c.at++);
	return true;
}

bool event_grouped(const struct event_list *l, size_t i)
{
	size_t leader = l->events[i].leader;

	return leader != i || (i + 1 < l->n && l->events[i + 1].leader == i);
}

bool event_list_add(struct event_list *l, struct host *h, const char *text)
{
	size_t before = l->n;
	struct reading r = {
		.list = l, .host = h, .first = before,
		.c = { .at = text, .end = text + strlen(text) },
	};
	bool ok = syntax_items(&r);

	if (ok && r.c.at < r.c.end)
		ok = FAIL_AT(&r, r.c.at, "unexpected '%.*s'; separate events by commas",
			     text_cursor_some(&r.c), r.c.at);
	for (size_t i = before; ok && i < l->n; i++) {
		struct event_spec *e = &l->events[i];

		/* with :S, the counts in its samples have ids, which identify the events */
		if (e->reads && !e->given[ATTR_READ_FORMAT])
			event_set(e, ATTR_READ_FORMAT, PERF_FORMAT_ID |
				  (event_grouped(l, i) ? PERF_FORMAT_GROUP : 0));
		attr_member_done(&e->attr);
	}
	if (ok)
		return true;
	l->n = before;
	l->at = (size_t)(r.c.at - text);
	snprintf(l->why, sizeof(l->why), "%s", r.c.why);
	return false;
}

static void event_add_member(struct buf *out, const struct event_spec *e, const struct field *f)
{
	uint64_t v = field_get(f, e->attr.bytes, e->attr.len);
	const struct xlat_entry *flag;
	const char *sep = "";
	size_t at = 0, string = 0;

	if (out->len)
		buf_addc(out, ',');
	buf_adds(out, f->name);
	if (f->nbits == 1 && v)
		return;
	buf_addc(out, '=');
	while (string < e->attr.nstrings && e->attr.strings[string].addr != v)
		string++;
	if (f->kind == FIELD_STRING && v && string < e->attr.nstrings) {
		buf_addc(out, '"');
		for (const uint8_t *p = e->attr.pool + e->attr.strings[string].at; *p; p++)
			buf_addf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
		buf_addc(out, '"');
	} else if (f->kind == FIELD_STRING && v) {
		buf_addf(out, "0x%llx", (unsigned long long)v);
	} else if (f->kind == FIELD_FLAGS) {
		while ((flag = xlat_next_flag(f->xlat, &v, &at))) {
			buf_addf(out, "%s%s", sep, flag->name + strlen(f->xlat->prefix));
			sep = "|";
		}
		if (v || !*sep)
			buf_addf(out, "%s0x%llx", sep, (unsigned long long)v);
	} else {
		buf_addf(out, f->kind != FIELD_UINT && v > 9999 ? "0x%llx" : "%llu",
			 (unsigned long long)v);
	}
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
	while ((f = layout_next_change(&w, base.events[0].attr.bytes, base.events[0].attr.len,
				       &at))) {
		/* sample_freq= and wakeup_watermark= set the bits that select them */
		ptrdiff_t m = f - w.layout->fields;
		unsigned int by = m == ATTR_FREQ ? ATTR_SAMPLE_FREQ :
				  m == ATTR_WATERMARK ? ATTR_WAKEUP_WATERMARK : 0;

		if ((named || at > 1) && (!by || !event_get(e, by)))
			event_add_member(&text, e, f);
	}
	buf_add(out, text.data, text.len);
	buf_free(&text);
	event_list_free(&base);
}
