// SPDX-License-Identifier: LGPL-2.1-or-later
/* What pevtrace conform found, as a report for those who write the page. */
#include <string.h>

#include "cmd/conform.h"
#include "conform/tables.h"

/* What would be markup is text. */
static void escape(const char *s, struct buf *out)
{
	for (; *s; s++) {
		if (strchr("\\`*_<>[]#|", *s))
			buf_addc(out, '\\');
		buf_addc(out, *s);
	}
}

static void escaped_line(struct conform_cmd *cmd, const char *before, const char *text,
			 const char *after)
{
	struct buf b = { 0 };

	escape(text, &b);
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
		conform_line(cmd, "      %5u  %s", p->line, p->quote);
		any = true;
	}
	if (any)
		conform_line(cmd, "%s", "");
}

/* What the others say, on one line. */
static void evidence(struct conform_cmd *cmd, const struct finding *f)
{
	for (size_t i = 0; i < f->nplaces; i++) {
		const struct finding_place *p = &f->places[i];
		struct buf b = { 0 };

		if (p->source == FINDING_PAGE || !p->quote)
			continue;
		escape(p->source == FINDING_XLAT ? "pevtrace" : p->file, &b);
		if (p->line)
			buf_addf(&b, p->source == FINDING_BTF ? " (type %u)" : ":%u", p->line);
		buf_adds(&b, ": ");
		escape(p->quote, &b);
		conform_line(cmd, "  - %s", buf_str(&b));
		buf_free(&b);
	}
}

static void details(struct conform_cmd *cmd, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		struct buf line = { 0 };

		buf_add(&line, text, n);
		escaped_line(cmd, "  - ", buf_str(&line), "");
		buf_free(&line);
		text += n + (text[n] == '\n');
	}
}

static void finding(struct conform_cmd *cmd, const struct finding *f)
{
	escaped_line(cmd, "- ", f->text, f->since && !strstr(f->text, "Linux") ? "" : ".");
	if (f->since && !strstr(f->text, "Linux"))
		conform_line(cmd, "  (since Linux %s).", f->since);
	code_lines(cmd, f);
	/* the rules of an errno stand in the detail with more about them */
	if (f->detail)
		details(cmd, f->detail);
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
		escaped_line(cmd, "### ", *section ? section : "In no section yet", "");
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
		escaped_line(cmd, "- Page: ", c->page.title, "");
	if (c->header.file)
		escaped_line(cmd, "- Header: ", c->header.file, "");
	if (c->btf.file)
		escaped_line(cmd, "- Types of the kernel: ", c->btf.file, "");
	escaped_line(cmd, "- Kernel that runs: ", cmd->kernel, "");
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
