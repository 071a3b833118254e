// SPDX-License-Identifier: LGPL-2.1-or-later
/* How the answer by the rules, and by one trial, is shown. */
#include "verbs/measure/refusal.h"
#include "verbs/why/why_internal.h"

/* Return whether a rule says that, before the decisive one, or refuses the call beside it. */
static bool says(const struct rule_verdict *v, size_t i, int what)
{
	return what == RULE_REFUSES ? judge_refuses(v, i) && &rule_descs[i] != v->rule :
	       v->says[i] == what && (!v->rule || i < v->rule->id);
}

/* Show the rules that say that; with their meanings, unless key is NULL. */
static void show_rules(const struct show *s, const char *key, const char *heading, int what)
{
	struct buf *out;
	size_t n = 0;

	if (s->out->json)
		sink_begin(s->out->sink, key, SINK_ARRAY);
	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!says(&s->answer->judged.rules, i, what))
			continue;
		if (s->out->json) {
			sink_symbol(s->out->sink, NULL, rule_descs[i].name);
			continue;
		}
		out = n ? &s->out->line : show_line(s, COLOR_NONE, heading);
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
		if (!says(&s->answer->judged.rules, i, RULE_UNKNOWN))
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
		if (r->open == r->judged.rules.rule)
			buf_addf(out, "not as predicted: this kernel is newer than the tables, "
				 "and rule %s does not hold any more", r->open->name);
		else
			buf_addf(out, "refused%s, for a reason unknown %s",
				 r->asked ? "" : " in the dump", r->asked ? "in advance" : "here");
		break;
	case WHY_STOPPED:
		buf_adds(out, "blocked");
		break;
	case WHY_DISAGREEMENT:
		text_colored(out, s->out->text.color, COLOR_ERROR, "DISAGREEMENT");
		buf_adds(out, ": the rules are wrong about this kernel, or a seccomp filter "
			      "or the like answered");
		break;
	}
}

/* Show the members that the rule checks, and the reason, after what is in the line. */
static void text_cause(const struct show *s, const struct rule_desc *rule)
{
	const struct why_answer *r = s->answer;
	const struct rule_verdict *v = &r->judged.rules;

	if (r->verdict == WHY_STOPPED) {
		show_heading(s, COLOR_ERROR, "cause");
		refusal_gate_words(&s->out->line, r->trial.error);
	} else {
		show_add_cause(s, rule, r->verdict == WHY_REFUSED,
			       (int)s->c->call.ret ?: s->c->error);
	}
	if (r->verdict == WHY_REFUSED && rules_assumed(v))
		rules_assumption_text(&s->out->line);
	showing_end(s->out);
	if (s->r) {
		show_fix(s);
		show_blocks(s);
	} else if (rule && rule == s->c->there) {
		show_remedy(s, rule);
	}
	verdict_words(s, show_line(s, COLOR_NONE, "verdict"));
	showing_end(s->out);
}

/* Show what the answer rests on: the call, the rules that were asked, and the kernel. */
static void text_grounds(const struct show *s)
{
	const struct why_answer *r = s->answer;

	show_call(s, "  asked", &s->c->call, (int)s->c->call.ret);
	if (r->judged.rules.rule)
		show_rule_text(s, r->judged.rules.rule);
	show_rules(s, NULL, "passed", RULE_PASSES);
	if (r->asked) {
		show_line(s, COLOR_NONE, "kernel");
		show_outcome(s, r->trial.error);
		showing_end(s->out);
	}
}

static void text_answer(const struct show *s)
{
	const struct why_answer *r = s->answer;
	const struct rule_verdict *v = &r->judged.rules;
	bool refused;

	showing_begin(s->out, false);
	show_add_label(s, &s->out->line);
	buf_adds(&s->out->line, ": ");
	refused = r->verdict != WHY_OPENS && (!r->asked || r->trial.error);
	if (refused) {
		text_cause(s, r->verdict == WHY_UNFORESEEN ? r->open :
			      r->verdict == WHY_REFUSED ? v->rule : NULL);
	} else {
		verdict_words(s, &s->out->line);
		showing_end(s->out);
	}
	if (r->verdict != WHY_OPENS && (r->verdict != WHY_REFUSED || !v->rule)) {
		/* what the rules say, as the kernel did not do that */
		show_line(s, COLOR_NONE, "predicted");
		show_outcome(s, v->error);
		if (rules_assumed(v))
			rules_assumption_text(&s->out->line);
		if (v->rule)
			buf_addf(&s->out->line, ", by rule %s: %s", v->rule->name,
				 v->rule->meaning);
		showing_end(s->out);
	}
	if (!s->k->quiet) {
		show_rules(s, "unknown", "not known", RULE_UNKNOWN);
		show_rules(s, "also", "also refused by", RULE_REFUSES);
		show_with_pmu(s);
	}
	show_seen(s);
	if (!r->asked && !s->k->rules_only) {
		buf_addf(show_line(s, COLOR_NONE, "kernel"), "not asked (%s)", r->not_asked);
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
		showing_add_release(s->out, "unless_changed_since", xlat_release);
	sink_end(k);
	if (!s->k->quiet) {
		show_rules(s, "unknown", NULL, RULE_UNKNOWN);
		show_rules(s, "also", NULL, RULE_REFUSES);
		show_with_pmu(s);
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
