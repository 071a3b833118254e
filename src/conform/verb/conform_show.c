// SPDX-License-Identifier: LGPL-2.1-or-later
/* The findings of pevtrace conform as text, JSON and TAP. */
#include <string.h>

#include "conform/verb/conform.h"

static const enum text_color severity_colors[] = {
	[FINDING_ERROR] = COLOR_ERROR, [FINDING_MISSING] = COLOR_CALL, [FINDING_NOTE] = COLOR_NOTE,
};

/* Write each line of a text after the indent. */
static void each_line(struct conform_cmd *cmd, const char *indent, const char *text)
{
	while (*text) {
		int n = (int)strcspn(text, "\n");

		conform_line(cmd, "%s%.*s", indent, n, text);
		text += n + (text[n] == '\n');
	}
}

static void place_line(struct conform_cmd *cmd, const char *indent,
		       const struct finding_place *p)
{
	struct buf where = { 0 };

	buf_addf(&where, "%s %s", finding_sources[p->source], p->file);
	if (p->line)
		buf_addf(&where, p->source == FINDING_BTF ? " type %u" : ":%u", p->line);
	conform_line(cmd, "%s%s%s%s", indent, buf_str(&where), p->quote ? ": " : "",
		     p->quote ? p->quote : "");
	buf_free(&where);
}

static void places_lines(struct conform_cmd *cmd, const char *indent, const struct finding *f)
{
	for (size_t i = 0; i < f->nplaces; i++)
		place_line(cmd, indent, &f->places[i]);
	if (f->detail)
		each_line(cmd, indent, f->detail);
}

/* Text ---------------------------------------------------------------------------------- */

/* Return the line in the page, else in a header; 0: neither. */
static unsigned int line_of(const struct finding *f)
{
	for (size_t i = 0; i < f->nplaces; i++)
		if (f->places[i].source == FINDING_PAGE || f->places[i].source == FINDING_HEADER)
			return f->places[i].line;
	return 0;
}

