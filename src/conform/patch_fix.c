// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/patch.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "conform/tables.h"
#include "core/lib/die.h"
#include "xlat/tables.h"

/* What is needed for the edits of a finding. */
struct fixing {
	const struct conform *c;
	const struct finding *f;
	const struct patch_doc *d;
	struct patch_edits *out;
};

/* Return the commit that added the name of a tag with a release, or NULL. */
static const char *tag_commit(const char *line)
{
	size_t n = *line == '.' ? strcspn(line, "\n") : 0;
	char *tag = xstrndup(line, n), *name = strchr(tag, ' ');
	char *since = strstr(tag, " \" (since Linux ");
	const char *commit = NULL;

	if (since && name < since && (!strncmp(tag, ".BR ", 4) || !strncmp(tag, ".IR ", 4))) {
		*since = '\0';
		commit = tables_pair(commit_descs, name + 1);
	}
	free(tag);
	return commit;
}

/* Add an edit.  A tag gets a comment with the commit that added its name, as the page has them. */
static void add_edit(struct fixing *x, size_t first, size_t count, const char *text)
{
	const size_t after = first + count;
	const char *given = after <= x->d->n ? x->d->lines[after - 1].text : "", *next;
	struct patch_edits *e = x->out;
	struct buf b = { 0 };

	while (*text) {
		size_t n = strcspn(text, "\n");
		const char *commit = tag_commit(text);

		n += text[n] == '\n';
		buf_add(&b, text, n);
		text += n;
		next = *text ? text : given;
		/* entries with one description have one comment, after the last tag */
		if (commit && strncmp(next, ".\\\"", 3) && strncmp(next, ".TQ", 3))
			buf_addf(&b, ".\\\" commit %s\n", commit);
	}
	e->all = page_grow(e->all, e->n, sizeof(*e->all));
	e->all[e->n++] = (struct patch_edit){
		.first = first, .count = count, .text = xstrdup(buf_str(&b)),
	};
	buf_free(&b);
}

void patch_edits_free(struct patch_edits *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->all[i].text);
	free(e->all);
	*e = (struct patch_edits){ 0 };
}

/* Words in lines ------------------------------------------------------------------------- */

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Replace a word in a line; what follows it must be the end of a name. */
static bool replace_word(const char *line, const char *word, const char *by, struct buf *out)
{
	size_t n = strlen(word);
	bool any = false;

	for (const char *p = line; *p;) {
		if (!strncmp(p, word, n) && !is_name(p[n]) && (p == line || !is_name(p[-1]))) {
			buf_adds(out, by);
			p += n;
			any = true;
		} else {
			buf_addc(out, *p++);
		}
	}
	buf_addc(out, '\n');
	return any;
}

/* Replace a word in each line of the page that the finding names. */
static bool rename_word(struct fixing *x, const char *word, const char *by)
{
	bool any = false;

	for (size_t i = 0; i < x->f->nplaces; i++) {
		const struct finding_place *p = &x->f->places[i];
		struct buf line = { 0 };

		if (p->source == FINDING_PAGE && p->line && p->line <= x->d->n &&
		    replace_word(x->d->lines[p->line - 1].text, word, by, &line)) {
			add_edit(x, p->line, 1, buf_str(&line));
			any = true;
		}
		buf_free(&line);
	}
	return any;
}

static bool fix_name(struct fixing *x)
{
	return x->f->instead && rename_word(x, x->f->name, x->f->instead);
}

/* Replace an old name of a member by the present one, which has its width and meaning. */
static bool fix_old_member(struct fixing *x)
{
	const char *now = compare_nearest(x->c, x->f->name, true);

	return now && rename_word(x, x->f->name, now);
}

/* Releases ------------------------------------------------------------------------------- */

static bool fix_since(struct fixing *x)
{
	unsigned int line = finding_page_line(x->f);
	const char *text = line ? x->d->lines[line - 1].text : "";
	const char *at = strstr(text, "Linux ");
	struct buf b = { 0 };

	if (!at || !x->f->since)
		return false;
	at += strlen("Linux ");
	buf_add(&b, text, (size_t)(at - text));
	buf_addf(&b, "%s%s\n", x->f->since, at + strspn(at, "0123456789."));
	add_edit(x, line, 1, buf_str(&b));
	buf_free(&b);
	return true;
}

static bool fix_undated(struct fixing *x)
{
	unsigned int line = finding_page_line(x->f);
	const char *since = x->f->since, *text = line ? x->d->lines[line - 1].text : "";
	struct buf b = { 0 };

	if (!since || (strncmp(text, ".B ", 3) && strncmp(text, ".I ", 3)) ||
	    strcmp(text + 3, x->f->name))
		return false;
	patch_add_tag(text[1], x->f->name, release_read(&since), &b);
	add_edit(x, line, 1, buf_str(&b));
	buf_free(&b);
	return true;
}

static bool fix_markup(struct fixing *x)
{
	unsigned int line = finding_page_line(x->f);
	const char *text = line ? x->d->lines[line - 1].text : "";
	struct buf b = { 0 };

	if (strncmp(text, ".B ", 3) || !strstr(text, " \" (since "))
		return false;
	buf_addf(&b, ".BR %s\n", text + 3);
	add_edit(x, line, 1, b.data);
	buf_free(&b);
	return true;
}

