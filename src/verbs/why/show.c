// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is shown of a call, as text and as JSON: its line, rules, and what the rules answer. */
#include <string.h>

#include "core/abi/call_decode.h"
#include "core/abi/layout.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/model/event_name.h"
#include "verbs/measure/refusal.h"
#include "verbs/why/why_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Lines and members of JSON ----------------------------------------------------------- */

struct buf *show_line(const struct show *s, const char *heading)
{
	showing_begin(s->out, false);
	buf_addf(&s->out->line, "  %s: ", heading);
	return &s->out->line;
}

void show_begin(const struct show *s, const char *key, const char *heading, enum sink_shape shape)
{
	if (s->out->json)
		sink_begin(s->out->sink, key, shape);
	else
		show_line(s, heading);
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

/* Write the members and arguments that a rule checks. */
static void rule_members(const struct show *s, const struct rule_desc *d)
{
	struct walk w = show_walk(s, &s->c->call);

	judge_emit_fields(&w, &s->c->call, d, s->k->facts.rules.machine.release, s->out->sink);
}

void show_rule_text(const struct show *s, const struct rule_desc *d)
{
	const struct xlat *x = &xlat_rule_by;
	struct buf *out, words = { 0 };
	const char *sep = "";

	out = show_line(s, "checked");
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
		text_escaped(show_line(s, "here"), buf_str(&words));
		showing_end(s->out);
	}
	buf_free(&words);
}

static void json_release(struct sink *k, const char *key, uint32_t release)
{
	struct buf text = { 0 };

	if (!release)
		return;
	release_text(release, &text);
	sink_symbol(k, key, buf_str(&text));
	buf_free(&text);
}

void show_rule_json(const struct show *s, const struct rule_desc *d)
{
	const struct xlat *x = &xlat_rule_by;
	struct sink *k = s->out->sink;
	struct buf words = { 0 };

	sink_symbol(k, "rule", d->name);
	sink_symbol(k, "meaning", d->meaning);
	sink_begin(k, "fields", SINK_OBJECT);
	rule_members(s, d);
	sink_end(k);
	json_release(k, "since", d->since);
	json_release(k, "until", d->until);
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
	unsigned int times = s->seen ? s->seen->times : 0;
	struct sink *k = s->out->sink;

	if (!s->c->from_dump || !s->c->returned)
		return;
	show_begin(s, times ? "command" : "dump", times ? "in the command" : "in the dump",
		   SINK_OBJECT);
	show_outcome(s, s->c->error);
	if (s->out->json) {
		if (s->c->injected)
			sink_uint(k, "injected", 1);
		if (times)
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
		buf_adds(show_line(s, "here"), buf_str(&why));
		showing_end(s->out);
	}
	buf_free(&why);
}

/* Answers by the rules ---------------------------------------------------------------- */

static bool is_before(const struct rule_verdict *v, size_t i)
{
	return !v->rule || i < v->rule->id;
}

static bool is_unknown(const struct rule_verdict *v, size_t i)
{
	return v->says[i] == RULE_UNKNOWN && is_before(v, i);
}

static bool refuses_too(const struct rule_verdict *v, size_t i)
{
	return judge_refuses(v, i) && &rule_descs[i] != v->rule;
}

static bool is_passed(const struct rule_verdict *v, size_t i)
{
	return v->says[i] == RULE_PASSES && is_before(v, i);
}

/* Show the rules to which that applies; with their meanings, unless key is NULL. */
static void show_rules(const struct show *s, const char *key, const char *heading,
		       bool (*applies)(const struct rule_verdict *v, size_t i))
{
	struct buf *out;
	size_t n = 0;

	if (s->out->json)
		sink_begin(s->out->sink, key, SINK_ARRAY);
	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!applies(&s->answer->judged.rules, i))
			continue;
		if (s->out->json) {
			sink_symbol(s->out->sink, NULL, rule_descs[i].name);
			continue;
		}
		out = n ? &s->out->line : show_line(s, heading);
		buf_addf(out, "%s%s", n++ ? ", " : "", rule_descs[i].name);
		if (key)
			buf_addf(out, " (%s)", rule_descs[i].meaning);
	}
	if (s->out->json || n)
		show_end(s);
}

/* Say why the rules cannot tell that the call opens. */
static void perhaps_words(const struct show *s, struct buf *out)
{
	const char *sep = "";

	buf_adds(out, "perhaps opens: ");
	if (here_add_unread(s, out))
		return;
	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!is_unknown(&s->answer->judged.rules, i))
			continue;
		buf_addf(out, "%s%s", sep, rule_descs[i].name);
		sep = ", ";
	}
	buf_adds(out, " cannot be judged in advance");
}

