// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of features, as text or as JSON, without what differs from run to run. */
#include <string.h>

#include "core/abi/strings.h"
#include "verbs/list/features.h"
#include "xlat/tables.h"

enum { RESULT_WIDTH = 8, SINCE_WIDTH = 7 };

const char *const feature_results[FEATURE_RESULTS] = {
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

static void release_or_dash(uint32_t v, struct buf *out)
{
	if (v)
		release_text(v, out);
	else
		buf_addc(out, '-');
}

/* Text ---------------------------------------------------------------------------------- */

static void pad(struct buf *out, size_t from, size_t width)
{
	while (out->len - from < width)
		buf_addc(out, ' ');
}

void features_show_head(struct features *fs, const char *name, const char *meaning)
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

static void text_feature(struct features *fs, const struct feature *f)
{
	struct showing *out = &fs->out;
	struct buf why = { 0 }, *line = &out->line;
	size_t width = kind_width(fs, f->kind);
	const char *word = feature_results[f->result];
	size_t from;

	showing_begin(out, true);
	buf_adds(line, "  ");
	from = line->len;
	text_escaped(line, buf_str(&f->name));
	pad(line, from, width + 2);
	text_colored(line, out->text.color, result_colors[f->result], word);
	reason(f, &why);
	for (size_t n = strlen(word); n < RESULT_WIDTH + 2; n++)
		buf_addc(line, ' ');
	from = line->len;
	release_or_dash(shown_since(fs, f->since), line);
	if (why.len) {
		pad(line, from, SINCE_WIDTH + 2);
		text_escaped(line, buf_str(&why));
	}
	buf_free(&why);
	showing_end(out);
}

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

/* JSON ---------------------------------------------------------------------------------- */

static void features_json_release(struct sink *k, const char *key, uint32_t release)
{
	struct buf text = { 0 };

	if (release)
		release_text(release, &text);
	if (release)
		k->ops->symbol(k, key, buf_str(&text));
	buf_free(&text);
}

static void json_feature(struct features *fs, const struct feature *f)
{
	static const char *const known[] = {
		[FACT_UNKNOWN] = "unclear", [FACT_NO] = "no", [FACT_YES] = "yes",
	};
	const char *name = f->error ? error_name(f->error) : NULL;
	struct sink *k;

	showing_begin(&fs->out, false);
	k = fs->out.sink;
	k->ops->symbol(k, "kind", f->kind->name);
	k->ops->string(k, "name", buf_str(&f->name), f->name.len, false);
	k->ops->symbol(k, "result", feature_results[f->result]);
	k->ops->symbol(k, "known", known[f->known]);
	features_json_release(k, "since", shown_since(fs, f->since));
	k->ops->symbol(k, "meaning", f->meaning);
	if (f->on)
		k->ops->symbol(k, "on", f->on);
	if (f->error)
		k->ops->sint(k, "errno", f->error);
	if (name)
		k->ops->symbol(k, "error", name);
	if (f->rule && !unknown_here(f)) {
		k->ops->symbol(k, "rule", f->rule->name);
		k->ops->symbol(k, "rule_meaning", f->rule->meaning);
		json_add_bool(&fs->out.object, "sure", f->sure);
	}
	if (f->why.len)
		k->ops->symbol(k, "why", buf_str(&f->why));
	showing_end(&fs->out);
}

static void json_kernel(struct features *fs)
{
	struct features_release r;
	struct sink *k;

	features_release(fs, &r);
	showing_begin(&fs->out, false);
	k = fs->out.sink;
	k->ops->symbol(k, "kind", "kernel");
	k->ops->symbol(k, "name", fs->facts.release);
	k->ops->symbol(k, "machine", fs->facts.rules.machine.arch->name);
	k->ops->uint(k, "attr_size", fs->attr_size);
	features_json_release(k, "has", r.from);
	features_json_release(k, "before", r.before);
	k->ops->begin(k, "missing", SINK_ARRAY);
	for (size_t i = 0; i < fs->n; i++)
		if (fs->list[i].kind->dated && fs->list[i].known == FACT_NO)
			k->ops->symbol(k, NULL, buf_str(&fs->list[i].name));
	k->ops->end(k);
	k->ops->uint(k, "undecided", r.undecided);
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
	k->ops->symbol(k, "kind", "here");
	if (!(fs->facts.rules.machine.unread & UNREAD_PARANOID))
		k->ops->sint(k, "paranoid", fs->facts.rules.machine.paranoid);
	k->ops->hex(k, "capabilities", fs->facts.rules.machine.caps);
	k->ops->begin(k, "limits", SINK_ARRAY);
	for (size_t i = 0; i < n; i++) {
		k->ops->symbol(k, NULL, buf_str(&lines[i]));
		buf_free(&lines[i]);
	}
	k->ops->end(k);
	showing_end(&fs->out);
}

void features_show(struct features *fs, size_t i)
{
	const struct feature *f = &fs->list[i];

	if (fs->out.json) {
		json_feature(fs, f);
	} else {
		if (!i || f[-1].kind != f->kind)
			features_show_head(fs, f->kind->name, f->kind->meaning);
		text_feature(fs, f);
	}
	showing_flush(&fs->out);
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
