// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of features, as text or as JSON, without what differs from run to run. */
#include <inttypes.h>
#include <string.h>

#include "core/abi/strings.h"
#include "verbs/list/features.h"
#include "xlat/tables.h"

static const char *const feature_results[FEATURE_RESULTS] = {
	[FEATURE_UNTRIED] = "untried", [FEATURE_NO] = "no",
	[FEATURE_ACCEPTED] = "accepted", [FEATURE_DEAD] = "dead",
	[FEATURE_YES] = "yes",
};

static const enum text_color result_colors[FEATURE_RESULTS] = {
	[FEATURE_UNTRIED] = COLOR_NOTE, [FEATURE_NO] = COLOR_ERROR,
	[FEATURE_ACCEPTED] = COLOR_NOTE, [FEATURE_DEAD] = COLOR_ERROR,
	[FEATURE_YES] = COLOR_STRING,
};

/* Reasons ----------------------------------------------------------------------------- */

/* Return whether this kernel does not know the feature. */
static bool unknown_here(const struct feature *f)
{
	return f->result == FEATURE_NO && f->known == FACT_NO;
}

static void reason(const struct feature *f, struct buf *out)
{
	const char *name = f->error ? error_name(f->error) : NULL;

	if (f->error)
		buf_addf(out, "%s%s%s", name ? name : "an error", f->on ? " on " : "",
			 f->on ? f->on : "");
	else if (f->on)
		buf_addf(out, "on %s", f->on);
	if (unknown_here(f) && f->error)
		buf_adds(out, ": this kernel does not know it");
	else if (f->rule)
		buf_addf(out, ", %sby rule %s: %s", f->sure ? "" : "perhaps ", f->rule->name,
			 f->rule->meaning);
	if (f->why.len)
		buf_addf(out, "%s%s", out->len ? ": " : "", buf_str(&f->why));
}

/* Return the release that brought a feature: of an update only where that series runs. */
static uint32_t shown_since(const struct features *fs, uint32_t since)
{
	return since >> 8 == fs->facts.rules.machine.release >> 8 ? since : release_mainline(since);
}

/* Rows ---------------------------------------------------------------------------------- */

/* The members of a feature or an instrument in JSON, in their order. */
enum member {
	KIND, NAME, RESULT, VERDICT, KNOWN, SINCE, MEANING, ON, ERRNO, ERROR, RULE, RULE_MEANING,
	SURE, WHY, COUNTED, LEAST, MOST, MEMBERS
};

static const char *const keys[MEMBERS] = {
	[KIND] = "kind", [NAME] = "name", [RESULT] = "result", [VERDICT] = "verdict",
	[KNOWN] = "known", [SINCE] = "since", [MEANING] = "meaning", [ON] = "on",
	[ERRNO] = "errno", [ERROR] = "error", [RULE] = "rule", [RULE_MEANING] = "rule_meaning",
	[SURE] = "sure", [WHY] = "why", [COUNTED] = "counted", [LEAST] = "least", [MOST] = "most",
};

/* A feature or an instrument: what it is and what was found, for text and JSON. */
struct shown {
	const char *words[MEMBERS];	/* NULL: none, or a number */
	bool given[MEMBERS];		/* of the numbers, and of SURE */
	uint64_t numbers[MEMBERS];
	enum member columns[3];		/* of the text */
	size_t widths[3];		/* with the blanks behind them */
	enum text_color color;		/* of the second column */
	struct buf reason;		/* behind the columns, owned */
	const char *separator;		/* before the reason in place of blanks, or NULL */
};

static void set_number(struct shown *o, enum member m, uint64_t n)
{
	o->given[m] = true;
	o->numbers[m] = n;
}

/* Set the error of a refusal, if there is one. */
static void set_error(struct shown *o, int error)
{
	if (!error)
		return;
	set_number(o, ERRNO, (uint64_t)error);
	o->words[ERROR] = error_name(error);
}

static void row_text(struct features *fs, const struct shown *o)
{
	struct showing *out = &fs->out;
	struct buf *line = &out->line;

	showing_begin(out, true);
	buf_adds(line, "  ");
	for (size_t i = 0; i < 3; i++) {
		const char *words = o->words[o->columns[i]] ? o->words[o->columns[i]] : "-";
		size_t from = line->len, len;

		if (i == 1)
			text_colored(line, out->text.color, o->color, words);
		else
			text_escaped(line, words);
		len = i == 1 ? strlen(words) : line->len - from;
		if ((i < 2 || (o->reason.len && !o->separator)) && len < o->widths[i])
			buf_pad(line, o->widths[i] - len);
	}
	if (o->reason.len && o->separator)
		buf_adds(line, o->separator);
	text_escaped(line, buf_str(&o->reason));
	showing_end(out);
}

