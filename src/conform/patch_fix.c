// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/patch.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/scan_text.h"
#include "xlat/tables.h"

/* What is needed for the edits of a finding. */
struct fixing {
	const struct conform *c;
	const struct finding *f;
	const struct patch_doc *d;
	struct patch_edits *out;
	size_t line;		/* of the page, that the finding is about; 0: none */
	const char *text;	/* of that line, or "" */
};

static const char *line_text(const struct patch_doc *d, size_t line)
{
	return line && line <= d->n ? d->lines[line - 1].text : "";
}

/*
 * Add an edit.  A tag with a release gets a comment with the commit that added its name, as the
 * page has them.
 */
static void add_edit(struct fixing *x, size_t first, size_t count, const char *text)
{
	const char *given = line_text(x->d, first + count), *next;
	struct patch_edits *e = x->out;
	struct buf b = { 0 };

	while (*text) {
		size_t n = strcspn(text, "\n");
		char *tag = xstrndup(text, n), *name = strchr(tag, ' ');
		char *since = strstr(tag, " \" (since Linux ");
		const char *commit = NULL;

		if (since && name < since &&
		    (!strncmp(tag, ".BR ", 4) || !strncmp(tag, ".IR ", 4))) {
			*since = '\0';
			commit = tables_pair(commit_descs, name + 1);
		}
		free(tag);
		n += text[n] == '\n';
		buf_add(&b, text, n);
		text += n;
		next = *text ? text : given;
		/* entries with one description have one comment, after the last tag */
		if (commit && strncmp(next, ".\\\"", 3) && strncmp(next, ".TQ", 3))
			buf_addf(&b, ".\\\" commit %s\n", commit);
	}
	e->all = xgrow(e->all, e->n, sizeof(*e->all));
	e->all[e->n++] = (struct patch_edit){ first, count, b.data ? b.data : xstrdup("") };
}

/* Add an edit whose text is consumed. */
static bool add_edit_buf(struct fixing *x, size_t first, size_t count, struct buf *text)
{
	add_edit(x, first, count, buf_str(text));
	buf_free(text);
	return true;
}

void patch_edits_free(struct patch_edits *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->all[i].text);
	free(e->all);
	*e = (struct patch_edits){ 0 };
}

/*
 * Replace a wrong name by the one that is meant, and an old name of a member by the present one,
 * which has its width and meaning.
 */
static bool fix_name(struct fixing *x)
{
	const char *word = x->f->name, *by = x->f->kind == FINDING_UNKNOWN ? x->f->instead :
					     compare_nearest(x->c, word, true);
	size_t n = strlen(word), edits = x->out->n;

	/* in each line of the page that the finding names */
	for (size_t i = 0; by && i < x->f->nplaces; i++) {
		const struct finding_place *p = &x->f->places[i];
		const char *text = p->source == FINDING_PAGE ? line_text(x->d, p->line) : "";
		struct buf line = { 0 };
		bool any = false;

		for (const char *s = text; *s;) {
			if (!strncmp(s, word, n) && !scan_is_word(s[n]) &&
			    (s == text || !scan_is_word(s[-1]))) {
				buf_adds(&line, by);
				s += n;
				any = true;
			} else {
				buf_addc(&line, *s++);
			}
		}
		buf_addc(&line, '\n');
		if (any)
			add_edit_buf(x, p->line, 1, &line);
		buf_free(&line);
	}
	return x->out->n > edits;
}

/* Releases ------------------------------------------------------------------------------- */

static bool fix_since(struct fixing *x)
{
	const char *at = strstr(x->text, "Linux ");
	struct buf b = { 0 };

	if (!at || !x->f->since)
		return false;
	at += strlen("Linux ");
	buf_add(&b, x->text, (size_t)(at - x->text));
	buf_addf(&b, "%s%s\n", x->f->since, at + strspn(at, "0123456789."));
	return add_edit_buf(x, x->line, 1, &b);
}

static bool fix_undated(struct fixing *x)
{
	const char *since = x->f->since;
	struct buf b = { 0 };

	if (!since || (strncmp(x->text, ".B ", 3) && strncmp(x->text, ".I ", 3)) ||
	    strcmp(x->text + 3, x->f->name))
		return false;
	patch_add_tag(x->text[1], x->f->name, release_read(&since), &b);
	return add_edit_buf(x, x->line, 1, &b);
}

static bool fix_markup(struct fixing *x)
{
	struct buf b = { 0 };

	if (strncmp(x->text, ".B ", 3) || !strstr(x->text, " \" (since "))
		return false;
	buf_addf(&b, ".BR %s\n", x->text + 3);
	return add_edit_buf(x, x->line, 1, &b);
}

