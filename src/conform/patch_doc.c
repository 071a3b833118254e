// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/patch.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

enum { CONTEXT = 3 };		/* lines around a change in a unified diff */

/* Lines ---------------------------------------------------------------------------------- */

/* Split text into lines that are owned by the caller. */
static struct patch_line *split_lines(const char *text, size_t len, size_t *n)
{
	struct patch_line *lines = NULL;

	*n = 0;
	for (const char *s = text, *end = text + len; s < end;) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));

		stop = stop ? stop : end;
		lines = xgrow(lines, *n, sizeof(*lines));
		lines[(*n)++] = (struct patch_line){ .text = xstrndup(s, (size_t)(stop - s)) };
		s = stop + 1;
	}
	return lines;
}

void patch_doc_open(struct patch_doc *d, const char *text, size_t len)
{
	d->given = split_lines(text, len, &d->ngiven);
	d->lines = split_lines(text, len, &d->n);
	for (size_t i = 0; i < d->n; i++)
		d->lines[i].old = i + 1;
}

static void free_lines(struct patch_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(lines[i].text);
	free(lines);
}

void patch_doc_free(struct patch_doc *d)
{
	free_lines(d->lines, d->n);
	free_lines(d->given, d->ngiven);
}

/* Edits ---------------------------------------------------------------------------------- */

/*
 * Let lines of the new text that the old one has, too, keep their numbers: the longest
 * common subsequence.
 */
static void keep_numbers(const struct patch_line *old, size_t n, struct patch_line *new, size_t m)
{
	size_t *common = xrealloc(NULL, (n + 1) * (m + 1) * sizeof(*common));
	size_t w = m + 1;

	memset(common, 0, (n + 1) * w * sizeof(*common));
	for (size_t i = n; i--;)
		for (size_t j = m; j--;) {
			size_t skip = common[(i + 1) * w + j], add = common[i * w + j + 1];

			common[i * w + j] = !strcmp(old[i].text, new[j].text) ?
					    common[(i + 1) * w + j + 1] + 1 :
					    skip > add ? skip : add;
		}
	for (size_t i = 0, j = 0; i < n && j < m;) {
		if (!strcmp(old[i].text, new[j].text)) {
			new[j].old = old[i].old;
			i++;
			j++;
		} else if (common[(i + 1) * w + j] >= common[i * w + j + 1]) {
			i++;
		} else {
			j++;
		}
	}
	free(common);
}

void patch_doc_apply(struct patch_doc *d, const struct patch_edit *e)
{
	size_t m, at = e->first - 1, rest = d->n - at - e->count;
	struct patch_line *new = split_lines(e->text, strlen(e->text), &m);

	keep_numbers(d->lines + at, e->count, new, m);
	for (size_t i = 0; i < e->count; i++)
		free(d->lines[at + i].text);
	d->lines = xrealloc(d->lines, (d->n + m + 1) * sizeof(*d->lines));
	memmove(d->lines + at + m, d->lines + at + e->count, rest * sizeof(*d->lines));
	memcpy(d->lines + at, new, m * sizeof(*new));
	d->n += m - e->count;
	free(new);
}

/* Diffs ---------------------------------------------------------------------------------- */

struct diff_line {
	char mark;		/* ' ', '-' or '+' */
	const char *text;
};

/* List all lines: what was removed, before what was added in its place.  Return their number. */
static size_t list_diff(const struct patch_doc *d, struct diff_line *out)
{
	size_t old = 0, added = 0, n = 0;

	for (size_t i = 0; i <= d->n; i++) {
		size_t number = i < d->n ? d->lines[i].old : d->ngiven + 1;

		if (!number)
			continue;
		for (; old + 1 < number; old++)
			out[n++] = (struct diff_line){ '-', d->given[old].text };
		for (; added < i; added++)
			out[n++] = (struct diff_line){ '+', d->lines[added].text };
		if (i < d->n)
			out[n++] = (struct diff_line){ ' ', d->lines[i].text };
		old = number;
		added = i + 1;
	}
	return n;
}

void patch_doc_diff(const struct patch_doc *d, const char *file, struct buf *out)
{
	struct diff_line *lines = xmalloc((d->n + d->ngiven + 1) * sizeof(*lines));
	size_t n = list_diff(d, lines), old = 0, new = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		size_t first = i > at + CONTEXT ? i - CONTEXT : at, last = i, nold = 0, nnew = 0;

		if (lines[i].mark == ' ')
			continue;
		if (!old && !new)
			buf_addf(out, "--- a/%s\n+++ b/%s\n", file, file);
		old += first - at;
		new += first - at;
		/* a hunk ends where no change follows for twice the context */
		for (size_t j = i; j < n && j <= last + 2 * CONTEXT + 1; j++)
			if (lines[j].mark != ' ')
				last = j;
		at = last + CONTEXT + 1 < n ? last + CONTEXT + 1 : n;
		for (size_t j = first; j < at; j++) {
			nold += lines[j].mark != '+';
			nnew += lines[j].mark != '-';
		}
		buf_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", nold ? old + 1 : old, nold,
			 nnew ? new + 1 : new, nnew);
		for (size_t j = first; j < at; j++)
			buf_addf(out, "%c%s\n", lines[j].mark, lines[j].text);
		old += nold;
		new += nnew;
		i = at - 1;
	}
	free(lines);
}

/* Sentences and entries ------------------------------------------------------------------ */

static const char *line_at(const struct patch_doc *d, size_t line)
{
	return line && line <= d->n ? d->lines[line - 1].text : ".SH";
}

/* Return true if the line has one of the macros, which are separated by blanks. */
static bool has_macro(const char *line, const char *macros)
{
	return text_has_item(macros, ' ', line, strcspn(line, " \t"));
}

static bool is_comment(const char *line)
{
	return !strncmp(line, ".\\\"", 3);
}

/* Return true for a macro that ends a sentence: all but fonts and comments. */
static bool ends_paragraph(const char *line)
{
	return *line == '.' && !is_comment(line) &&
	       !has_macro(line, ".B .I .BR .IR .RB .RI .BI .IB");
}

static bool is_tag(const struct patch_doc *d, size_t line)
{
	return has_macro(line_at(d, line - 1), ".TP .TQ");
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
	size_t depth = 0;

	for (line++; line <= d->n; line++) {
		const char *text = line_at(d, line);

		if (has_macro(text, ".TQ")) {
			line++;
			continue;
		}
		if (!strncmp(text, ".SH", 3) || !strncmp(text, ".SS", 3))
			break;
		if (!strncmp(text, ".RS", 3))
			depth++;
		else if (!depth && (!strncmp(text, ".RE", 3) ||
				    has_macro(text, ".TP .SH .SS .PP .P .LP")))
			break;
		else if (!strncmp(text, ".RE", 3))
			depth--;
	}
	while (!strcmp(line_at(d, line - 1), ".\\\""))
		line--;
	return line;
}
