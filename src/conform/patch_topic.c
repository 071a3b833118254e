// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/patch_topic.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "conform/patch_place.h"
#include "conform/tables.h"

const struct patch_topic patch_topics[] = {
	{ "page-unknown:* page-member-old:*", TOPIC_WHOLE, "Fix names",
	  "These names are in no header, and never were, or are no longer." },
	{ "page-since:*", TOPIC_WHOLE, "Fix releases",
	  "The features first appeared in other releases than the page says." },
	{ "page-undated:*", TOPIC_WHOLE, "Add releases",
	  "The entries lack the release that added the feature." },
	{ "page-bits:* page-member-*:* page-layout:*", TOPIC_SUBJECT,
	  "%s: Complete the layout", "The layout lacks members that the kernel's header has." },
	{ "page-missing:* page-undescribed:*", TOPIC_TABLE, "Document further names of %s",
	  "The kernel's header has names that the page does not explain." },
	{ "page-example-message:*", TOPIC_WHOLE, "EXAMPLES: Correct messages",
	  "err(3) and its relatives end a message with a newline, and most with the error." },
	{ "page-errno-*:* page-call-errors:* page-said:* claim:* unsaid:*", TOPIC_TAG,
	  "%s: Correct the description",
	  "The kernel's source, or experiments, contradict the page or show what it omits." },
	{ NULL, TOPIC_WHOLE, NULL, NULL },
};

bool patch_topic_matches(const char *kinds, const char *id)
{
	while (*kinds) {
		size_t n = strcspn(kinds, " ");
		char pattern[64];

		snprintf(pattern, sizeof(pattern), "%.*s", (int)strcspn(kinds, " /"), kinds);
		if (!fnmatch(pattern, id, 0))
			return true;
		kinds += n + (kinds[n] == ' ');
	}
	return false;
}

const char *patch_topic_part(const struct patch_topic *t)
{
	const char *part = strchr(t->kinds, '/');

	return part ? part : "";
}

/* Append the prefix of a constant's table with a "*", or the name. */
static void patch_add_table(const struct api_desc *tables, const char *name, struct buf *out)
{
	const char *set = name;

	for (size_t i = 0; i < tables->nnames; i++)
		if (!strcmp(tables->names[i].name, name))
			set = tables->names[i].set;
	if (!tables_add_names(set, out))
		buf_adds(out, name);
}

/* Append the first argument of a tag's macro if it is a name or a path. */
static bool add_tag(const char *line, struct buf *out)
{
	line += *line == '.' ? strcspn(line, " \n") : 0;
	line += strspn(line, " \"");
	if (!isalpha((unsigned char)*line) && *line != '/')
		return false;
	buf_add(out, line, strcspn(line, " \"\n"));
	return true;
}

/* Return the line before one of a page's source, or NULL. */
static const char *line_above(const char *source, const char *line)
{
	if (line == source)
		return NULL;
	for (line--; line > source && line[-1] != '\n'; line--)
		;
	return line;
}

/*
 * Append the tag of the paragraph around a line: that of a constant, file or argument, or of
 * the constant whose list has it.
 */
static bool add_tag_of(const struct page *p, unsigned int number, struct buf *out)
{
	static const char *const headings[] = { ".SS", ".SH", NULL }, *const begins[] = { ".RS", NULL };
	static const char *const ends[] = { ".RE", NULL }, *const tags[] = { ".TP", ".TQ", NULL };
	static const char *const paragraphs[] = { ".P", ".PP", NULL };
	const char *source = buf_str(&p->source), *line = source, *below;
	int inside = 0, outside = 0, at = 0;	/* lists that end, that begin, and those of the tag */

	for (; number > 1 && (line = strchr(line, '\n')); number--)
		line++;
	for (below = line; line; below = line, line = line_above(source, line)) {
		if (patch_has_macro(line, headings))
			break;
		if (patch_has_macro(line, ends)) {
			inside++;
		} else if (patch_has_macro(line, begins)) {
			outside += !inside;
			inside -= inside > 0;
		} else if (!inside && !outside && patch_has_macro(line, paragraphs)) {
			break;
		} else if (!inside && patch_has_macro(line, tags) &&
			   (!out->len || outside > at)) {
			struct buf tag = { 0 };

			if (add_tag(below, &tag) && (!out->len || isupper((unsigned char)*tag.data))) {
				buf_free(out);
				buf_adds(out, buf_str(&tag));
				at = outside;
			}
			buf_free(&tag);
		}
		if (out->len && !islower((unsigned char)*out->data))
			break;
	}
	return out->len > 0;
}

void patch_topic_key(const struct patch_topic *t, const struct conform *c,
		     const struct finding *f, struct buf *out)
{
	const char *subject = strchr(f->id, ':'), *dot = subject ? strchr(subject, '.') : NULL;

	if (t->by == TOPIC_WHOLE || !subject)
		return;
	if (t->by == TOPIC_TAG && strncmp(f->id, "page-errno", 10) && strncmp(f->id, "page-call", 9)) {
		for (size_t i = 0; i < f->nplaces; i++)
			if (f->places[i].source == FINDING_PAGE && f->places[i].line) {
				if (!add_tag_of(&c->page, f->places[i].line, out))
					buf_adds(out, f->section);
				return;
			}
		buf_adds(out, f->section);
	} else if (dot) {
		buf_add(out, subject + 1, (size_t)(dot - subject) - 1);
	} else if (t->by == TOPIC_TABLE) {
		patch_add_table(&c->tables, subject + 1, out);
	} else {
		buf_adds(out, subject + 1);
	}
}