static void text_finding(struct conform_cmd *cmd, const struct finding *f)
{
	struct buf *line = &cmd->out.line;
	unsigned int at = line_of(f);
	const char *word = finding_severities[f->severity];

	showing_begin(&cmd->out, true);
	buf_adds(line, "  ");
	text_colored(line, cmd->out.text.color, severity_colors[f->severity], word);
	buf_addf(line, "%*s", 9 - (int)strlen(word), "");
	if (at && f->places[0].source == FINDING_PAGE)
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

static bool same_section(const struct finding *a, const struct finding *b)
{
	return !strcmp(a->section, b->section);
}

static bool was_shown(const struct conform_cmd *cmd, const char *section)
{
	for (size_t i = 0; i < cmd->nsections; i++)
		if (!strcmp(cmd->sections[i], section))
			return true;
	return false;
}


static void text_section(struct conform_cmd *cmd, size_t first)
{
	const struct findings *fs = &cmd->c.found;
	const char *name = fs->all[first].section;
	struct buf heading = { 0 };

	showing_begin(&cmd->out, true);
	conform_printable(*name ? name : cmd->self ? "Tables" : "No section", &heading);
	text_colored(&cmd->out.line, cmd->out.text.color, COLOR_CALL, buf_str(&heading));
	showing_end(&cmd->out);
	buf_free(&heading);
	for (int severity = FINDING_ERROR; severity <= FINDING_NOTE; severity++)
		for (size_t i = first; i < fs->n; i++)
			if ((int)fs->all[i].severity == severity &&
			    same_section(&fs->all[i], &fs->all[first]) &&
			    conform_wanted(cmd, &fs->all[i]))
				text_finding(cmd, &fs->all[i]);
}

static size_t claims_of(const struct conform_cmd *cmd)
{
	return cmd->claims[CLAIM_TRUE] + cmd->claims[CLAIM_FALSE] + cmd->claims[CLAIM_UNTRIED];
}

static void text_sources(struct conform_cmd *cmd)
{
	const struct conform *c = &cmd->c;

	if (c->page.desc.file)
		conform_line(cmd, "page    %s: %s", c->page.desc.file,
			     c->page.title ? c->page.title : "");
	if (c->header.file)
		conform_line(cmd, "header  %s: %zu names", c->header.file, c->header.nnames);
	if (c->btf.file)
		conform_line(cmd, "btf     %s: %zu names", c->btf.file, c->btf.nnames);
	showing_flush(&cmd->out);
}

static void text_claims(struct conform_cmd *cmd)
{
	if (claims_of(cmd))
		conform_line(cmd, "kernel  %s: of %zu claims %zu true, %zu false, %zu untried",
			     cmd->kernel, claims_of(cmd), cmd->claims[CLAIM_TRUE],
			     cmd->claims[CLAIM_FALSE], cmd->claims[CLAIM_UNTRIED]);
}

static void text_untried(struct conform_cmd *cmd)
{
	for (size_t i = 0; cmd->verbose && i < cmd->c.nchecks; i++)
		if (cmd->c.checks[i].untried)
			conform_line(cmd, "  untried  %s: %s", cmd->c.checks[i].what,
				     cmd->c.checks[i].untried);
}

static void text_excepted(struct conform_cmd *cmd)
{
	for (size_t i = 0; cmd->show_excepted && i < cmd->c.excepted.n; i++) {
		const struct finding *f = &cmd->c.excepted.all[i];

		conform_line(cmd, "  excepted  %s: %s", f->id, f->detail);
	}
}

/* Write the findings of a section, or of all (NULL), that were not written yet. */
static void text_sections(struct conform_cmd *cmd, const char *section)
{
	const struct findings *fs = &cmd->c.found;

	for (size_t i = 0; i < fs->n; i++) {
		const char *name = fs->all[i].section;

		if ((section && strcmp(name, section)) || !conform_wanted(cmd, &fs->all[i]) ||
		    was_shown(cmd, name))
			continue;
		text_section(cmd, i);
		cmd->sections = page_grow(cmd->sections, cmd->nsections, sizeof(*cmd->sections));
		cmd->sections[cmd->nsections++] = name;
	}
}

/* Write the sections of the page up to this one, or all (NULL). */
static void text_before(struct conform_cmd *cmd, const char *section)
{
	const struct page *p = &cmd->c.page;
	size_t n = 0;

	while (section && n < p->nsections && strcmp(p->sections[n].name, section))
		n++;
	/* claims about a page in another language have sections that it lacks */
	if (section && n == p->nsections)
		return;
	for (size_t i = 0; i < (section ? n : p->nsections); i++)
		text_sections(cmd, p->sections[i].name);
}

static void conform_text(struct conform_cmd *cmd)
{
	text_before(cmd, NULL);
	text_sections(cmd, NULL);
	text_claims(cmd);
	text_untried(cmd);
	text_excepted(cmd);
	conform_line(cmd, "%zu things compared: %zu errors, %zu missing, %zu notes; %zu excepted",
		     cmd->c.nchecks, conform_count(cmd, FINDING_ERROR),
		     conform_count(cmd, FINDING_MISSING), conform_count(cmd, FINDING_NOTE),
		     cmd->c.excepted.n);
}

/* JSON ---------------------------------------------------------------------------------- */

static void json_text_of(struct sink *k, const char *key, const char *text)
{
	if (text)
		k->ops->string(k, key, text, strlen(text), false);
}

static void json_places(struct sink *k, const struct finding *f)
{
	k->ops->begin(k, "places", SINK_ARRAY);
	for (size_t i = 0; i < f->nplaces; i++) {
		const struct finding_place *p = &f->places[i];

		k->ops->begin(k, NULL, SINK_OBJECT);
		k->ops->symbol(k, "source", finding_sources[p->source]);
		json_text_of(k, "file", p->file);
		if (p->line)
			k->ops->uint(k, p->source == FINDING_BTF ? "type" : "line", p->line);
		json_text_of(k, "quote", p->quote);
		k->ops->end(k);
	}
	k->ops->end(k);
}

static void json_finding(struct conform_cmd *cmd, const char *kind, const struct finding *f)
{
	struct sink *k;

	showing_begin(&cmd->out, false);
	k = cmd->out.sink;
	k->ops->symbol(k, "kind", kind);
	json_text_of(k, "id", f->id);
	k->ops->symbol(k, "severity", finding_severities[f->severity]);
	json_text_of(k, "section", f->section);
	if (f->since)
		k->ops->symbol(k, "since", f->since);
	json_text_of(k, "text", f->text);
	json_text_of(k, "detail", f->detail);
	json_places(k, f);
	showing_end(&cmd->out);
}

static void json_untried(struct conform_cmd *cmd, const struct conform_check *check)
{
	struct sink *k;

	showing_begin(&cmd->out, false);
	k = cmd->out.sink;
	k->ops->symbol(k, "kind", "untried");
	json_text_of(k, "what", check->what);
	json_text_of(k, "reason", check->untried);
	showing_end(&cmd->out);
}

static void json_findings(struct conform_cmd *cmd)
{
	for (; cmd->shown < cmd->c.found.n; cmd->shown++)
		if (conform_wanted(cmd, &cmd->c.found.all[cmd->shown]))
			json_finding(cmd, "finding", &cmd->c.found.all[cmd->shown]);
}

static void conform_json(struct conform_cmd *cmd)
{
	const struct conform *c = &cmd->c;
	struct sink *k;

	json_findings(cmd);
	for (size_t i = 0; cmd->show_excepted && i < c->excepted.n; i++)
		json_finding(cmd, "excepted", &c->excepted.all[i]);
	for (size_t i = 0; i < c->nchecks; i++)
		if (c->checks[i].untried)
			json_untried(cmd, &c->checks[i]);
	showing_begin(&cmd->out, false);
	k = cmd->out.sink;
	k->ops->symbol(k, "kind", "summary");
	json_text_of(k, "page", c->page.desc.file);
	json_text_of(k, "title", c->page.title);
	json_text_of(k, "header", c->header.file);
	json_text_of(k, "btf", c->btf.file);
	json_text_of(k, "kernel", cmd->kernel);
	k->ops->uint(k, "compared", c->nchecks);
	k->ops->uint(k, "claims_true", cmd->claims[CLAIM_TRUE]);
	k->ops->uint(k, "claims_false", cmd->claims[CLAIM_FALSE]);
	k->ops->uint(k, "claims_untried", cmd->claims[CLAIM_UNTRIED]);
	k->ops->uint(k, "errors", conform_count(cmd, FINDING_ERROR));
	k->ops->uint(k, "missing", conform_count(cmd, FINDING_MISSING));
	k->ops->uint(k, "notes", conform_count(cmd, FINDING_NOTE));
	k->ops->uint(k, "excepted", c->excepted.n);
	showing_end(&cmd->out);
}

/* TAP ----------------------------------------------------------------------------------- */

static void tap_check(struct conform_cmd *cmd, size_t n)
{
	const struct conform *c = &cmd->c;
	size_t end = n + 1 < c->nchecks ? c->checks[n + 1].first : c->found.n;
	bool ok = true;

	for (size_t i = c->checks[n].first; i < end; i++)
		ok &= c->found.all[i].severity == FINDING_NOTE ||
		      !conform_wanted(cmd, &c->found.all[i]);
	conform_line(cmd, "%s %zu - %s%s%s", ok ? "ok" : "not ok", n + 1, c->checks[n].what,
		     c->checks[n].untried ? " # SKIP " : "",
		     c->checks[n].untried ? c->checks[n].untried : "");
	for (size_t i = c->checks[n].first; i < end; i++) {
		const struct finding *f = &c->found.all[i];

		if (!conform_wanted(cmd, f))
			continue;
		conform_line(cmd, "# %s: %s", finding_severities[f->severity], f->text);
		places_lines(cmd, "#   ", f);
	}
}

static void show_tap(struct conform_cmd *cmd)
{
	conform_line(cmd, "1..%zu", cmd->c.nchecks);
	for (size_t i = 0; i < cmd->c.nchecks; i++)
		tap_check(cmd, i);
}

bool conform_streams(const struct conform_cmd *cmd)
{
	return !cmd->patch && !cmd->accounting &&
	       (cmd->format == CONFORM_TEXT || cmd->format == CONFORM_JSON);
}

void conform_show_sources(struct conform_cmd *cmd)
{
	if (cmd->format == CONFORM_TEXT)
		text_sources(cmd);
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
	switch (cmd->format) {
	case CONFORM_TEXT:
		conform_text(cmd);
		break;
	case CONFORM_JSON:
		conform_json(cmd);
		break;
	case CONFORM_TAP:
		show_tap(cmd);
		break;
	case CONFORM_MARKDOWN:
		conform_markdown(cmd);
		break;
	}
}
