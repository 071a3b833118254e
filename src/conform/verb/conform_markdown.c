// SPDX-License-Identifier: LGPL-2.1-or-later
/* The findings as a report for the authors of the page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/verb/conform.h"
#include "core/lib/die.h"

/*
 * Write a line with words in backticks if they contain markup: a report may also be read as
 * plain text, where backslashes would be worse.
 */
static void marked_line(struct conform_cmd *cmd, const char *before, const char *text,
			const char *after)
{
	struct buf b = { 0 };

	while (*text) {
		size_t n = strcspn(text, " "), tail = n, blanks = strspn(text + n, " ");
		bool code;

		while (tail && strchr(",.;:", text[tail - 1]))
			tail--;
		code = strcspn(text, "_*<>[]#|`\\") < tail;
		buf_adds(&b, code ? "`" : "");
		for (size_t i = 0; i < tail; i++)
			buf_addc(&b, text[i] == '`' ? '\'' : text[i]);
		buf_adds(&b, code ? "`" : "");
		buf_add(&b, text + tail, n + blanks - tail);
		text += n + blanks;
	}
	conform_line(cmd, "%s%s%s", before, buf_str(&b), after);
	buf_free(&b);
}

static void code_lines(struct conform_cmd *cmd, const struct finding *f)
{
	bool any = false;

	for_each(p, f->places, f->nplaces) {
		if (p->source != FINDING_PAGE || !p->quote)
			continue;
		if (!any)
			conform_line(cmd, "%s", "");
		conform_line(cmd, "      %5u: %s", p->line, p->quote);
		any = true;
	}
	if (any)
		conform_line(cmd, "%s", "");
}

static const struct finding_place *place_of(const struct finding *f, enum finding_source source)
{
	for (size_t i = 0; i < f->nplaces; i++)
		if (f->places[i].source == source && f->places[i].quote)
			return &f->places[i];
	return NULL;
}

/* Write calls as a preformatted block, cases of an error as a list. */
static void details(struct conform_cmd *cmd, const struct finding *f)
{
	bool calls = place_of(f, FINDING_KERNEL) != NULL;
	const char *text = f->detail;
	size_t n;

	if (calls)
		conform_line(cmd, "%s", "");
	for (const char *s; (s = text_item(&text, '\n', &n));) {
		char *line = xstrndup(s, n);

		if (calls)
			conform_line(cmd, "      %s", line);
		else
			marked_line(cmd, "  - ", line, "");
		free(line);
	}
	if (calls)
		conform_line(cmd, "%s", "");
}

static void finding(struct conform_cmd *cmd, const struct finding *f)
{
	static const enum finding_source evidence[] = {
		FINDING_HEADER, FINDING_BTF, FINDING_XLAT,
	};
	const struct finding_place *p = NULL;
	struct buf b = { 0 };
	char since[32] = ".";

	if (f->since && !strstr(f->text, "Linux"))
		snprintf(since, sizeof(since), " (since Linux %.15s).", f->since);
	marked_line(cmd, "- ", f->text, since);
	code_lines(cmd, f);
	/* the detail of an error contains the rules as well */
	if (f->detail) {
		details(cmd, f);
		return;
	}
	/* the best evidence: the header, else the kernel's types, else the tables */
	for (size_t i = 0; !p && i < sizeof(evidence) / sizeof(*evidence); i++)
		p = place_of(f, evidence[i]);
	if (!p)
		return;
	if (p->source == FINDING_HEADER)
		buf_addf(&b, "%s:%u: %s", p->file, p->line, p->quote);
	else
		buf_addf(&b, "%s: %s", p->source == FINDING_BTF ? "kernel types" : "Linux",
			 p->quote);
	marked_line(cmd, "  ", buf_str(&b), "");
	buf_free(&b);
}

static bool is_in_part(const struct conform_cmd *cmd, size_t i, enum finding_severity severity,
		       const char *section)
{
	const struct finding *f = &cmd->c.found.all[i];

	return f->severity == severity && conform_wanted(cmd, f) && !strcmp(f->section, section);
}

static void part(struct conform_cmd *cmd, enum finding_severity severity, const char *heading)
{
	const struct findings *fs = &cmd->c.found;

	if (!conform_count(cmd, severity))
		return;
	conform_line(cmd, "%s", "");
	conform_line(cmd, "## %s", heading);
	for (size_t i = 0; i < fs->n; i++) {
		const char *section = fs->all[i].section;
		size_t first = 0;

		while (first <= i && !is_in_part(cmd, first, severity, section))
			first++;
		if (first != i)
			continue;
		conform_line(cmd, "%s", "");
		marked_line(cmd, "### ", *section ? section : "In no section yet", "");
		conform_line(cmd, "%s", "");
		for (size_t j = i; j < fs->n; j++)
			if (is_in_part(cmd, j, severity, section))
				finding(cmd, &fs->all[j]);
	}
}

void conform_markdown(struct conform_cmd *cmd)
{
	const struct conform *c = &cmd->c;

	conform_line(cmd, "# %s", cmd->self ? "pevtrace's tables against kernel and headers" :
		     "perf_event_open(2): where the page and the kernel differ");
	conform_line(cmd, "%s", "");
	if (c->page.title)
		marked_line(cmd, "- Page: ", c->page.title, "");
	if (c->header.file)
		marked_line(cmd, "- Header: ", c->header.file, "");
	if (c->btf.file)
		marked_line(cmd, "- Kernel types: ", c->btf.file, "");
	marked_line(cmd, "- Running kernel: ", cmd->kernel, "");
	conform_line(cmd, "- Releases: the tables of pevtrace " PACKAGE_VERSION
		     ", up to Linux %s", tables_release(c->tables.release).text);
	conform_line(cmd, "%s", "");
	conform_line(cmd, "%zu statements are wrong, %zu things are missing, and %zu are worth a "
		     "note.  Numbers are lines of the page's source.",
		     conform_count(cmd, FINDING_ERROR), conform_count(cmd, FINDING_MISSING),
		     conform_count(cmd, FINDING_NOTE));
	part(cmd, FINDING_ERROR, "Wrong");
	part(cmd, FINDING_MISSING, "Missing");
	part(cmd, FINDING_NOTE, "Notes");
}
