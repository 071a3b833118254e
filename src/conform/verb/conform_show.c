// SPDX-License-Identifier: LGPL-2.1-or-later
/* The findings of pevtrace conform as text, JSON and TAP. */
#include <stdarg.h>
#include <string.h>

#include "conform/verb/conform.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

static const enum text_color severity_colors[] = {
	[FINDING_ERROR] = COLOR_ERROR, [FINDING_MISSING] = COLOR_CALL, [FINDING_NOTE] = COLOR_NOTE,
};

/* Lines --------------------------------------------------------------------------------- */

bool conform_wanted(const struct conform_cmd *cmd, const struct finding *f)
{
	const char *since = f->since;

	if (cmd->section && !strcasestr(f->section, cmd->section))
		return false;
	return !cmd->since || (since && release_read(&since) >= cmd->since);
}

size_t conform_count(const struct conform_cmd *cmd, enum finding_severity severity)
{
	size_t n = 0;

	for (size_t i = 0; i < cmd->c.found.n; i++)
		n += cmd->c.found.all[i].severity == severity &&
		     conform_wanted(cmd, &cmd->c.found.all[i]);
	return n;
}

/* Add a text that may be in any language: UTF-8 as it is, all else and controls as \ooo. */
static void conform_printable(const char *s, struct buf *out)
{
	size_t left = strlen(s);

	while (left) {
		size_t n = utf8_shown(s, left);

		if (n)
			buf_add(out, s, n);
		else
			buf_addf(out, "\\%03o", (unsigned char)*s);
		n = n ? n : 1;
		s += n;
		left -= n;
	}
}

void conform_line(struct conform_cmd *cmd, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	showing_begin(&cmd->out, true);
	conform_printable(buf_str(&text), &cmd->out.line);
	showing_end(&cmd->out);
	buf_free(&text);
}

/* Write the places of a finding and its details, each line after the indent. */
static void places_lines(struct conform_cmd *cmd, const char *indent, const struct finding *f)
{
	const char *detail = f->detail ? f->detail : "";
	size_t n;

	for_each(p, f->places, f->nplaces) {
		char line[32] = "";

		if (p->line)
			snprintf(line, sizeof(line), p->source == FINDING_BTF ? " type %u" : ":%u",
				 p->line);
		conform_line(cmd, "%s%s %s%s%s%s", indent, finding_sources[p->source], p->file,
			     line, p->quote ? ": " : "", p->quote ? p->quote : "");
	}
	for (const char *s; (s = text_item(&detail, '\n', &n));)
		conform_line(cmd, "%s%.*s", indent, (int)n, s);
}

/* Text ---------------------------------------------------------------------------------- */

static void text_finding(struct conform_cmd *cmd, const struct finding *f)
{
	struct buf *line = &cmd->out.line;
	unsigned int at = f->nplaces && f->places[0].source == FINDING_PAGE ? f->places[0].line : 0;
	const char *word = finding_severities[f->severity];

	showing_begin(&cmd->out, true);
	buf_adds(line, "  ");
	text_colored(line, cmd->out.text.color, severity_colors[f->severity], word);
	buf_addf(line, "%*s", 9 - (int)strlen(word), "");
	if (at)
		buf_addf(line, "%5u  ", at);
	else
		buf_adds(line, "    -  ");
	conform_printable(f->text, line);
	showing_end(&cmd->out);
	if (cmd->verbose) {
		conform_line(cmd, "             %s%s%s", f->id, f->since ? ", Linux " : "",
			     f->since ? f->since : "");
		places_lines(cmd, "             ", f);
	}
}

/* Write the findings of a section, or of all (NULL), that were not written yet. */
static void text_sections(struct conform_cmd *cmd, const char *section)
{
	const struct findings *fs = &cmd->c.found;
	struct buf heading = { 0 };

	for (size_t i = 0; i < fs->n; i++) {
		const char *name = fs->all[i].section;
		size_t shown = 0;

		while (shown < cmd->nsections && strcmp(cmd->sections[shown], name))
			shown++;
		if (shown < cmd->nsections || (section && strcmp(name, section)) ||
		    !conform_wanted(cmd, &fs->all[i]))
			continue;
		showing_begin(&cmd->out, true);
		conform_printable(*name ? name : cmd->self ? "Tables" : "No section", &heading);
		text_colored(&cmd->out.line, cmd->out.text.color, COLOR_CALL, buf_str(&heading));
		showing_end(&cmd->out);
		buf_reset(&heading);
		for (int severity = FINDING_ERROR; severity <= FINDING_NOTE; severity++)
			for (size_t j = i; j < fs->n; j++)
				if ((int)fs->all[j].severity == severity &&
				    !strcmp(fs->all[j].section, name) &&
				    conform_wanted(cmd, &fs->all[j]))
					text_finding(cmd, &fs->all[j]);
		cmd->sections = xgrow(cmd->sections, cmd->nsections, sizeof(*cmd->sections));
		cmd->sections[cmd->nsections++] = name;
	}
	buf_free(&heading);
}

