// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is shown of a call, as text and as JSON: its line and rules. */
#include <string.h>

#include "core/abi/call_decode.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/model/event_name.h"
#include "verbs/why/why_internal.h"

/* Lines and members of JSON ----------------------------------------------------------- */

void show_heading(const struct show *s, enum text_color color, const char *heading)
{
	text_colored(&s->out->line, s->out->text.color && color != COLOR_NONE, color, heading);
	buf_adds(&s->out->line, ": ");
}

struct buf *show_line(const struct show *s, enum text_color color, const char *heading)
{
	showing_begin(s->out, false);
	buf_adds(&s->out->line, "  ");
	show_heading(s, color, heading);
	return &s->out->line;
}

void show_begin(const struct show *s, const char *key, const char *heading, enum sink_shape shape)
{
	if (s->out->json)
		sink_begin(s->out->sink, key, shape);
	else
		show_line(s, COLOR_NONE, heading);
}

void show_end(const struct show *s)
{
	if (s->out->json)
		sink_end(s->out->sink);
	else
		showing_end(s->out);
}

void show_outcome(const struct show *s, int error)
{
	struct json_text *o = &s->out->object;
	const char *name = error ? error_name(error) : NULL;

	if (!s->out->json && error)
		error_text(error, &s->out->line);
	else if (!s->out->json)
		buf_adds(&s->out->line, "it opens");
	else
		json_add_bool(o, "opens", !error);
	if (s->out->json && error)
		json_add_int(o, "errno", error);
	if (s->out->json && name)
		json_add_string(o, "error", name);
}

void show_add_label(const struct show *s, struct buf *out)
{
	struct buf name = { 0 };

	if (!*s->c->label)
		event_name(s->c->attr, s->c->len, &s->k->machine.names, &name);
	text_escaped(out, *s->c->label ? s->c->label : buf_str(&name));
	buf_free(&name);
}

void show_add_reason(const struct show *s, const struct rule_desc *rule, bool sure, int error)
{
	struct buf *out = &s->out->line, name = { 0 };

	if (rule)
		buf_addf(out, "%s%s (rule %s, ", sure ? "" : "perhaps: ", rule->meaning,
			 rule->name);
	else
		buf_adds(out, "no known rule explains it (");
	if (error_name(error))
		buf_adds(&name, error_name(error));
	else
		buf_addf(&name, "error %d", error);
	text_colored(out, s->out->text.color, COLOR_ERROR, buf_str(&name));
	buf_addc(out, ')');
	buf_free(&name);
}

/* Calls ------------------------------------------------------------------------------- */

/* Return the attr as captured, with the pointers of the call; *len is 0 without one. */
static const uint8_t *captured_attr(const struct call *c, size_t *len)
{
	const uint8_t *bytes = call_bytes(c, AT_SYSCALL_ENTER, c->args[0], WHY_ATTR_MAX, len);

	*len = bytes ? *len : 0;
	return bytes ? bytes : (const uint8_t *)"";
}

struct walk show_walk(const struct show *s, const struct call *c)
{
	struct walk w = {
		.layout = &layout_perf_event_attr, .call = c, .arch = c->arch,
		.names = &s->k->machine.names,
	};

