// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls, their members and arguments, and those that were changed or are to blame. */
#include <string.h>

#include "core/abi/attr_member.h"
#include "core/abi/call_decode.h"
#include "core/abi/layout.h"
#include "core/abi/siginfo.h"
#include "verbs/why/why_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Return the attr as captured, with the pointers of the call; *len is 0 without one. */
static const uint8_t *captured_attr(const struct call *c, size_t *len)
{
	const uint8_t *bytes = call_bytes(c, AT_SYSCALL_ENTER, c->args[0], WHY_ATTR_MAX, len);

	*len = bytes ? *len : 0;
	return bytes ? bytes : (const uint8_t *)"";
}

static struct walk walk_of(const struct show *s, const struct call *c)
{
	struct walk w = {
		.layout = &layout_perf_event_attr, .call = c, .arch = c->arch,
		.names = &s->k->machine.names,
	};

	w.bytes = captured_attr(c, &w.len);
	return w;
}

void members_emit(const struct show *s, const struct call *c, const char *name, size_t len)
{
	struct walk w = walk_of(s, c);

	judge_emit(&w, c, name, len, s->out->sink);
}

void members_of_rule(const struct show *s, const struct rule_desc *d)
{
	struct walk w = walk_of(s, &s->c->call);

	judge_emit_fields(&w, &s->c->call, d, s->k->facts.rules.machine.release, s->out->sink);
}

void members_show_call(const struct show *s, const char *label, const struct call *c, int e)
{
	struct buf *out = &s->out->line, error = { 0 };

	showing_begin(s->out, true);
	if (*label) {
		text_escaped(out, label);
		buf_adds(out, ": ");
	}
	text_colored(out, s->out->text.color, COLOR_CALL, c->desc->name);
	buf_addc(out, '(');
	text_sink_top(&s->out->text, false, c->desc);
	call_args(c, AT_SYSCALL_ENTER, &s->k->machine.names, s->out->sink);
	buf_adds(out, ") = ");
	if (e)
		error_text(e, &error);
	else
		buf_adds(&error, "fd");
	text_colored(out, e && s->out->text.color, COLOR_ERROR, buf_str(&error));
	call_result_notes(c, &s->k->machine.names, s->out->sink);
	buf_free(&error);
	showing_end(s->out);
}

void members_json_call(const struct show *s, const struct call *c)
{
	struct sink *k = s->out->sink;
	size_t len;
	const uint8_t *bytes = captured_attr(c, &len);

	sink_begin(k, "args", SINK_OBJECT);
	call_args(c, AT_SYSCALL_ENTER, &s->k->machine.names, k);
	sink_end(k);
	json_add_bytes(&s->out->object, "attr_bytes", bytes, len);
}

void members_make_call(const struct show *s, const struct change_call *from, struct call *to)
{
	const struct call *given = &s->c->call;
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = from->attr, .len = from->ask.len,
		.names = &s->k->machine.names,
	};
	uint8_t attr[CHANGE_ATTR_MAX];
	const uint8_t *was;
	const struct field *f;
	size_t at = 0, was_len;

	*to = (struct call){
		.desc = given->desc, .arch = given->arch, .before = given, .returned = true,
	};
	to->args[0] = given->args[0] ? given->args[0] : WHY_ATTR_AT;
	to->args[1] = (uint64_t)(int64_t)from->ask.pid;
	to->args[2] = (uint64_t)(int64_t)from->ask.cpu;
	to->args[3] = (uint64_t)(int64_t)from->ask.group_fd;
	to->args[4] = from->ask.flags;
	memcpy(attr, from->attr, sizeof(attr));
	was = call_bytes(given, AT_SYSCALL_ENTER, given->args[0], WHY_ATTR_MAX, &was_len);
	/* why_call_prepare() let them point to memory of pevtrace */
	while ((f = layout_next(&w, &at))) {
		const char *text = (const char *)(uintptr_t)field_get(f, w.bytes, w.len);

		if (f->kind != FIELD_STRING || !text)
			continue;
		for (size_t i = 0; i < ATTR_TEXT_STRINGS; i++) {
			if (text != s->c->strings[i].data && text != s->r->exe)
				continue;
			/* an unchanged one keeps its address */
			if (text != s->r->exe && was)
				field_set(f, field_get(f, was, was_len), attr);
			call_add_capture(to, AT_SYSCALL_ENTER, field_get(f, attr, w.len),
					 (uint32_t)strlen(text) + 1, text,
					 (uint32_t)strlen(text) + 1);
		}
	}
	call_add_capture(to, AT_SYSCALL_ENTER, to->args[0], (uint32_t)from->ask.len, attr,
			 (uint32_t)from->ask.len);
}

void members_emit_changes(const struct show *s, const struct change *const *set, size_t n,
			 const char *key)
{
	struct sink *k = s->out->sink;
	struct change_call changed;
	struct call call;

	change_make(&changed, &s->r->ask, set, n);
	members_make_call(s, &changed, &call);
	sink_begin(k, key, SINK_OBJECT);
	for (size_t i = 0; i < n; i++) {
		const char *name = change_name(set[i]);

		members_emit(s, &call, name, strlen(name));
	}
	sink_end(k);
	call_free(&call);
}

static bool is_zero(const struct show *s, const struct member_name *w)
{
	const struct field *f = attr_member(w->at, w->len);

	return f && !field_get(f, s->r->ask.attr, s->r->ask.len);
}

/* List the fields of the rule that the call set; all of them if it set none. */
static size_t fields_of(const struct show *s, const struct rule_desc *d, struct member_name *out)
{
	size_t all = 0, n = 0;
	struct member_name words[BLAMED];

	for (const char *p = d->fields; *p && all < BLAMED; p += *p == ',') {
		words[all++] = (struct member_name){ p, strcspn(p, ",") };
		p += words[all - 1].len;
	}
	for (size_t i = 0; i < all; i++)
		if (!is_zero(s, &words[i]))
			out[n++] = words[i];
	if (n)
		return n;
	memcpy(out, words, all * sizeof(*out));
	return all;
}

size_t members_blamed(const struct show *s, const struct cause_fault *f, struct member_name *out)
{
	/* bits newer than this release count as reserved; the rule does not list their members */
	bool about = !f->rule || !f->sure || !*f->rule->fields ||
		     f->rule->id == RULE_RESERVED_BITS;

	for (size_t i = 0; i < f->npast; i++)
		about |= rules_place(f->rule, change_name(f->past[i])) >= 0;
	if (!about && f->npast)
		return fields_of(s, f->rule, out);
	for (size_t i = 0; i < f->npast; i++)
		out[i] = (struct member_name){ change_name(f->past[i]),
					strlen(change_name(f->past[i])) };
	return f->npast;
}