static void row_json(struct features *fs, const struct shown *o)
{
	struct sink *k;

	showing_begin(&fs->out, false);
	k = fs->out.sink;
	for (enum member m = 0; m < MEMBERS; m++) {
		if (m == NAME)
			sink_string(k, keys[m], o->words[m], strlen(o->words[m]), false);
		else if (o->words[m])
			sink_symbol(k, keys[m], o->words[m]);
		else if (m == SURE && o->given[m])
			json_add_bool(&fs->out.object, keys[m], o->numbers[m]);
		else if (o->given[m])
			sink_uint(k, keys[m], o->numbers[m]);
	}
	showing_end(&fs->out);
}

static void show_row(struct features *fs, struct shown *o)
{
	if (fs->out.json)
		row_json(fs, o);
	else
		row_text(fs, o);
	buf_free(&o->reason);
}

/* Begin a table, with a line "NAME: MEANING". */
static void features_show_head(struct features *fs, const char *name, const char *meaning)
{
	struct showing *out = &fs->out;

	showing_begin(out, true);
	text_colored(&out->line, out->text.color, COLOR_CALL, name);
	if (meaning)
		buf_addf(&out->line, ": %s", meaning);
	showing_end(out);
}

/* Return the width of the longest name of a kind. */
static size_t kind_width(const struct features *fs, const struct feature_kind *k)
{
	size_t width = 0;

	for (size_t i = 0; i < fs->n; i++)
		if (fs->list[i].kind == k && fs->list[i].name.len > width)
			width = fs->list[i].name.len;
	return width;
}

void features_show(struct features *fs, size_t i)
{
	static const char *const known[] = {
		[FACT_UNKNOWN] = "unclear", [FACT_NO] = "no", [FACT_YES] = "yes",
	};
	const struct feature *f = &fs->list[i];
	struct buf since = { 0 };
	struct shown o = {
		.words = {
			[KIND] = f->kind->name, [NAME] = buf_str(&f->name),
			[RESULT] = feature_results[f->result], [KNOWN] = known[f->known],
			[MEANING] = f->meaning, [ON] = f->on,
			[WHY] = f->why.len ? buf_str(&f->why) : NULL,
		},
		.columns = { NAME, RESULT, SINCE }, .widths = { kind_width(fs, f->kind) + 2, 10, 9 },
		.color = result_colors[f->result],
	};

	if (f->since) {
		release_text(shown_since(fs, f->since), &since);
		o.words[SINCE] = buf_str(&since);
	}
	set_error(&o, f->error);
	if (f->rule && !unknown_here(f)) {
		o.words[RULE] = f->rule->name;
		o.words[RULE_MEANING] = f->rule->meaning;
		set_number(&o, SURE, f->sure);
	}
	reason(f, &o.reason);
	if (!fs->out.json && (!i || f[-1].kind != f->kind))
		features_show_head(fs, f->kind->name, f->kind->meaning);
	show_row(fs, &o);
	showing_flush(&fs->out);
	buf_free(&since);
}

/* Show an instrument without the count of one that works, which differs from run to run. */
static void show_instrument(struct features *fs, enum instrument i)
{
	const struct instrument_result *r = instrument_find(&fs->instruments, i);
	bool fails = instrument_fails(&fs->instruments, i);
	struct shown o = {
		.words = {
			[KIND] = "instrument", [NAME] = instrument_name(i),
			[VERDICT] = instrument_verdict_name(r->verdict),
			[MEANING] = instrument_meaning(i),
		},
		.columns = { NAME, VERDICT, MEANING }, .widths = { 19, 13 }, .separator = ": ",
		.color = fails ? COLOR_ERROR :
			 r->verdict == INSTRUMENT_WORKS ? COLOR_STRING : COLOR_NOTE,
	};

	if (r->verdict <= INSTRUMENT_ABSENT)
		buf_adds(&o.reason, instrument_reason(r));
	if (r->verdict == INSTRUMENT_ABSENT)
		set_error(&o, r->error);
	if (o.reason.len && (r->why || !r->error))
		o.words[WHY] = instrument_reason(r);
	if (r->verdict == INSTRUMENT_IMPLAUSIBLE)
		buf_addf(&o.reason, "%" PRIu64 ", where %" PRIu64 " to %" PRIu64 " are possible",
			 r->counted, r->least, r->most);
	if (fails) {
		set_number(&o, COUNTED, r->counted);
		set_number(&o, LEAST, r->least);
		set_number(&o, MOST, r->most);
	}
	show_row(fs, &o);
}

void features_show_instruments(struct features *fs)
{
	bool all = !fs->words[0] && !fs->gate;

	if (!fs->out.json && !all)
		return;
	if (!fs->out.json)
		features_show_head(fs, "instruments",
				   "whether what measures works, where the result is known");
	for (int i = 0; i < INSTRUMENTS; i++)
		if (all || fs->instruments.tried[i])
			show_instrument(fs, i);
	showing_flush(&fs->out);
}

