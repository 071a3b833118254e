// SPDX-License-Identifier: LGPL-2.1-or-later
/* What pevtrace check says: the call as in a trace, and why it ended so. */
#include <string.h>

#include "abi/attr_member.h"
#include "abi/call_decode.h"
#include "abi/layout.h"
#include "abi/layout_emit.h"
#include "cmd/check/check_show.h"
#include "measure/refusal.h"
#include "abi/siginfo.h"
#include "xlat/tables.h"

/* What became of it, as the call's line says it: the kernel's word goes first. */
static int result(const struct check_result *r)
{
	return r->asked ? r->trial.error : r->judged.error;
}

/* What a rule is about ------------------------------------------------------------ */

const uint8_t *show_attr(const struct call *c, size_t *len)
{
	const uint8_t *bytes = call_bytes(c, AT_SYSCALL_ENTER, c->args[0], CHECK_ATTR_MAX, len);

	*len = bytes ? *len : 0;
	return bytes ? bytes : (const uint8_t *)"";
}

/* What is wrong with it is how much lies there: it is the same address before and after. */
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

/* Those that are set and that this release does not have; false: none. */
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
		buf_adds(&error, "a descriptor");
	text_colored(out, e && s->out->text.color, COLOR_ERROR, buf_str(&error));
	call_result_notes(c, &s->machine->names, s->out->sink);
	buf_free(&error);
	showing_end(s->out);
}

void show_outcome(struct buf *out, int error)
{
	if (error)
		error_text(error, out);
	else
		buf_adds(out, "it opens");
}

void show_seen(struct buf *out, const struct check_call *c)
{
	show_outcome(out, c->error);
	if (c->injected)
		buf_adds(out, " (injected: the kernel was not asked)");
}

static void text_releases(const struct rule_desc *d, struct buf *out)
{
	buf_adds(out, "since Linux ");
	release_text(d->since, out);
	if (d->until) {
		buf_adds(out, ", until ");
		release_text(d->until, out);
	}
}

static void text_fields(const struct show *s, const struct rule_desc *d)
{
	if (!*d->fields)
		return;
	show_line(s, "fields");
	s->out->sink->ops->begin(s->out->sink, NULL, SINK_OBJECT);
	show_fields(s, d, s->out->sink);
	s->out->sink->ops->end(s->out->sink);
	showing_end(s->out);
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

/* Rules that say the same, by name; the one that decides has its own lines. */
static void text_rules(const struct show *s, const char *head, int says, bool before)
{
	struct buf *out = NULL;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		const struct rule_desc *d = &rule_descs[i];
		bool it = says == RULE_REFUSES ? s->r->judged.says[i] == says ||
						 s->r->judged.says[i] > 0 :
						 s->r->judged.says[i] == says;

		if (before && d == s->r->judged.rule)
			break;
		if (!it || d == s->r->judged.rule)
			continue;
		if (out)
			buf_adds(out, ", ");
		else
			out = show_line(s, head);
		buf_adds(out, d->name);
		if (says != RULE_PASSES)
			buf_addf(out, " (%s)", d->meaning);
	}
	if (out)
		showing_end(s->out);
}

static void text_verdict(const struct show *s)
{
	const struct check_result *r = s->r;
	struct buf *out = show_line(s, "verdict");

	switch (r->verdict) {
	case CHECK_OPENS:
	case CHECK_REFUSED:
		buf_addf(out, "%s%s", r->verdict == CHECK_OPENS ? "opens" : "refused",
			 r->asked ? ", as predicted" : ", by the rules alone");
		break;
	case CHECK_UNFORESEEN:
		buf_addf(out, "refused, by what could not be known: perhaps rule %s: %s",
			 r->open->name, r->open->meaning);
		break;
	case CHECK_BLOCKED:
		buf_adds(out, "blocked, whatever the rules say: ");
		refusal_gate_words(out, r->trial.error);
		break;
	case CHECK_DISAGREEMENT:
		text_colored(out, s->out->text.color, COLOR_ERROR, "DISAGREEMENT");
		buf_adds(out, ": the rules are wrong about this kernel, or something that "
			      "they do not know of, such as a seccomp filter, has answered");
		break;
	}
	showing_end(s->out);
}

static void show_text(const struct show *s)
{
	const struct rule_desc *d = s->r->judged.rule;
	struct buf *out;

	show_call(s, s->c->label, &s->c->call, result(s->r));
	out = show_line(s, "predicted");
	show_outcome(out, s->r->judged.error);
	if (d)
		buf_addf(out, ", by rule %s: %s", d->name, d->meaning);
	showing_end(s->out);
	if (d) {
		text_fields(s, d);
		show_rule(s, d);
	}
	text_rules(s, "not known", RULE_UNKNOWN, true);
	text_rules(s, "also refused by", RULE_REFUSES, false);
	if (s->out->text.sink.full)
		text_rules(s, "passed", RULE_PASSES, true);
	if (s->c->from_dump && s->c->returned) {
		out = show_line(s, "in the dump");
		show_seen(out, s->c);
		showing_end(s->out);
	}
	out = show_line(s, "kernel");
	if (s->r->asked)
		show_outcome(out, s->r->trial.error);
	else
		buf_addf(out, "not asked (%s)", s->r->not_asked);
	showing_end(s->out);
	text_verdict(s);
}

void check_show(struct showing *out, const struct machine *machine,
		const struct facts *facts, const struct check_call *c,
		const struct check_result *r)
{
	const struct show s = { out, machine, facts, c, r };

	if (out->json)
		show_json_check(&s);
	else
		show_text(&s);
}