/* New entries ---------------------------------------------------------------------------- */

static const struct page_entry *entry_on(const struct page *p, unsigned int line)
{
	for (size_t i = 0; i < p->nentries; i++)
		if (p->entries[i].line == line)
			return &p->entries[i];
	return NULL;
}

/* Insert the entry that the tables give after the one on the finding's line. */
static bool fix_add_entry(struct fixing *x)
{
	unsigned int line = finding_page_line(x->f);
	struct buf text = { 0 };
	bool ok = line && entry_on(&x->c->page, line) &&
		  patch_add_entry(x->c, x->f->owner, x->f->name, &text);

	if (ok)
		add_edit(x, patch_entry_end(x->d, line), 0, buf_str(&text));
	buf_free(&text);
	return ok;
}

/* Insert a list of errors at the end of the entry on the finding's line. */
static bool fix_add_errors(struct fixing *x)
{
	unsigned int line = finding_page_line(x->f);
	struct buf text = { 0 };

	if (!line || !x->f->detail)
		return false;
	patch_add_errors(x->c, x->f->detail, &text);
	add_edit(x, patch_entry_end(x->d, line), 0, buf_str(&text));
	buf_free(&text);
	return true;
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
	add_edit(x, patch_entry_end(x->d, before->line), 0, buf_str(&text));
	buf_free(&text);
	return true;
}

/* Members in layouts --------------------------------------------------------------------- */

/* Return the member of the page's layout that precedes a member, or NULL. */
static const struct api_member *member_before(const struct api_struct *known,
					      const struct api_struct *stated, const char *name)
{
	const struct api_member *before = NULL;

	for (size_t i = 0; i < known->n && strcmp(known->members[i].name, name); i++) {
		const struct api_member *m = api_member(stated, known->members[i].name);

		/* names are added before the bits that are left of their word */
		before = m && m->line && !(m->reserved && m->bitfield) ? m : before;
	}
	return before;
}

/* Take a bit-field's bits from the reserved one of its word. */
static void shrink_reserved(struct fixing *x, const struct api_struct *stated, unsigned int start,
			    unsigned int bits)
{
	for (size_t i = 0; i < stated->n; i++) {
		const struct api_member *m = &stated->members[i];
		struct buf line = { 0 };
		const char *text, *colon;

		if (!m->reserved || !m->bitfield || m->start / 64 != start / 64 ||
		    m->line > x->d->n || m->bits <= bits)
			continue;
		text = x->d->lines[m->line - 1].text;
		colon = strchr(text, ':');
		if (colon) {
			size_t blanks = strspn(colon + 1, " ");

			buf_add(&line, text, (size_t)(colon - text) + 1 + blanks);
			buf_addf(&line, "%u%s\n", m->bits - bits,
				 colon + 1 + blanks + strspn(colon + 1 + blanks, "0123456789"));
			add_edit(x, m->line, 1, buf_str(&line));
		}
		buf_free(&line);
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
	const struct api_member *m = api_member(known, x->f->name), *before;
	struct buf text = { 0 };

	before = m && stated ? member_before(known, stated, m->name) : NULL;
	if (!before || before->line > x->d->n || before->bitfield != m->bitfield)
		return false;
	patch_add_member(structure, m, x->d->lines[before->line - 1].text, &text);
	add_edit(x, after_comment(x->d, before->line), 0, buf_str(&text));
	if (m->bitfield)
		shrink_reserved(x, stated, m->start, m->bits);
	buf_free(&text);
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
		add_edit(x, s.first, s.count, text);
		break;
	case AMEND_AFTER:
		add_edit(x, patch_after_comments(x->d, s.first + s.count), 0, text);
		break;
	case AMEND_ENTRY:
		add_edit(x, patch_entry_end(x->d, line), 0, text);
		break;
	case AMEND_BEFORE:	/* the tag's .TP */
		add_edit(x, line - 1, 0, text);
		break;
	case AMEND_LINE:
		add_edit(x, after_comment(x->d, line), 0, text);
		break;
	case AMEND_OVER:
		add_edit(x, line, 1, text);
		break;
	}
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

/* Return true if the page documents it by now: an entry may have come with its errors. */
static bool documents(const struct fixing *x, const struct claim_desc *d)
{
	const char *words = tables_pair(undocumented_descs, d->name);

	return words && !page_omits(&x->c->page, d->section, d->place, words);
}

static bool correct_claim(struct fixing *x)
{
	bool unsaid = x->f->kind == FINDING_UNSAID;

	for (const struct claim_desc *c = claim_descs; c->name; c++)
		if (c->correction && !strcmp(c->name, x->f->name))
			return !(unsaid && documents(x, c)) &&
			       put_text(x, unsaid ? AMEND_AFTER : AMEND_SENTENCE,
					page_find(&x->c->page, c->section, c->place), c->correction);
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
		[FINDING_MEMBER_OLD] = fix_old_member,
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
	struct fixing x = { c, f, d, out };
	int amended = amend(&x);

	/* a text may change a sentence beside the one that the claim corrects */
	if (amended >= 0)
		return (f->kind == FINDING_CLAIM && correct_claim(&x)) || amended;
	return f->kind < sizeof(fixes) / sizeof(*fixes) && fixes[f->kind] && fixes[f->kind](&x);
}