/* New entries ---------------------------------------------------------------------------- */

/* Insert the entry that the tables give after the one on the finding's line. */
static bool fix_add_entry(struct fixing *x)
{
	const struct page *p = &x->c->page;
	struct buf text = { 0 };

	for (size_t i = 0; i < p->nentries; i++)
		if (x->line && p->entries[i].line == x->line)
			return patch_add_entry(x->c, x->f->owner, x->f->name, &text) &&
			       add_edit_buf(x, patch_entry_end(x->d, x->line), 0, &text);
	return false;
}

/* Insert a list of errors at the end of the entry on the finding's line. */
static bool fix_add_errors(struct fixing *x)
{
	struct buf text = { 0 };

	if (!x->line || !x->f->detail)
		return false;
	patch_add_errors(x->c, x->f->detail, &text);
	return add_edit_buf(x, patch_entry_end(x->d, x->line), 0, &text);
}

/* Insert the entry of an errno at its place in the alphabet. */
static bool fix_add_errno(struct fixing *x)
{
	const struct page *p = &x->c->page;
	const struct page_entry *before = NULL;
	struct buf text = { 0 };

	for (size_t i = 0; i < p->nentries; i++)
		if (page_is_errno(p->entries[i].name) &&
		    strcmp(p->entries[i].name, x->f->name) < 0 &&
		    (!before || strcmp(p->entries[i].name, before->name) > 0))
			before = &p->entries[i];
	if (!before || !x->f->detail)
		return false;
	patch_add_errno(x->c, x->f->name, x->f->detail, &text);
	return add_edit_buf(x, patch_entry_end(x->d, before->line), 0, &text);
}

/* Members in layouts --------------------------------------------------------------------- */

/* Take a bit-field's bits from the reserved one of its word. */
static void shrink_reserved(struct fixing *x, const struct api_struct *stated, unsigned int start,
			    unsigned int bits)
{
	for_each(m, stated->members, stated->n) {
		const char *text = line_text(x->d, m->line), *colon = strchr(text, ':');
		struct buf line = { 0 };

		if (!m->reserved || !m->bitfield || m->start / 64 != start / 64 ||
		    m->line > x->d->n || m->bits <= bits)
			continue;
		if (colon) {
			const char *width = colon + 1 + strspn(colon + 1, " ");

			buf_add(&line, text, (size_t)(width - text));
			buf_addf(&line, "%u%s\n", m->bits - bits,
				 width + strspn(width, "0123456789"));
			add_edit_buf(x, m->line, 1, &line);
		}
		return;
	}
}

/* Return the line after a member with its comment, which may have several lines. */
static size_t after_comment(const struct patch_doc *d, size_t line)
{
	for (; line < d->n; line++) {
		const char *text = d->lines[line - 1].text, *next = d->lines[line].text;
		const char *open = strstr(text, "/*"), *close = strstr(text, "*/");

		next += strspn(next, " ");
		if ((!open || close) && strncmp(next, "/*", 2))
			break;
	}
	return line + 1;
}

static bool fix_add_member(struct fixing *x)
{
	const char *structure = x->f->owner ? x->f->owner : "";
	const struct api_struct *known = api_struct(&x->c->tables, structure);
	const struct api_struct *stated = api_struct(&x->c->page.desc, structure);
	const struct api_member *m = api_member(known, x->f->name), *before = NULL;
	struct buf text = { 0 };

	/* the member of the page's layout that precedes it */
	for (const struct api_member *k = m ? known->members : NULL; k < m; k++) {
		const struct api_member *s = api_member(stated, k->name);

		/* names are added before the bits that are left of their word */
		before = s && s->line && !(s->reserved && s->bitfield) ? s : before;
	}
	if (!before || before->line > x->d->n || before->bitfield != m->bitfield)
		return false;
	patch_add_member(structure, m, x->d->lines[before->line - 1].text, &text);
	add_edit_buf(x, after_comment(x->d, before->line), 0, &text);
	if (m->bitfield)
		shrink_reserved(x, stated, m->start, m->bits);
	return true;
}

/* Texts ---------------------------------------------------------------------------------- */

