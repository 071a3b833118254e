// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is shown of a call, as text and as JSON, from one table for each kind of answer. */
#include <string.h>

#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/lib/hash.h"
#include "verbs/measure/refusal.h"
#include "verbs/why/why_internal.h"
#include "xlat/tables.h"

/* What rows show of the value of a member.  A row is left out where it is absent. */
struct values {
	const char *not_made;	/* why the call was not made, or NULL */
	const char *verdict, *perhaps; /* in one word; the name of a rule, or NULL */
	struct buf not_asked, sentence, stopped; /* empty: absent */
	int kernel, experiments; /* -1: absent */
};

enum unit {
	TEXT,		/* a const char * */
	WORDS,		/* a struct buf */
	OUTCOME,	/* an errno, or 0: it opens */
	COUNT,		/* an int */
	RULES,		/* the rules that the row has */
	OWN,		/* what its writer makes of the call */
};

/* With -q, only those of the first kind are shown; with -v, all. */
enum weight { ALWAYS, MORE, FULL };

/* How one thing that is known of the call is shown. */
struct row {
	const char *key;	/* of the JSON member; NULL: in text only */
	const char *heading;	/* of the line of text; NULL: in JSON only */
	enum unit unit;
	enum weight weight;
	size_t at;		/* in struct values */
	bool (*rule)(const struct rule_verdict *v, size_t i);
	void (*write)(const struct show *s, const struct row *w);
};

/* Begin the line "  heading: ", which showing_end() ends. */
static struct buf *begin_line(const struct show *s, const char *heading)
{
	showing_begin(s->out, false);
	buf_addf(&s->out->line, "  %s: ", heading);
	return &s->out->line;
}

static void outcome_words(struct buf *out, int error)
{
	if (error)
		error_text(error, out);
	else
		buf_adds(out, "it opens");
}

static void json_outcome(const struct show *s, int error)
{
	struct json_text *o = &s->out->object;
	const char *name = error ? error_name(error) : NULL;

	json_add_bool(o, "opens", !error);
	if (error)
		json_add_int(o, "errno", error);
	if (name)
		json_add_string(o, "error", name);
}

/* Show an outcome in the line or object that was begun. */
static void show_outcome(const struct show *s, int error)
{
	if (s->out->json)
		json_outcome(s, error);
	else
		outcome_words(&s->out->line, error);
}

/* Begin what the row has: a line, or an object or array. */
static struct sink *open_row(const struct show *s, const struct row *w, enum sink_shape shape)
{
	if (s->out->json)
		sink_begin(s->out->sink, w->key, shape);
	else
		begin_line(s, w->heading);
	return s->out->sink;
}

static void close_row(const struct show *s)
{
	if (s->out->json)
		sink_end(s->out->sink);
	else
		showing_end(s->out);
}

static void show_rules(const struct show *s, const struct row *w)
{
	const struct rule_verdict *v = &s->answer->judged.rules;
	const char *sep = "";

	if (s->out->json)
		open_row(s, w, SINK_ARRAY);
	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!w->rule(v, i))
			continue;
		if (s->out->json) {
			sink_symbol(s->out->sink, NULL, rule_descs[i].name);
			continue;
		}
		if (!*sep)
			begin_line(s, w->heading);
		buf_addf(&s->out->line, "%s%s", sep, rule_descs[i].name);
		if (w->key) /* not for those that passed */
			buf_addf(&s->out->line, " (%s)", rule_descs[i].meaning);
		sep = ", ";
	}
	if (s->out->json || *sep)
		close_row(s);
}

static void write_text(const struct show *s, const struct row *w, const char *text)
{
	if (!text || !*text)
		return;
	if (s->out->json) {
		sink_symbol(s->out->sink, w->key, text);
	} else {
		buf_adds(begin_line(s, w->heading), text);
		showing_end(s->out);
	}
}