/* Write the sections of the page up to this one, or all (NULL). */
static void text_before(struct conform_cmd *cmd, const char *section)
{
	const struct page *p = &cmd->c.page;
	size_t n = 0;

	while (section && n < p->nsections && strcmp(p->sections[n], section))
		n++;
	/* claims about a page in another language have sections that it lacks */
	if (section && n == p->nsections)
		return;
	for (size_t i = 0; i < (section ? n : p->nsections); i++)
		text_sections(cmd, p->sections[i]);
}

static void findings_text(struct conform_cmd *cmd)
{
	const struct conform *c = &cmd->c;
	size_t claims = cmd->claims[CLAIM_TRUE] + cmd->claims[CLAIM_FALSE] +
			cmd->claims[CLAIM_UNTRIED];

	text_before(cmd, NULL);
	text_sections(cmd, NULL);
	if (claims)
		conform_line(cmd, "kernel  %s: of %zu claims %zu true, %zu false, %zu untried",
			     cmd->kernel, claims, cmd->claims[CLAIM_TRUE],
			     cmd->claims[CLAIM_FALSE], cmd->claims[CLAIM_UNTRIED]);
	for (size_t i = 0; cmd->verbose && i < c->nchecks; i++)
		if (c->checks[i].untried)
			conform_line(cmd, "  untried  %s: %s", c->checks[i].what,
				     c->checks[i].untried);
	for (size_t i = 0; cmd->show_excepted && i < c->excepted.n; i++)
		conform_line(cmd, "  excepted  %s: %s", c->excepted.all[i].id,
			     c->excepted.all[i].detail);
	conform_line(cmd, "%zu things compared: %zu errors, %zu missing, %zu notes; %zu excepted",
		     c->nchecks, conform_count(cmd, FINDING_ERROR),
		     conform_count(cmd, FINDING_MISSING), conform_count(cmd, FINDING_NOTE),
		     c->excepted.n);
}

/* JSON ---------------------------------------------------------------------------------- */

static void json_text_of(struct sink *k, const char *key, const char *text)
{
	if (text)
		sink_string(k, key, text, strlen(text), false);
}

/* Begin an object of a kind.  Return its sink. */
static struct sink *json_begin(struct conform_cmd *cmd, const char *kind)
{
	struct sink *k;

	showing_begin(&cmd->out, false);
	k = cmd->out.sink;
	sink_symbol(k, "kind", kind);
	return k;
}

static void json_finding(struct conform_cmd *cmd, const char *kind, const struct finding *f)
{
	struct sink *k = json_begin(cmd, kind);

	json_text_of(k, "id", f->id);
	sink_symbol(k, "severity", finding_severities[f->severity]);
	json_text_of(k, "section", f->section);
	if (f->since)
		sink_symbol(k, "since", f->since);
	json_text_of(k, "text", f->text);
	json_text_of(k, "detail", f->detail);
	sink_begin(k, "places", SINK_ARRAY);
	for_each(p, f->places, f->nplaces) {
		sink_begin(k, NULL, SINK_OBJECT);
		sink_symbol(k, "source", finding_sources[p->source]);
		json_text_of(k, "file", p->file);
		if (p->line)
			sink_uint(k, p->source == FINDING_BTF ? "type" : "line", p->line);
		json_text_of(k, "quote", p->quote);
		sink_end(k);
	}
	sink_end(k);
	showing_end(&cmd->out);
}

/* Write the findings that were added since the last call. */
static void json_findings(struct conform_cmd *cmd)
{
	for (; cmd->shown < cmd->c.found.n; cmd->shown++)
		if (conform_wanted(cmd, &cmd->c.found.all[cmd->shown]))
			json_finding(cmd, "finding", &cmd->c.found.all[cmd->shown]);
}