	w.bytes = captured_attr(c, &w.len);
	return w;
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

void show_json_call(const struct show *s, const struct call *c)
{
	struct sink *k = s->out->sink;
	size_t len;
	const uint8_t *bytes = captured_attr(c, &len);

	sink_begin(k, "args", SINK_OBJECT);
	call_args(c, AT_SYSCALL_ENTER, &s->k->machine.names, k);
	sink_end(k);
	json_add_bytes(&s->out->object, "attr_bytes", bytes, len);
}

/* Rules ------------------------------------------------------------------------------- */

void show_rule_members(const struct show *s, const struct rule_desc *d)
{
	struct walk w = show_walk(s, &s->c->call);

	judge_emit_fields(&w, &s->c->call, d, s->k->facts.rules.machine.release, s->out->sink);
}

void show_rule_text(const struct show *s, const struct rule_desc *d)
{
	const struct xlat *x = &xlat_rule_by;
	struct buf *out, words = { 0 };
	const char *sep = "";

	out = show_line(s, COLOR_NONE, "checked");
	buf_adds(out, "since Linux ");
	release_text(release_mainline(d->since), out);
	if (d->until) {
		buf_adds(out, ", until ");
		release_text(d->until, out);
	}
	buf_adds(out, "; decided by ");
	for (size_t i = 0; i < x->n; i++) {
		if (!(d->by & x->entries[i].value))
			continue;
		buf_addf(out, "%s%s", sep, x->entries[i].meaning);
		sep = ", ";
	}
	showing_end(s->out);
	for (size_t i = 0; i < x->n; i++) {
		size_t before = words.len;

		if (!(d->by & x->entries[i].value))
			continue;
		buf_adds(&words, before ? "; " : "");
		if (!here_add(s, x->entries[i].value, &words) && words.len > before)
			words.data[words.len = before] = '\0';
	}
	if (words.len) {
		text_escaped(show_line(s, COLOR_NONE, "here"), buf_str(&words));
		showing_end(s->out);
	}
	buf_free(&words);
}

void show_rule_json(const struct show *s, const struct rule_desc *d)
{
	const struct xlat *x = &xlat_rule_by;
	struct sink *k = s->out->sink;
	struct buf words = { 0 };

	sink_symbol(k, "rule", d->name);
	sink_symbol(k, "meaning", d->meaning);
	sink_begin(k, "fields", SINK_OBJECT);
	show_rule_members(s, d);
	sink_end(k);
	showing_add_release(s->out, "since", d->since);
	showing_add_release(s->out, "until", d->until);
	sink_begin(k, "by", SINK_ARRAY);
	for (size_t i = 0; i < x->n; i++)
		if (d->by & x->entries[i].value)
			sink_symbol(k, NULL, x->entries[i].meaning);
	sink_end(k);
	sink_begin(k, "here", SINK_ARRAY);
	for (size_t i = 0; i < x->n; i++) {
		buf_reset(&words);
		if (d->by & x->entries[i].value && here_add(s, x->entries[i].value, &words))
			sink_symbol(k, NULL, buf_str(&words));
	}
	sink_end(k);
	buf_free(&words);
}

/* What both kinds of answers have ----------------------------------------------------- */

void show_head(const struct show *s)
{
	const struct why_call *c = s->c;

	showing_begin(s->out, false);
	sink_symbol(s->out->sink, "call", c->call.desc->name);
	if (*c->label)
		sink_string(s->out->sink, "label", c->label, strlen(c->label), false);
	show_json_call(s, &c->call);
}

void show_seen(const struct show *s)
{
	unsigned int times = s->times;
	struct sink *k = s->out->sink;

	if (!s->c->from_dump || !s->c->returned)
		return;
	show_begin(s, s->seen ? "command" : "dump", s->seen ? "in the command" : "in the dump",
		   SINK_OBJECT);
	show_outcome(s, s->c->error);
	if (s->out->json) {
		if (s->c->injected)
			sink_uint(k, "injected", 1);
		if (s->seen)
			sink_uint(k, "times", times);
	} else {
		if (s->c->injected)
			buf_adds(&s->out->line, " (injected: the kernel was not asked)");
		if (times > 1)
			buf_addf(&s->out->line, ", %u times", times);
	}
	show_end(s);
}

void show_doubt(const struct show *s)
{
	struct instruments *is = &s->k->instruments;
	struct buf why = { 0 };

	if (s->k->quiet || !instrument_is_hardware(is->host, s->c->attr, s->c->len))
		return;
	if (s->out->json) {
		instrument_emit_doubt(is, s->c->attr, s->c->len, 0, s->out->sink);
	} else if (instrument_doubt(is, s->c->attr, s->c->len, 0, &why)) {
		buf_adds(show_line(s, COLOR_NONE, "here"), buf_str(&why));
		showing_end(s->out);
	}
	buf_free(&why);
}
