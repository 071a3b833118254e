// SPDX-License-Identifier: LGPL-2.1-or-later
/* The result of pevtrace check as text or JSON. */
#include "verbs/check/check.h"

#include "verbs/judge/judge_show.h"
#include "verbs/measure/refusal.h"
#include "xlat/tables.h"

struct checked {
	struct show show;
	const struct judge_call *c;
	const struct judge_result *r;
};

/* Text ---------------------------------------------------------------------------- */

static void check_text_fields(const struct checked *k, const struct rule_desc *d)
{
	if (!*d->fields)
		return;
	show_line(&k->show, "fields");
	k->show.out->sink->ops->begin(k->show.out->sink, NULL, SINK_OBJECT);
	show_fields(&k->show, d, k->show.out->sink);
	k->show.out->sink->ops->end(k->show.out->sink);
	showing_end(k->show.out);
}

/* Name the rules with the same result, except the one that decides. */
static void check_text_rules(const struct checked *k, const char *head, int says, bool before)
{
	struct buf *out = NULL;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		const struct rule_desc *d = &rule_descs[i];
		bool it = says == RULE_REFUSES ? k->r->judged.says[i] == says ||
						 k->r->judged.says[i] > 0 :
						 k->r->judged.says[i] == says;

		if (before && d == k->r->judged.rule)
			break;
		if (!it || d == k->r->judged.rule)
			continue;
		if (out)
			buf_adds(out, ", ");
		else
			out = show_line(&k->show, head);
		buf_adds(out, d->name);
		if (says != RULE_PASSES)
			buf_addf(out, " (%s)", d->meaning);
	}
	if (out)
		showing_end(k->show.out);
}

static void check_text_verdict(const struct checked *k)
{
	const struct judge_result *r = k->r;
	struct buf *out = show_line(&k->show, "verdict");

	switch (r->verdict) {
	case JUDGE_OPENS:
	case JUDGE_REFUSED:
		buf_addf(out, "%s%s", r->verdict == JUDGE_OPENS ? "opens" : "refused",
			 r->asked ? ", as predicted" : ", by the rules only");
		break;
	case JUDGE_UNFORESEEN:
		if (r->open == r->judged.rule) {
			buf_addf(out, "not as predicted: this kernel is newer than the tables, "
				 "and rule %s does not hold any more", r->open->name);
			break;
		}
		buf_addf(out, "refused%s, for a reason unknown %s: perhaps rule %s: %s",
			 r->asked ? "" : " in the dump", r->asked ? "in advance" : "here",
			 r->open->name, r->open->meaning);
		break;
	case JUDGE_BLOCKED:
		buf_adds(out, "blocked: ");
		refusal_gate_words(out, r->trial.error);
		break;
	case JUDGE_DISAGREEMENT:
		text_colored(out, k->show.out->text.color, COLOR_ERROR, "DISAGREEMENT");
		buf_adds(out, ": the rules are wrong about this kernel, or a seccomp filter "
			      "or the like answered");
		break;
	}
	showing_end(k->show.out);
}

static void check_text(const struct checked *k)
{
	const struct rule_desc *d = k->r->judged.rule;
	struct buf *out;

	show_call(&k->show, k->c->label, &k->c->call,
		  k->r->asked ? k->r->trial.error : k->r->judged.error);
	out = show_line(&k->show, "predicted");
	show_outcome(out, k->r->judged.error);
	if (rules_assumed(&k->r->judged))
		rules_assumption_text(out);
	if (d)
		buf_addf(out, ", by rule %s: %s", d->name, d->meaning);
	showing_end(k->show.out);
	if (d) {
		check_text_fields(k, d);
		show_rule(&k->show, d);
	}
	check_text_rules(k, "not known", RULE_UNKNOWN, true);
	check_text_rules(k, "also refused by", RULE_REFUSES, false);
	if (k->show.out->text.sink.full)
		check_text_rules(k, "passed", RULE_PASSES, true);
	if (k->c->from_dump && k->c->returned) {
		out = show_line(&k->show, "in the dump");
		show_seen(out, k->c);
		showing_end(k->show.out);
	}
	out = show_line(&k->show, "kernel");
	if (k->r->asked)
		show_outcome(out, k->r->trial.error);
	else
		buf_addf(out, "not asked (%s)", k->r->not_asked);
	showing_end(k->show.out);
	check_text_verdict(k);
	if (k->r->asked && !k->r->trial.error)
		show_doubt(&k->show);
}

/* JSON ---------------------------------------------------------------------------- */

static const char *const verdict_words[] = {
	[JUDGE_OPENS] = "opens", [JUDGE_REFUSED] = "refused",
	[JUDGE_UNFORESEEN] = "unforeseen", [JUDGE_BLOCKED] = "blocked",
	[JUDGE_DISAGREEMENT] = "disagreement",
};

static void check_json_rules(const struct checked *k, struct sink *s, const char *key,
			     bool refusing)
{
	s->ops->begin(s, key, SINK_ARRAY);
	for (size_t i = 0; i < RULE_COUNT; i++) {
		int says = k->r->judged.says[i];
		bool it = refusing ? says == RULE_REFUSES || says > 0 : says == RULE_UNKNOWN;

		if (&rule_descs[i] == k->r->judged.rule && !refusing)
			break;
		if (it && &rule_descs[i] != k->r->judged.rule)
			s->ops->symbol(s, NULL, rule_descs[i].name);
	}
	s->ops->end(s);
}

static void check_json(const struct checked *k)
{
	struct sink *s = show_json_begin(&k->show);

	s->ops->begin(s, "predicted", SINK_OBJECT);
	show_json_outcome(&k->show, k->r->judged.error);
	if (k->r->judged.rule)
		show_json_rule(&k->show, k->r->judged.rule, s);
	if (rules_assumed(&k->r->judged))
		show_json_release(s, "unless_changed_since", xlat_release);
	s->ops->end(s);
	check_json_rules(k, s, "also", true);
	check_json_rules(k, s, "unknown", false);
	if (k->c->from_dump && k->c->returned) {
		s->ops->begin(s, "dump", SINK_OBJECT);
		show_json_outcome(&k->show, k->c->error);
		if (k->c->injected)
			s->ops->uint(s, "injected", 1);
		s->ops->end(s);
	}
	if (k->r->asked) {
		s->ops->begin(s, "kernel", SINK_OBJECT);
		show_json_outcome(&k->show, k->r->trial.error);
		s->ops->end(s);
	} else {
		s->ops->symbol(s, "not_asked", k->r->not_asked);
	}
	s->ops->symbol(s, "verdict", verdict_words[k->r->verdict]);
	if (k->r->verdict == JUDGE_BLOCKED) {
		struct buf words = { 0 };

		refusal_gate_words(&words, k->r->trial.error);
		s->ops->symbol(s, "blocked", buf_str(&words));
		buf_free(&words);
	}
	if (k->r->open)
		s->ops->symbol(s, "perhaps", k->r->open->name);
	if (k->r->asked && !k->r->trial.error)
		show_doubt(&k->show);
	showing_end(k->show.out);
}

void check_show(struct judge *k, const struct judge_call *c, const struct judge_result *r)
{
	const struct checked checked = {
		.show = { &k->out, &k->machine, &k->facts, c, &k->instruments }, .c = c, .r = r,
	};

	if (k->out.json)
		check_json(&checked);
	else
		check_text(&checked);
}