static void findings_json(struct conform_cmd *cmd)
{
	const struct conform *c = &cmd->c;
	const struct { const char *key, *text; } texts[] = {
		{ "page", c->page.desc.file }, { "title", c->page.title },
		{ "header", c->header.file }, { "btf", c->btf.file }, { "kernel", cmd->kernel },
	};
	const struct { const char *key; size_t n; } counts[] = {
		{ "compared", c->nchecks }, { "claims_true", cmd->claims[CLAIM_TRUE] },
		{ "claims_false", cmd->claims[CLAIM_FALSE] },
		{ "claims_untried", cmd->claims[CLAIM_UNTRIED] },
		{ "errors", conform_count(cmd, FINDING_ERROR) },
		{ "missing", conform_count(cmd, FINDING_MISSING) },
		{ "notes", conform_count(cmd, FINDING_NOTE) }, { "excepted", c->excepted.n },
	};
	struct sink *k;

	json_findings(cmd);
	for (size_t i = 0; cmd->show_excepted && i < c->excepted.n; i++)
		json_finding(cmd, "excepted", &c->excepted.all[i]);
	for (size_t i = 0; i < c->nchecks; i++) {
		if (!c->checks[i].untried)
			continue;
		k = json_begin(cmd, "untried");
		json_text_of(k, "what", c->checks[i].what);
		json_text_of(k, "reason", c->checks[i].untried);
		showing_end(&cmd->out);
	}
	k = json_begin(cmd, "summary");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		json_text_of(k, texts[i].key, texts[i].text);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		sink_uint(k, counts[i].key, counts[i].n);
	showing_end(&cmd->out);
}

/* TAP ----------------------------------------------------------------------------------- */

static void findings_tap(struct conform_cmd *cmd)
{
	const struct conform *c = &cmd->c;

	conform_line(cmd, "1..%zu", c->nchecks);
	for (size_t n = 0; n < c->nchecks; n++) {
		const struct conform_check *check = &c->checks[n];
		size_t end = n + 1 < c->nchecks ? check[1].first : c->found.n;
		bool ok = true;

		for (size_t i = check->first; i < end; i++)
			ok &= c->found.all[i].severity == FINDING_NOTE ||
			      !conform_wanted(cmd, &c->found.all[i]);
		conform_line(cmd, "%s %zu - %s%s%s", ok ? "ok" : "not ok", n + 1, check->what,
			     check->untried ? " # SKIP " : "",
			     check->untried ? check->untried : "");
		for (size_t i = check->first; i < end; i++) {
			const struct finding *f = &c->found.all[i];

			if (!conform_wanted(cmd, f))
				continue;
			conform_line(cmd, "# %s: %s", finding_severities[f->severity], f->text);
			places_lines(cmd, "#   ", f);
		}
	}
}

/* All ----------------------------------------------------------------------------------- */

bool conform_streams(const struct conform_cmd *cmd)
{
	return !cmd->patch && !cmd->accounting &&
	       (cmd->format == CONFORM_TEXT || cmd->format == CONFORM_JSON);
}

void conform_show_sources(struct conform_cmd *cmd)
{
	const struct conform *c = &cmd->c;

	if (cmd->format != CONFORM_TEXT || cmd->patch || cmd->accounting)
		return;
	if (c->page.desc.file)
		conform_line(cmd, "page    %s: %s", c->page.desc.file,
			     c->page.title ? c->page.title : "");
	if (c->header.file)
		conform_line(cmd, "header  %s: %zu names", c->header.file, c->header.nnames);
	if (c->btf.file)
		conform_line(cmd, "btf     %s: %zu names", c->btf.file, c->btf.nnames);
	showing_flush(&cmd->out);
}

void conform_show_before(struct conform_cmd *cmd, const char *section)
{
	if (!conform_streams(cmd))
		return;
	if (cmd->format == CONFORM_JSON)
		json_findings(cmd);
	else
		text_before(cmd, section);
	showing_flush(&cmd->out);
}

void conform_show(struct conform_cmd *cmd)
{
	if (cmd->format == CONFORM_TEXT) {
		findings_text(cmd);
	} else if (cmd->format == CONFORM_JSON) {
		findings_json(cmd);
	} else {
		findings_tap(cmd);
	}
}
