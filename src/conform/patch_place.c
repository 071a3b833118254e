// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/patch_place.h"

#include <ctype.h>
#include <string.h>

static const char *line_at(const struct patch_doc *d, size_t line)
{
	return line && line <= d->n ? d->lines[line - 1].text : ".SH";
}

bool patch_has_macro(const char *line, const char *const *macros)
{
	for (; *macros; macros++) {
		size_t n = strlen(*macros);

		if (!strncmp(line, *macros, n) && (!line[n] || isspace((unsigned char)line[n])))
			return true;
	}
	return false;
}

static bool is_comment(const char *line)
{
	return !strncmp(line, ".\\\"", 3);
}

/* Return true for a macro that ends a sentence: all but fonts and comments. */
static bool ends_paragraph(const char *line)
{
	static const char *const fonts[] = {
		".B", ".I", ".BR", ".IR", ".RB", ".RI", ".BI", ".IB", NULL,
	};

	return *line == '.' && !is_comment(line) && !patch_has_macro(line, fonts);
}

static bool is_tag(const struct patch_doc *d, size_t line)
{
	static const char *const tags[] = { ".TP", ".TQ", NULL };

	return patch_has_macro(line_at(d, line - 1), tags);
}

/* Return true if a sentence ends with the line. */
static bool ends_sentence(const char *line)
{
	size_t n = strlen(line);

	if (is_comment(line))
		return false;
	while (n && strchr("\")] ", line[n - 1]))
		n--;
	return n && strchr(".?!:", line[n - 1]);
}

struct patch_span patch_sentence(const struct patch_doc *d, size_t line)
{
	size_t first = line, last = line;

	if (is_tag(d, line))
		return (struct patch_span){ line, 1 };
	while (first > 1 && !ends_paragraph(line_at(d, first - 1)) && !is_tag(d, first - 1) &&
	       !ends_sentence(line_at(d, first - 1)))
		first--;
	while (first < line && is_comment(line_at(d, first)))
		first++;
	while (!ends_sentence(line_at(d, last)) && last < d->n &&
	       !ends_paragraph(line_at(d, last + 1)))
		last++;
	return (struct patch_span){ first, last - first + 1 };
}

size_t patch_after_comments(const struct patch_doc *d, size_t line)
{
	while (!strncmp(line_at(d, line), ".\\\" ", 4))
		line++;
	return line;
}

size_t patch_entry_end(const struct patch_doc *d, size_t line)
{
	static const char *const ends[] = {
		".TP", ".SH", ".SS", ".PP", ".P", ".LP", NULL,
	};
	static const char *const tags[] = { ".TQ", NULL };
	size_t depth = 0;

	for (line++; line <= d->n; line++) {
		const char *text = line_at(d, line);

		if (patch_has_macro(text, tags)) {
			line++;
			continue;
		}
		if (!strncmp(text, ".SH", 3) || !strncmp(text, ".SS", 3))
			break;
		if (!strncmp(text, ".RS", 3))
			depth++;
		else if (!depth && (!strncmp(text, ".RE", 3) || patch_has_macro(text, ends)))
			break;
		else if (!strncmp(text, ".RE", 3))
			depth--;
	}
	while (!strcmp(line_at(d, line - 1), ".\\\""))
		line--;
	return line;
}