static bool put_text(struct fixing *x, enum amendment_how how, unsigned int line,
		     const char *text)
{
	struct patch_span s;

	if (!line)
		return false;
	s = patch_sentence(x->d, line);
	switch (how) {
	case AMEND_SENTENCE:
		break;
	case AMEND_AFTER:
		s = (struct patch_span){ patch_after_comments(x->d, s.first + s.count), 0 };
		break;
	case AMEND_ENTRY:
		s = (struct patch_span){ patch_entry_end(x->d, line), 0 };
		break;
	case AMEND_BEFORE:	/* the tag's .TP */
		s = (struct patch_span){ line - 1, 0 };
		break;
	case AMEND_LINE:
		s = (struct patch_span){ after_comment(x->d, line), 0 };
		break;
	case AMEND_OVER:
		s = (struct patch_span){ line, 1 };
		break;
	}
	add_edit(x, s.first, s.count, text);
	return true;
}

/* Return 1 if a text of %amendments was put, 0 if its place is not there, -1 without one. */
static int amend(struct fixing *x)
{
	int result = -1;

	for (const struct amendment_desc *a = amendment_descs; a->finding; a++) {
		struct buf text = { 0 };
		bool put;

		if (fnmatch(a->finding, x->f->id, 0))
			continue;
		if (*a->text)
			buf_adds(&text, a->text);
		else
			patch_add_entry(x->c, x->f->owner, x->f->name, &text);
		put = text.len && put_text(x, a->how, page_find(&x->c->page, a->section, a->place),
					   buf_str(&text));
		result = put || result == 1;
		buf_free(&text);
	}
	return result;
}

enum patch_stage patch_stage(const struct finding *f)
{
	if (f->source == FINDING_KERNEL)
		return PATCH_TRIED;
	if (f->kind == FINDING_UNKNOWN || f->kind == FINDING_MEMBER_OLD)
		return PATCH_NAMES;
	for (const struct amendment_desc *a = amendment_descs; a->finding; a++)
		if (!fnmatch(a->finding, f->id, 0))
			return PATCH_TEXTS;
	return f->kind == FINDING_SAID ? PATCH_TEXTS :
	       f->kind == FINDING_MEMBER_MISSING ? PATCH_LAYOUTS : PATCH_ENTRIES;
}

static bool correct_claim(struct fixing *x)
{
	bool unsaid = x->f->kind == FINDING_UNSAID;
	const struct page *p = &x->c->page;

	for (const struct claim_desc *c = claim_descs; c->name; c++) {
		const char *words = unsaid ? tables_pair(undocumented_descs, c->name) : NULL;

		if (!c->correction || strcmp(c->name, x->f->name))
			continue;
		/* the page may document it by now: an entry may have come with its errors */
		return !(words && !page_omits(p, c->section, c->place, words)) &&
		       put_text(x, unsaid ? AMEND_AFTER : AMEND_SENTENCE,
				page_find(p, c->section, c->place), c->correction);
	}
	return false;
}

static bool correct_misstatement(struct fixing *x)
{
	for (const struct misstatement_desc *m = misstatement_descs; m->name; m++)
		if (!strcmp(m->name, x->f->name))
			return put_text(x, AMEND_SENTENCE,
					page_find(&x->c->page, m->section, m->place), m->text);
	return false;
}

bool patch_fix(const struct conform *c, const struct finding *f, const struct patch_doc *d,
	       struct patch_edits *out)
{
	static bool (*const fixes[])(struct fixing *x) = {
		[FINDING_UNKNOWN] = fix_name,
		[FINDING_MEMBER_OLD] = fix_name,
		[FINDING_SINCE] = fix_since,
		[FINDING_UNDATED] = fix_undated,
		[FINDING_MARKUP] = fix_markup,
		[FINDING_LACKING] = fix_add_entry,
		[FINDING_UNDESCRIBED] = fix_add_entry,
		[FINDING_MEMBER_MISSING] = fix_add_member,
		[FINDING_ERRNO_MISSING] = fix_add_errno,
		[FINDING_ERRNO_CASES] = fix_add_errors,
		[FINDING_CALL_ERRORS] = fix_add_errors,
		[FINDING_SAID] = correct_misstatement,
		[FINDING_CLAIM] = correct_claim,
		[FINDING_UNSAID] = correct_claim,
	};
	unsigned int line = finding_page_line(f);
	struct fixing x = { c, f, d, out, line, line_text(d, line) };
	int amended = amend(&x);

	/* a text may change a sentence beside the one that the claim corrects */
	if (amended >= 0)
		return (f->kind == FINDING_CLAIM && correct_claim(&x)) || amended;
	return f->kind < sizeof(fixes) / sizeof(*fixes) && fixes[f->kind] && fixes[f->kind](&x);
}
