// SPDX-License-Identifier: LGPL-2.1-or-later
/* The findings as a report for the authors of the page. */
#include <stdio.h>
#include <string.h>

#include "conform/verb/conform.h"
#include "conform/tables.h"

/*
 * Append a word, in backticks if it contains markup: a report may also be read as plain text,
 * where backslashes would be worse.
 */
static void markdown_add_word(const char *word, size_t len, struct buf *out)
{
	size_t tail = len;
	bool code = false;

	while (tail && strchr(",.;:", word[tail - 1]))
		tail--;
	for (size_t i = 0; i < tail; i++)
		code |= strchr("_*<>[]#|`\\", word[i]) != NULL;
	buf_adds(out, code ? "`" : "");
	for (size_t i = 0; i < tail; i++)
		buf_addc(out, word[i] == '`' ? '\'' : word[i]);
	buf_adds(out, code ? "`" : "");
	buf_add(out, word + tail, len - tail);
}

static void marked_line(struct conform_cmd *cmd, const char *before, const char *text,
			const char *after)
{
	struct buf b = { 0 };

	while (*text) {
		size_t n = strcspn(text, " ");

		markdown_add_word(text, n, &b);
		text += n;
		for (; *text == ' '; text++)
			buf_addc(&b, ' ');
	}
	conform_line(cmd, "%s%s%s", before, buf_str(&b), after);
	buf_free(&b);
}

static void code_lines(struct conform_cmd *cmd, const struct finding *f)
{
	bool any = false;

	for (size_t i = 0; i < f->nplaces; i++) {
		const struct finding_place *p = &f->places[i];

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

/* Write the best evidence: the header, else the kernel's types, else the tables. */
static void evidence(struct conform_cmd *cmd, const struct finding *f)
{
	const struct finding_place *header = place_of(f, FINDING_HEADER);
	const struct finding_place *btf = place_of(f, FINDING_BTF);
	const struct finding_place *tables = place_of(f, FINDING_XLAT);
	struct buf b = { 0 };

	if (header)
		buf_addf(&b, "%s:%u: %s", header->file, header->line, header->quote);
	else if (btf)
		buf_addf(&b, "kernel types: %s", btf->quote);
	else if (tables)
		buf_addf(&b, "Linux: %s", tables->quote);
	if (b.len)
		marked_line(cmd, "  ", buf_str(&b), "");
	buf_free(&b);
}

/* Write calls as a preformatted block, cases of an error as a list. */
static void details(struct conform_cmd *cmd, const struct finding *f)
{
	bool calls = place_of(f, FINDING_KERNEL) != NULL;
	const char *text = f->detail;

	if (calls)
		conform_line(cmd, "%s", "");
	while (*text) {
		size_t n = strcspn(text, "\n");
		struct buf line = { 0 };

		buf_add(&line, text, n);
		if (calls)
			conform_line(cmd, "      %s", buf_str(&line));
		else
			marked_line(cmd, "  - ", buf_str(&line), "");
		buf_free(&line);
		text += n + (text[n] == '\n');
	}
	if (calls)
		conform_line(cmd, "%s", "");
}

static void finding(struct conform_cmd *cmd, const struct finding *f)
{
	char since[32] = ".";

	if (f->since && !strstr(f->text, "Linux"))
		snprintf(since, sizeof(since), " (since Linux %.15s).", f->since);
	marked_line(cmd, "- ", f->text, since);
	code_lines(cmd, f);
	/* the detail of an error contains the rules as well */
	if (f->detail)
		details(cmd, f);
	else
		evidence(cmd, f);
}

static bool begins_section(const struct conform_cmd *cmd, size_t i, int severity)
{
	const struct findings *fs = &cmd->c.found;

	if ((int)fs->all[i].severity != severity || !conform_wanted(cmd, &fs->all[i]))
		return false;
	for (size_t j = 0; j < i; j++)
		if ((int)fs->all[j].severity == severity && conform_wanted(cmd, &fs->all[j]) &&
		    !strcmp(fs->all[j].section, fs->all[i].section))
			return false;
	return true;
}

static void part(struct conform_cmd *cmd, int severity, const char *heading)
{
	const struct findings *fs = &cmd->c.found;

	if (!conform_count(cmd, (enum finding_severity)severity))
		return;
	conform_line(cmd, "%s", "");
	conform_line(cmd, "## %s", heading);
	for (size_t i = 0; i < fs->n; i++) {
		const char *section = fs->all[i].section;

		if (!begins_section(cmd, i, severity))
			continue;
		conform_line(cmd, "%s", "");
		marked_line(cmd, "### ", *section ? section : "In no section yet", "");
		conform_line(cmd, "%s", "");
		for (size_t j = i; j < fs->n; j++)
			if ((int)fs->all[j].severity == severity &&
			    !strcmp(fs->all[j].section, section) &&
			    conform_wanted(cmd, &fs->all[j]))
				finding(cmd, &fs->all[j]);
	}
}

void conform_markdown(struct conform_cmd *cmd)
{
	const struct conform *c = &cmd->c;
	char newest[16];

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
		     ", up to Linux %s", tables_release(c->tables.release, newest));
	conform_line(cmd, "%s", "");
	conform_line(cmd, "%zu statements are wrong, %zu things are missing, and %zu are worth a "
		     "note.  Numbers are lines of the page's source.",
		     conform_count(cmd, FINDING_ERROR), conform_count(cmd, FINDING_MISSING),
		     conform_count(cmd, FINDING_NOTE));
	part(cmd, FINDING_ERROR, "Wrong");
	part(cmd, FINDING_MISSING, "Missing");
	part(cmd, FINDING_NOTE, "Notes");
}