static void write_row(const struct show *s, const struct row *w, const struct values *v)
{
	const void *value = (const char *)v + w->at;
	const int *number = value;

	switch (w->unit) {
	case TEXT:
		write_text(s, w, *(const char *const *)value);
		break;
	case WORDS:
		write_text(s, w, buf_str(value));
		break;
	case OUTCOME:
		if (*number < 0)
			break;
		open_row(s, w, SINK_OBJECT);
		show_outcome(s, *number);
		close_row(s);
		break;
	case COUNT:
		if (*number < 0)
			break;
		if (s->out->json) {
			sink_sint(s->out->sink, w->key, *number);
			break;
		}
		buf_addf(begin_line(s, w->heading), "%d", *number);
		showing_end(s->out);
		break;
	case RULES:
		show_rules(s, w);
		break;
	case OWN:
		w->write(s, w);
		break;
	}
}

/* Rules ----------------------------------------------------------------------------- */

static void text_releases(const struct rule_desc *d, struct buf *out)
{
	buf_adds(out, "since Linux ");
	release_since_text(d->since, out);
	if (d->until) {
		buf_adds(out, ", until ");
		release_text(d->until, out);
	}
}

static void text_rule(const struct show *s, const struct rule_desc *d)
{
	const struct xlat *x = &xlat_rule_by;
	struct buf *out, words = { 0 };
	const char *sep = "";

	out = begin_line(s, "checked");
	text_releases(d, out);
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
		text_escaped(begin_line(s, "here"), buf_str(&words));
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

static void json_rule(const struct show *s, const struct rule_desc *d)
{
	const struct xlat *x = &xlat_rule_by;
	struct sink *k = s->out->sink;
	struct buf words = { 0 };

	sink_symbol(k, "rule", d->name);
	sink_symbol(k, "meaning", d->meaning);
	sink_begin(k, "fields", SINK_OBJECT);
	members_of_rule(s, d);
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

static void write_seen(const struct show *s, const struct row *w)
{
	unsigned int times = s->seen ? s->seen->times : 0;
	const struct row in_command = { .key = "command", .heading = "in the command" };
	struct sink *k = s->out->sink;

	if (!s->c->from_dump || !s->c->returned)
		return;
	open_row(s, times ? &in_command : w, SINK_OBJECT);
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
	close_row(s);
}

/* Return whether the change opens another event, which is no remedy. */
static bool opens_another(const struct show *s)
{
	return s->r->cause.n && s->r->cause.changes[0]->how == CHANGE_KIND;
}

/* Return whether the call opens here, or did after a change that leaves its event the same. */
static bool event_opens(const struct show *s)
{
	const struct cause *c = s->r ? &s->r->cause : NULL;

	if (!c)
		return s->answer->asked && !s->answer->trial.error;
	return !s->again && !s->r->not_tried && (!c->error || (c->n && !opens_another(s)));
}

/* Show that the call is for an event of the hardware, and such events open, but do not count here. */
static void write_doubt(const struct show *s, const struct row *w)
{
	struct instruments *is = &s->k->instruments;
	struct buf why = { 0 };

	if (!event_opens(s) || !instrument_is_hardware(is->host, s->c->attr, s->c->len))
		return;
	if (s->out->json) {
		instrument_emit_doubt(is, s->c->attr, s->c->len, 0, s->out->sink);
	} else if (instrument_doubt(is, s->c->attr, s->c->len, 0, &why)) {
		buf_adds(begin_line(s, w->heading), buf_str(&why));
		showing_end(s->out);
	}
	buf_free(&why);
}

/* Return whether no unknown fact could change the verdict. */
static bool is_sure(const struct show *s)
{
	const struct cause *c = s->r ? &s->r->cause : NULL;

	for (size_t i = 0; c && i < c->nfaults; i++)
		if (c->faults[i].rule && !c->faults[i].sure)
			return false;
	return c || !s->answer->perhaps;
}

static void write_sure(const struct show *s, const struct row *w)
{
	json_add_bool(&s->out->object, w->key, is_sure(s));
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

static void text_predicted(const struct show *s, const struct rule_verdict *v)
{
	struct sink *k = s->out->sink;

	if (rules_assumed(v))
		rules_assumption_text(&s->out->line);
	if (v->rule)
		buf_addf(&s->out->line, ", by rule %s: %s", v->rule->name, v->rule->meaning);
	showing_end(s->out);
	if (v->rule && *v->rule->fields) {
		begin_line(s, "fields");
		sink_begin(k, NULL, SINK_OBJECT);
		members_of_rule(s, v->rule);
		sink_end(k);
		showing_end(s->out);
	}
	if (v->rule && !s->k->quiet)
		text_rule(s, v->rule);
}

static void write_predicted(const struct show *s, const struct row *w)
{
	const struct rule_verdict *v = &s->answer->judged.rules;
	struct sink *k = open_row(s, w, SINK_OBJECT);

	show_outcome(s, v->error);
	if (!s->out->json) {
		text_predicted(s, v);
		return;
	}
	if (v->rule)
		json_rule(s, v->rule);
	if (rules_assumed(v))
		json_release(k, "unless_changed_since", xlat_release);
	sink_end(k);
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

static void values_of_answer(const struct show *s, struct values *v)
{
	static const char *const words[] = {
		[WHY_OPENS] = "opens", [WHY_REFUSED] = "refused",
		[WHY_UNFORESEEN] = "unforeseen", [WHY_STOPPED] = "blocked",
		[WHY_DISAGREEMENT] = "disagreement",
	};
	const struct why_answer *r = s->answer;

	v->kernel = r->asked ? r->trial.error : -1;
	v->not_made = r->not_asked;
	if (!r->asked)
		buf_addf(&v->not_asked, "not asked (%s)", r->not_asked);
	v->verdict = words[r->verdict];
	verdict_words(s, &v->sentence);
	if (r->verdict == WHY_STOPPED)
		refusal_gate_words(&v->stopped, r->trial.error);
	v->perhaps = r->open ? r->open->name : NULL;
}

#define AT(member) .at = offsetof(struct values, member)

static const struct row answer_rows[] = {
	{ "predicted", "predicted", OWN, .write = write_predicted },
	{ "unknown", "not known", RULES, MORE, .rule = is_unknown },
	{ "also", "also refused by", RULES, MORE, .rule = refuses_too },
	{ NULL, "passed", RULES, FULL, .rule = is_passed },
	{ "dump", "in the dump", OWN, .write = write_seen },
	{ "kernel", "kernel", OUTCOME, AT(kernel) },
	{ "not_asked", NULL, TEXT, AT(not_made) },
	{ NULL, "kernel", WORDS, AT(not_asked) },
	{ "verdict", NULL, TEXT, AT(verdict) },
	{ "sure", NULL, OWN, .write = write_sure },
	{ NULL, "verdict", WORDS, AT(sentence) },
	{ "blocked", NULL, WORDS, AT(stopped) },
	{ "perhaps", NULL, TEXT, AT(perhaps) },
	{ "instrument", "here", OWN, MORE, .write = write_doubt },
	{ .key = NULL },
};

/* Results of experiments -------------------------------------------------------------- */

static void text_fault(const struct show *s, size_t at)
{
	const struct cause_fault *f = &s->r->cause.faults[at];
	struct sink *k = s->out->sink;
	struct member_name words[BLAMED];
	size_t n = members_blamed(s, f, words);
	struct buf *out;

	if (at) {
		outcome_words(begin_line(s, "and then"), f->error);
		showing_end(s->out);
	}
	if (f->npast) {
		begin_line(s, "cause");
		sink_begin(k, NULL, SINK_OBJECT);
		for (size_t i = 0; i < n; i++)
			members_emit(s, &s->c->call, words[i].at, words[i].len);
		sink_end(k);
		showing_end(s->out);
	}
	out = begin_line(s, s->again ? "as above" : "because");
	if (f->rule)
		buf_addf(out, "%s%s (rule %s)", f->sure ? "" : "perhaps: ", f->rule->meaning,
			 f->rule->name);
	else
		buf_adds(out, "no known rule explains it");
	showing_end(s->out);
	if (s->again)
		return;
	if (f->rule && !s->k->quiet)
		text_rule(s, f->rule);
	if (f->npast && !opens_another(s)) {
		begin_line(s, "fix");
		members_emit_changes(s, f->past, f->npast, NULL);
		showing_end(s->out);
	}
}

static void json_fault(const struct show *s, const struct cause_fault *f)
{
	struct sink *k = s->out->sink;
	struct member_name words[BLAMED];
	size_t n = members_blamed(s, f, words);
	struct buf name = { 0 };

	sink_begin(k, NULL, SINK_OBJECT);
	json_outcome(s, f->error);
	sink_begin(k, "blame", SINK_ARRAY);
	for (size_t i = 0; i < n; i++) {
		buf_reset(&name);
		buf_add(&name, words[i].at, words[i].len);
		sink_symbol(k, NULL, buf_str(&name));
	}
	sink_end(k);
	buf_free(&name);
	members_emit_changes(s, f->past, f->npast, "helps");
	if (f->rule) {
		json_rule(s, f->rule);
		json_add_bool(&s->out->object, "sure", f->sure);
	}
	sink_end(k);
}

static void write_faults(const struct show *s, const struct row *w)
{
	const struct cause *c = &s->r->cause;

	for (size_t i = 0; !s->out->json && i < c->nfaults; i++)
		text_fault(s, i);
	if (!s->out->json)
		return;
	open_row(s, w, SINK_ARRAY);
	for (size_t i = 0; i < c->nfaults; i++)
		json_fault(s, &c->faults[i]);
	close_row(s);
}

static void write_probe(const struct show *s, const struct row *w)
{
	const struct why_seen *seen = s->seen;
	struct sink *k = s->out->sink;

	if (!seen->instead)
		return;
	open_row(s, w, SINK_OBJECT);
	if (s->out->json) {
		sink_symbol(k, "instead", seen->instead);
		sink_symbol(k, "differs", seen->differs);
	} else {
		text_escaped(&s->out->line, seen->instead);
		buf_addf(&s->out->line, " opened instead; it differs in %s",
			 *seen->differs ? seen->differs : "nothing");
	}
	close_row(s);
}

static void write_change_names(const struct show *s, const struct row *w)
{
	const struct cause *c = &s->r->cause;

	if (!c->n)
		return;
	open_row(s, w, SINK_ARRAY);
	for (size_t i = 0; i < c->n; i++)
		sink_symbol(s->out->sink, NULL, change_name(c->changes[i]));
	close_row(s);
}

static void write_others(const struct show *s, const struct row *w)
{
	const struct cause *c = &s->r->cause;

	if (s->again || !c->n || !(s->out->json || c->nothers))
		return;
	open_row(s, w, SINK_ARRAY);
	for (size_t i = 0; i < c->nothers; i++) {
		if (!s->out->json) {
			buf_adds(&s->out->line, i ? " " : "");
			text_sink_top(&s->out->text, true, NULL);
		}
		members_emit_changes(s, &c->others[i], 1, NULL);
	}
	close_row(s);
}

static void write_block(const struct show *s, const struct row *w, enum why_block b)
{
	struct sink *k = s->out->sink;
	struct buf words = { 0 };
	const char *name = here_add_block(s, b, &words);

	if (s->out->json) {
		sink_begin(k, NULL, SINK_OBJECT);
		sink_symbol(k, "by", name);
		sink_symbol(k, "words", buf_str(&words));
		sink_end(k);
	} else {
		text_escaped(begin_line(s, w->heading), buf_str(&words));
		showing_end(s->out);
	}
	buf_free(&words);
}

static void write_blocks(const struct show *s, const struct row *w)
{
	if (s->again)
		return;
	if (s->out->json)
		open_row(s, w, SINK_ARRAY);
	for (enum why_block b = 0; b < BLOCKS; b++)
		if (s->r->blocked[b])
			write_block(s, w, b);
	if (s->out->json)
		close_row(s);
}

static void write_works(const struct show *s, const struct row *w)
{
	struct call nearest;

	if (s->again || !s->r->cause.n)
		return;
	members_make_call(s, &s->r->nearest, &nearest);
	if (s->out->json) {
		open_row(s, w, SINK_OBJECT);
		members_json_call(s, &nearest);
		close_row(s);
	} else {
		members_show_call(s, opens_another(s) ? "  another event opens" : w->heading,
				  &nearest, 0);
	}
	call_free(&nearest);
}

static void result_words(const struct show *s, struct buf *out)
{
	const struct why_result *r = s->r;

	if (r->not_tried)
		buf_addf(out, "cannot be tried here: %s", r->not_tried);
	else if (!r->cause.error)
		buf_adds(out, "the call opens here");
	else if (!r->cause.n && r->simplest)
		buf_adds(out, "even the simplest call is refused: no change was tried");
	else if (!r->cause.n)
		buf_adds(out, "no change opens it");
	else
		buf_addf(out, "%s%s", is_sure(s) ? "" : "perhaps ",
			 r->cause.nfaults > 1 ? "several causes were found" :
						"the cause was found");
	if (r->there)
		buf_addf(out, "; there, it may have been rule %s: %s", r->there->name,
			 r->there->meaning);
	if (r->cause.gave_up && !r->cause.n)
		buf_adds(out, "; the limit of experiments was reached");
}

static void values_of_result(const struct show *s, struct values *v)
{
	const struct why_result *r = s->r;

	v->kernel = r->not_tried ? -1 : r->cause.error;
	v->not_made = r->not_tried;
	v->verdict = r->not_tried ? "not_tried" : !r->cause.error ? "opens" :
		     r->cause.n ? "cause" : r->found ? "blocked" : "not_found";
	if (!s->again)
		result_words(s, &v->sentence);
	v->perhaps = r->there ? r->there->name : NULL;
	v->experiments = s->again ? -1 : (int)r->cause.trials;
}

static const struct row result_rows[] = {
	{ "dump", "in the dump", OWN, .write = write_seen },
	{ "probe", "a probe", OWN, .write = write_probe },
	{ "kernel", NULL, OUTCOME, AT(kernel) },
	{ "not_tried", NULL, TEXT, AT(not_made) },
	{ "faults", "cause", OWN, .write = write_faults },
	{ "changes", NULL, OWN, .write = write_change_names },
	{ "others", "or one of", OWN, MORE, .write = write_others },
	{ "blocked", "blocked by", OWN, .write = write_blocks },
	{ "verdict", NULL, TEXT, AT(verdict) },
	{ "sure", NULL, OWN, .write = write_sure },
	{ NULL, "verdict", WORDS, AT(sentence) },
	{ "perhaps", NULL, TEXT, AT(perhaps) },
	{ "works", "  works", OWN, MORE, .write = write_works },
	{ "instrument", "here", OWN, MORE, .write = write_doubt },
	{ "experiments", "experiments", COUNT, MORE, AT(experiments) },
	{ .key = NULL },
};

/* Return whether another call of the command was refused for the same causes. */
static bool was_told(const struct show *s)
{
	const struct cause *c = &s->r->cause;
	uint64_t h = HASH_START;

	if (!s->seen->told || !c->n)
		return false;
	for (size_t i = 0; i < c->nfaults; i++) {
		const struct cause_fault *f = &c->faults[i];

		h = hash_text(h, f->rule ? f->rule->name : "?");
		for (size_t k = 0; k < f->npast; k++)
			h = hash_text(h, change_name(f->past[k]));
	}
	return map_set(s->seen->told, h, s->seen->told);
}

static void show_head(struct show *s)
{
	const struct why_call *c = s->c;
	struct sink *k;

	if (!s->out->json) {
		s->again = s->r && was_told(s);
		members_show_call(s, c->label, &c->call, (int)c->call.ret);
		return;
	}
	showing_begin(s->out, false);
	k = s->out->sink;
	sink_symbol(k, "call", c->call.desc->name);
	if (*c->label)
		sink_string(k, "label", c->label, strlen(c->label), false);
	members_json_call(s, &c->call);
}

void why_show(struct show *s)
{
	enum weight most = s->k->quiet ? ALWAYS : s->out->text.sink.full ? FULL : MORE;
	const struct row *w = s->answer ? answer_rows : result_rows;
	struct values v = { .kernel = -1, .experiments = -1 };

	show_head(s);
	if (s->answer)
		values_of_answer(s, &v);
	else
		values_of_result(s, &v);
	for (; w->key || w->heading; w++)
		if (w->weight <= most && (s->out->json ? w->key : w->heading))
			write_row(s, w, &v);
	if (s->out->json)
		showing_end(s->out);
	buf_free(&v.not_asked);
	buf_free(&v.sentence);
	buf_free(&v.stopped);
}