/* Kernel and machine ---------------------------------------------------------------------- */

static struct buf *text_line(struct features *fs)
{
	showing_begin(&fs->out, true);
	buf_adds(&fs->out.line, "  ");
	return &fs->out.line;
}

static void text_missing(struct features *fs, const struct features_release *r)
{
	struct buf *out = text_line(fs);

	buf_adds(out, "first missing features, of ");
	release_text(r->before, out);
	for (size_t i = 0, n = 0; i < fs->n; i++) {
		const struct feature *f = &fs->list[i];

		if (f->kind->dated && f->known == FACT_NO && f->since == r->before)
			buf_addf(out, "%s %s", n++ ? "," : ":", buf_str(&f->name));
	}
	showing_end(&fs->out);
}

static void text_kernel(struct features *fs)
{
	struct features_release r;
	struct buf *out;

	features_release(fs, &r);
	features_show_head(fs, "kernel", NULL);
	out = text_line(fs);
	buf_addf(out, "release %s, on %s", fs->facts.release,
		 fs->facts.rules.machine.arch->name);
	showing_end(&fs->out);
	out = text_line(fs);
	if (!r.from) {
		buf_adds(out, "no feature shows its release");
	} else {
		buf_adds(out, "every detectable feature is present up to ");
		release_text(shown_since(fs, r.from), out);
		buf_adds(out, features_release_fits(fs, &r) ? ", which agrees with its version" :
			      ", which disagrees with its version");
	}
	showing_end(&fs->out);
	if (r.before)
		text_missing(fs, &r);
	if (r.undecided) {
		out = text_line(fs);
		buf_addf(out, "%zu features could not be detected either way",
			 r.undecided);
		showing_end(&fs->out);
	}
}

static void text_here(struct features *fs)
{
	struct buf lines[FEATURES_LIMITS];
	size_t n = features_limits(fs, lines, FEATURES_LIMITS);

	features_show_head(fs, "here", NULL);
	if (!n) {
		buf_adds(text_line(fs), "no limits");
		showing_end(&fs->out);
	}
	for (size_t i = 0; i < n; i++) {
		buf_adds(text_line(fs), buf_str(&lines[i]));
		showing_end(&fs->out);
		buf_free(&lines[i]);
	}
}

static void features_json_release(struct sink *k, const char *key, uint32_t release)
{
	struct buf text = { 0 };

	if (release)
		release_text(release, &text);
	if (release)
		sink_symbol(k, key, buf_str(&text));
	buf_free(&text);
}

static void json_kernel(struct features *fs)
{
	struct features_release r;
	struct sink *k;

	features_release(fs, &r);
	showing_begin(&fs->out, false);
	k = fs->out.sink;
	sink_symbol(k, "kind", "kernel");
	sink_symbol(k, "name", fs->facts.release);
	sink_symbol(k, "machine", fs->facts.rules.machine.arch->name);
	sink_uint(k, "attr_size", fs->attr_size);
	features_json_release(k, "has", r.from);
	features_json_release(k, "before", r.before);
	sink_begin(k, "missing", SINK_ARRAY);
	for (size_t i = 0; i < fs->n; i++)
		if (fs->list[i].kind->dated && fs->list[i].known == FACT_NO)
			sink_symbol(k, NULL, buf_str(&fs->list[i].name));
	sink_end(k);
	sink_uint(k, "undecided", r.undecided);
	json_add_bool(&fs->out.object, "fits", features_release_fits(fs, &r));
	showing_end(&fs->out);
}

static void json_here(struct features *fs)
{
	struct buf lines[FEATURES_LIMITS];
	size_t n = features_limits(fs, lines, FEATURES_LIMITS);
	struct sink *k;

	showing_begin(&fs->out, false);
	k = fs->out.sink;
	sink_symbol(k, "kind", "here");
	if (!(fs->facts.rules.machine.unread & UNREAD_PARANOID))
		sink_sint(k, "paranoid", fs->facts.rules.machine.paranoid);
	sink_hex(k, "capabilities", fs->facts.rules.machine.caps);
	sink_begin(k, "limits", SINK_ARRAY);
	for (size_t i = 0; i < n; i++) {
		sink_symbol(k, NULL, buf_str(&lines[i]));
		buf_free(&lines[i]);
	}
	sink_end(k);
	showing_end(&fs->out);
}

void features_show_machine(struct features *fs)
{
	if (fs->words && fs->words[0])
		return;
	if (fs->out.json) {
		json_kernel(fs);
		json_here(fs);
	} else {
		text_kernel(fs);
		text_here(fs);
	}
}
