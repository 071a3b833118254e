// SPDX-License-Identifier: LGPL-2.1-or-later
/* Calls, rules and outcomes as text. */
#include <string.h>

#include "core/abi/attr_member.h"
#include "core/abi/call_decode.h"
#include "core/abi/layout.h"
#include "core/abi/layout_emit.h"
#include "core/abi/siginfo.h"
#include "verbs/judge/judge_show.h"
#include "verbs/measure/refusal.h"
#include "xlat/tables.h"

/* Fields of a rule ------------------------------------------------------------ */

const uint8_t *show_attr(const struct call *c, size_t *len)
{
	const uint8_t *bytes = call_bytes(c, AT_SYSCALL_ENTER, c->args[0], JUDGE_ATTR_MAX, len);

	*len = bytes ? *len : 0;
	return bytes ? bytes : (const uint8_t *)"";
}

/* Show a pointer with the length that can be read: its address never differs. */
static void show_pointer(const struct call *c, unsigned int arg, size_t len, struct sink *sink)
{
	sink->ops->addr(sink, c->desc->args[arg].name, c->args[arg]);
	if (c->args[arg])
		sink_notef(sink, "readable", "%zu bytes of it can be read", len);
}

void show_member(const struct show *s, const struct call *c, const char *name, size_t len,
		 struct sink *sink)
{
	struct walk w = {
		.layout = &layout_perf_event_attr, .call = c, .arch = c->arch,
		.names = &s->machine->names,
	};
	const struct field *f = attr_member(name, len);
	const struct call_desc *d = c->desc;

	w.bytes = show_attr(c, &w.len);
	if (f) {
		layout_emit_member(&w, (unsigned int)(f - w.layout->fields), sink);
		return;
	}
	for (unsigned int i = 0; i < d->nargs; i++) {
		if (strlen(d->args[i].name) != len || memcmp(d->args[i].name, name, len))
			continue;
		if (d->args[i].xlat)
			sink->ops->flags(sink, d->args[i].name, d->args[i].xlat,
					 c->args[i]);
		else if (d->args[i].kind == ARG_ATTR)
			show_pointer(c, i, w.len, sink);
		else
			sink->ops->sint(sink, d->args[i].name, call_int(c, i));
	}
}

/* Show the members that are set and unknown to this release; return false if there are none. */
static bool emit_reserved(const struct show *s, struct sink *sink)
{
	const struct layout *l = &layout_perf_event_attr;
	const struct call *c = &s->c->call;
	bool any = false;
	size_t len;
	const uint8_t *attr = show_attr(c, &len);

	for (size_t i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];

		if (!rules_reserved(f, s->facts->rules.machine.release) ||
		    !field_get(f, attr, len))
			continue;
		show_member(s, c, f->name, strlen(f->name), sink);
		any = true;
	}
	return any;
}

void show_fields(const struct show *s, const struct rule_desc *d, struct sink *sink)
{
	size_t n;

	if (d->id == RULE_RESERVED_BITS && emit_reserved(s, sink))
		return;
	for (const char *p = d->fields; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		show_member(s, &s->c->call, p, n, sink);
	}
}

/* Text ------------------------------------------------------------------------------ */

struct buf *show_line(const struct show *s, const char *head)
{
	showing_begin(s->out, false);
	buf_addf(&s->out->line, "  %s: ", head);
	return &s->out->line;
}

void show_call(const struct show *s, const char *label, const struct call *c, int e)
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
	call_args(c, AT_SYSCALL_ENTER, &s->machine->names, s->out->sink);
	buf_adds(out, ") = ");
	if (e)
		error_text(e, &error);
	else
		buf_adds(&error, "fd");
	text_colored(out, e && s->out->text.color, COLOR_ERROR, buf_str(&error));
	call_result_notes(c, &s->machine->names, s->out->sink);
	buf_free(&error);
	showing_end(s->out);
}

void show_doubt(const struct show *s)
{
	struct buf why = { 0 };

	if (!instrument_is_hardware(s->instruments->host, s->c->attr, s->c->len))
		return;
	if (s->out->json) {
		instrument_emit_doubt(s->instruments, s->c->attr, s->c->len, 0, s->out->sink);
	} else if (instrument_doubt(s->instruments, s->c->attr, s->c->len, 0, &why)) {
		buf_adds(show_line(s, "here"), buf_str(&why));
		showing_end(s->out);
	}
	buf_free(&why);
}

void show_outcome(struct buf *out, int error)
{
	if (error)
		error_text(error, out);
	else
		buf_adds(out, "it opens");
}

void show_seen(struct buf *out, const struct judge_call *c)
{
	show_outcome(out, c->error);
	if (c->injected)
		buf_adds(out, " (injected: the kernel was not asked)");
}

static void text_releases(const struct rule_desc *d, struct buf *out)
{
	buf_adds(out, "since Linux ");
	release_since_text(d->since, out);
	if (d->until) {
		buf_adds(out, ", until ");
		release_text(d->until, out);
	}
}

void show_rule(const struct show *s, const struct rule_desc *d)
{
	const struct xlat *x = &xlat_rule_by;
	struct buf *out, words = { 0 };
	const char *sep = "";

	out = show_line(s, "checked");
	text_releases(d, out);
	buf_adds(out, "; decided by ");
	for (size_t i = 0; i < x->n; i++) {
		if (!(d->by & x->entries[i].value))
			continue;
		buf_addf(out, "%s%s", sep, x->entries[i].meaning);
		sep = ", ";
	}
	showing_end(s->out);
	sep = "";
	for (size_t i = 0; i < x->n; i++) {
		size_t before = words.len;

		if (!(d->by & x->entries[i].value))
			continue;
		buf_adds(&words, sep);
		if (show_here(s, x->entries[i].value, &words))
			sep = "; ";
		else if (words.len > before)
			words.data[words.len = before] = '\0';
	}
	if (words.len) {
		out = show_line(s, "here");
		text_escaped(out, buf_str(&words));
		showing_end(s->out);
	}
	buf_free(&words);
}