static void verdict_words(const struct show *s, struct buf *out)
{
	const struct why_answer *r = s->answer;

	switch (r->verdict) {
	case WHY_OPENS:
	case WHY_REFUSED:
		if (r->perhaps) {
			perhaps_words(s, out);
			break;
		}
		buf_addf(out, "%s%s", r->verdict == WHY_OPENS ? "opens" : "refused",
			 r->asked ? ", as predicted" : ", by the rules only");
		break;
	case WHY_UNFORESEEN:
		if (r->open == r->judged.rules.rule) {
			buf_addf(out, "not as predicted: this kernel is newer than the tables, "
				 "and rule %s does not hold any more", r->open->name);
			break;
		}
		buf_addf(out, "refused%s, for a reason unknown %s: perhaps rule %s: %s",
			 r->asked ? "" : " in the dump", r->asked ? "in advance" : "here",
			 r->open->name, r->open->meaning);
		break;
	case WHY_STOPPED:
		buf_adds(out, "blocked: ");
		refusal_gate_words(out, r->trial.error);
		break;
	case WHY_DISAGREEMENT:
		text_colored(out, s->out->text.color, COLOR_ERROR, "DISAGREEMENT");
		buf_adds(out, ": the rules are wrong about this kernel, or a seccomp filter "
			      "or the like answered");
		break;
	}
}

/* Show the members that the rule checks, and the reason, after what is in the line. */
static void text_cause(const struct show *s)
{
	const struct rule_verdict *v = &s->answer->judged.rules;

	buf_adds(&s->out->line, "cause: ");
	if (*v->rule->fields) {
		sink_begin(s->out->sink, NULL, SINK_OBJECT);
		rule_members(s, v->rule);
		sink_end(s->out->sink);
		buf_adds(&s->out->line, ": ");
	}
	show_add_reason(s, v->rule, true, v->error);
	if (rules_assumed(v))
		rules_assumption_text(&s->out->line);
	showing_end(s->out);
	verdict_words(s, show_line(s, "verdict"));
	showing_end(s->out);
}

/* Show what the answer rests on: the call, the rules that were asked, and the kernel. */
static void text_grounds(const struct show *s)
{
	const struct why_answer *r = s->answer;

	show_call(s, "  asked", &s->c->call, (int)s->c->call.ret);
	if (r->judged.rules.rule)
		show_rule_text(s, r->judged.rules.rule);
	show_rules(s, NULL, "passed", is_passed);
	if (r->asked) {
		show_line(s, "kernel");
		show_outcome(s, r->trial.error);
		showing_end(s->out);
	}
}

static void text_answer(const struct show *s)
{
	const struct why_answer *r = s->answer;
	const struct rule_verdict *v = &r->judged.rules;

	showing_begin(s->out, false);
	show_add_label(s, &s->out->line);
	buf_adds(&s->out->line, ": ");
	if (r->verdict == WHY_REFUSED && v->rule) {
		text_cause(s);
	} else {
		verdict_words(s, &s->out->line);
		showing_end(s->out);
	}
	if (r->verdict != WHY_OPENS && (r->verdict != WHY_REFUSED || !v->rule)) {
		/* what the rules say, as the kernel did not do that */
		show_line(s, "predicted");
		show_outcome(s, v->error);
		if (rules_assumed(v))
			rules_assumption_text(&s->out->line);
		if (v->rule)
			buf_addf(&s->out->line, ", by rule %s: %s", v->rule->name,
				 v->rule->meaning);
		showing_end(s->out);
	}
	if (!s->k->quiet) {
		show_rules(s, "unknown", "not known", is_unknown);
		show_rules(s, "also", "also refused by", refuses_too);
	}
	show_seen(s);
	if (!r->asked && !s->k->rules_only) {
		buf_addf(show_line(s, "kernel"), "not asked (%s)", r->not_asked);
		showing_end(s->out);
	}
	if (!s->k->quiet && s->out->text.sink.full)
		text_grounds(s);
}

static void json_answer(const struct show *s)
{
	static const char *const words[] = {
		[WHY_OPENS] = "opens", [WHY_REFUSED] = "refused",
		[WHY_UNFORESEEN] = "unforeseen", [WHY_STOPPED] = "blocked",
		[WHY_DISAGREEMENT] = "disagreement",
	};
	const struct why_answer *r = s->answer;
	const struct rule_verdict *v = &r->judged.rules;
	struct buf stopped = { 0 };
	struct sink *k;

	show_head(s);
	k = s->out->sink;
	sink_begin(k, "predicted", SINK_OBJECT);
	show_outcome(s, v->error);
	if (v->rule)
		show_rule_json(s, v->rule);
	if (rules_assumed(v))
		json_release(k, "unless_changed_since", xlat_release);
	sink_end(k);
	if (!s->k->quiet) {
		show_rules(s, "unknown", NULL, is_unknown);
		show_rules(s, "also", NULL, refuses_too);
	}
	show_seen(s);
	if (r->asked) {
		sink_begin(k, "kernel", SINK_OBJECT);
		show_outcome(s, r->trial.error);
		sink_end(k);
	} else {
		sink_symbol(k, "not_asked", r->not_asked);
	}
	sink_symbol(k, "verdict", words[r->verdict]);
	json_add_bool(&s->out->object, "sure", !r->perhaps);
	if (r->verdict == WHY_STOPPED) {
		refusal_gate_words(&stopped, r->trial.error);
		sink_symbol(k, "blocked", buf_str(&stopped));
		buf_free(&stopped);
	}
	if (r->open)
		sink_symbol(k, "perhaps", r->open->name);
}

void show_answer(const struct show *s)
{
	if (s->out->json)
		json_answer(s);
	else
		text_answer(s);
	if (s->answer->asked && !s->answer->trial.error)
		show_doubt(s);
	if (s->out->json)
		showing_end(s->out);
}
