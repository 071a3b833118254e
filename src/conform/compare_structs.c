// SPDX-License-Identifier: LGPL-2.1-or-later
/* Structures and records of the page, and the entries of their members. */
#include <stdlib.h>
#include <string.h>

#include "conform/compare.h"
#include "conform/member_diff.h"
#include "conform/tables.h"
#include "lib/buf.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

/* One structure ------------------------------------------------------------------------- */

struct differing {
	struct conform *c;
	const struct api_struct *said;
	size_t section;
	const char *what;	/* "perf_event_attr", "PERF_RECORD_MMAP" */
};

static void width_text(const struct api_member *m, struct buf *out)
{
	if (m->type && (strchr(m->type, ' ') || !m->bits))
		buf_adds(out, m->type);
	else if (m->bits % 8 || m->bitfield)
		buf_addf(out, "%u bit%s", m->bits, m->bits == 1 ? "" : "s");
	else
		buf_addf(out, "%u byte%s", m->bits / 8, m->bits == 8 ? "" : "s");
	if (m->array)
		buf_addf(out, " [%s]", m->array);
}

/* In BTF and headers, the page's alone may be missing in our tables. */
static bool known_elsewhere(const struct differing *d, const struct api_member *m)
{
	const struct api_struct *h = api_struct(&d->c->header, d->what);
	const struct api_struct *b = api_struct(&d->c->btf, d->what);

	return (h && api_member(h, m->name)) || (b && api_member(b, m->name));
}

static struct finding *missing(struct differing *d, const char *subject,
			       const struct api_member *right)
{
	struct finding *f;

	f = compare_find(d->c, "page-member-missing", subject,
			 right->reserved ? FINDING_NOTE : FINDING_MISSING,
			 page_section(&d->c->page, d->section), "%s lacks %s%s%s", d->what,
			 right->name, right->when ? ", with " : "",
			 right->when ? right->when : "");
	compare_since(f, right->since);
	place_page(d->c, f, d->said->line);
	return f;
}

/* Another name of it is still one: this is how it was called. */
static bool is_old(const struct differing *d, const struct api_member *m)
{
	const struct api_struct *right = api_struct(&d->c->tables, d->what);

	for (size_t i = 0; i < d->said->n; i++) {
		const struct api_member *other = &d->said->members[i];

		if (right && other != m && other->line == m->line && other->placed &&
		    other->start == m->start && api_member(right, other->name))
			return true;
	}
	return false;
}

/* The word stands where the tag has it, too. */
static bool in_own_entry(const struct page *p, const struct page_word *w)
{
	for (size_t i = 0; i < p->nentries && w->entry != SIZE_MAX; i++)
		if (p->entries[i].line == p->entries[w->entry].line &&
		    !strcmp(p->entries[i].name, w->name))
			return true;
	return false;
}

/* Where an old name is used beyond its own entry, and code that shows the structure. */
static struct finding *old_name(struct differing *d, const char *subject,
				const struct api_member *said)
{
	const struct page *p = &d->c->page;
	struct finding *f;

	f = compare_find(d->c, "page-member-old", subject, FINDING_ERROR,
			 page_section(p, d->section),
			 "%s has no %s any more, but it is used as if it had", d->what,
			 said->name);
	for (size_t i = 0; i < p->nwords; i++) {
		const struct page_word *w = &p->words[i];

		if (!strcmp(w->name, said->name) && w->line != said->line &&
		    !in_own_entry(p, w))
			place_page(d->c, f, w->line);
	}
	return f;
}

static struct finding *extra(struct differing *d, const char *subject,
			     const struct api_member *said)
{
	if (is_old(d, said))
		return old_name(d, subject, said);
	return compare_find(d->c, "page-member-extra", subject, FINDING_ERROR,
			    page_section(&d->c->page, d->section), "%s has no %s", d->what,
			    said->name);
}

static struct finding *differs(struct differing *d, enum member_diff_kind kind,
			       const char *subject, const struct api_member *right,
			       const struct api_member *said)
{
	const char *section = page_section(&d->c->page, d->section);
	struct buf a = { 0 }, b = { 0 };
	struct finding *f;

	width_text(right, &a);
	width_text(said, &b);
	if (kind == MEMBER_WIDTH)
		f = compare_find(d->c, "page-member-width", subject, FINDING_ERROR, section,
				 "%s of %s is %s, not %s", right->name, d->what, buf_str(&a),
				 buf_str(&b));
	else if (kind == MEMBER_NAME)
		f = compare_find(d->c, "page-member-name", subject, FINDING_ERROR, section,
				 "%s of %s is called %s", said->name, d->what, right->name);
	else if (kind == MEMBER_WHEN)
		f = compare_find(d->c, "page-member-when", subject, FINDING_ERROR, section,
				 "%s of %s is there with %s, not %s%s", right->name, d->what,
				 right->when, said->when ? "with " : "always",
				 said->when ? said->when : "");
	else if (kind == MEMBER_ORDER)
		f = compare_find(d->c, "page-member-order", subject, FINDING_ERROR, section,
				 "%s stands elsewhere in %s", right->name, d->what);
	else
		f = compare_find(d->c, "page-member-place", subject, FINDING_ERROR, section,
				 "%s begins at bit %u of %s, and not, as the members before it "
				 "have it, at %u", right->name, right->start, d->what, said->start);
	buf_free(&a);
	buf_free(&b);
	return f;
}

static void member_differs(void *ctx, enum member_diff_kind kind,
			   const struct api_member *right, const struct api_member *said)
{
	/* bits that are left over have no member */
	const struct api_member *m = said && (!right || kind == MEMBER_NAME) ? said : right;
	struct differing *d = ctx;
	struct buf subject = { 0 };
	struct finding *f;

	if (said && !right && known_elsewhere(d, said))
		return;
	buf_addf(&subject, "%s", d->what);
	if (m)
		buf_addf(&subject, ".%s", m->name);
	if (!m)
		f = compare_find(d->c, "page-bits", subject.data, FINDING_ERROR,
				 page_section(&d->c->page, d->section),
				 "The bit-fields of %s leave %u bits of their word unaccounted for",
				 d->what, d->said->left_over);
	else if (!said)
		f = missing(d, subject.data, right);
	else if (!right)
		f = extra(d, subject.data, said);
	else
		f = differs(d, kind, subject.data, right, said);
	if (!m)
		place_page(d->c, f, d->said->left_line);
	else if (said && (right || !is_old(d, said)))
		place_page(d->c, f, said->line);
	if (right)
		place_member(d->c, f, d->what, right->name);
	buf_free(&subject);
}

void compare_page_struct(struct conform *c, const struct api_struct *right,
			 const struct api_struct *said, size_t section, const char *what)
{
	struct differing d = { c, said, section, what };

	compare_begin(c, "page", what);
	member_diff(right, said, member_differs, &d);
}

/* Entries of members -------------------------------------------------------------------- */

/* The structure that was drawn last before a line and has such a member; NULL: none. */
static const struct api_struct *drawn_before(const struct conform *c, const char *name,
					      unsigned int line)
{
	const struct api_struct *found = NULL;

	for (size_t i = 0; i < c->page.said.nstructs; i++) {
		const struct api_struct *st = &c->page.said.structs[i];

		if (st->line < line && (!found || st->line > found->line) &&
		    api_member(st, name))
			found = st;
	}
	return found;
}

/*
 * The entry of a member in the section where its structure is told.  Members
 * of one name are told apart by the structures that stand before the entries.
 */
static const struct page_entry *member_entry(const struct conform *c,
					     const struct api_struct *st, const char *name,
					     size_t section)
{
	for (size_t i = 0; i < c->page.nentries; i++) {
		const struct page_entry *e = &c->page.entries[i];
		const struct api_struct *of;

		if (!e->italic || strcmp(e->name, name) || e->section != section)
			continue;
		of = drawn_before(c, name, e->line);
		if (!of || !strcmp(of->name, st->name))
			return e;
	}
	return NULL;
}

/* What a structure had from its beginning needs no release of its own. */
static uint32_t first_of(const struct api_struct *st)
{
	uint32_t first = UINT32_MAX;

	for (size_t i = 0; i < st->n; i++)
		if (st->members[i].since && st->members[i].since < first)
			first = st->members[i].since;
	return first < KVER(2, 6, 32) ? KVER(2, 6, 32) : first;
}

static void member_release(struct conform *c, const struct page_entry *e,
			   const struct api_struct *st, const struct api_member *m)
{
	char a[16], b[16];
	struct buf subject = { 0 };
	struct finding *f;

	if (!m->since || e->since == m->since || (!e->since && m->since <= first_of(st)))
		return;
	buf_addf(&subject, "%s.%s", st->name, m->name);
	if (e->since)
		f = compare_find(c, "page-since", subject.data, FINDING_ERROR,
				 page_section(&c->page, e->section),
				 "%s of %s came with Linux %s, not with %s", m->name, st->name,
				 tables_release(m->since, a), tables_release(e->since, b));
	else
		f = compare_find(c, "page-undated", subject.data, FINDING_NOTE,
				 page_section(&c->page, e->section),
				 "%s of %s came with Linux %s, which is not said", m->name,
				 st->name, tables_release(m->since, a));
	compare_since(f, m->since);
	place_page(c, f, e->line);
	place_commit(c, f, e->line);
	place_member(c, f, st->name, m->name);
	buf_free(&subject);
}

static void undescribed(struct conform *c, const struct api_struct *right,
			const struct api_member *m, size_t section, unsigned int line)
{
	struct buf subject = { 0 };
	struct finding *f;

	buf_addf(&subject, "%s.%s", right->name, m->name);
	f = compare_find(c, "page-undescribed", subject.data, FINDING_MISSING,
			 page_section(&c->page, section), "%s of %s has no entry", m->name,
			 right->name);
	compare_since(f, m->since);
	if (line)
		place_page(c, f, line);
	place_member(c, f, right->name, m->name);
	buf_free(&subject);
}

/* Where what is new would go: behind the entry of the last member before it that has one. */
static unsigned int line_before(const struct conform *c, const struct api_struct *st,
				const struct api_member *m, size_t section)
{
	const struct page_entry *e = NULL;

	for (const struct api_member *s = st->members; s < m; s++) {
		const struct page_entry *at = member_entry(c, st, s->name, section);

		e = at ? at : e;
	}
	return e ? e->line : 0;
}

/* Members that the structure lacks there were told of already. */
static void compare_entries(struct conform *c, const struct api_struct *right,
			    const struct api_struct *said, size_t section)
{
	for (size_t i = 0; i < right->n; i++) {
		const struct api_member *m = &right->members[i];
		const struct page_entry *e = member_entry(c, right, m->name, section);
		const struct api_member *there = said ? api_member(said, m->name) : NULL;
		struct buf what = { 0 };

		if (m->reserved)
			continue;
		buf_addf(&what, "%s.%s", right->name, m->name);
		compare_begin(c, "page", what.data);
		if (e)
			member_release(c, e, right, m);
		else if (!said || there)
			undescribed(c, right, m, section,
				    there ? there->line : line_before(c, right, m, section));
		buf_free(&what);
	}
}

/* Half of the members have entries, of those that could. */
static bool described(const struct conform *c, const struct api_struct *st, size_t section)
{
	size_t with = 0, all = 0;

	for (size_t i = 0; i < st->n; i++) {
		if (st->members[i].reserved)
			continue;
		all++;
		with += member_entry(c, st, st->members[i].name, section) != NULL;
	}
	return all > 2 && 2 * with >= all;
}

/* Structures ---------------------------------------------------------------------------- */

static void compare_block(struct conform *c, const struct api_struct *said, size_t section)
{
	const struct api_struct *known = api_struct(&c->tables, said->name);
	struct api_struct made = { .name = NULL };

	if (!strcmp(said->name, "read_format"))
		tables_read_format(api_member(said, "nr"), &made);
	else if (!strcmp(said->name, "sample_id"))
		tables_sample_id(&made);
	else if (!known)
		return;
	compare_page_struct(c, known ? known : &made, said, section, said->name);
	if (known && described(c, known, section))
		compare_entries(c, known, said, section);
	api_desc_struct_free(&made);
}

/* Structures whose members are described without showing them. */
static void compare_undrawn(struct conform *c)
{
	for (size_t i = 0; i < c->tables.nstructs; i++) {
		const struct api_struct *st = &c->tables.structs[i];

		if (api_struct(&c->page.said, st->name))
			continue;
		for (size_t s = 0; s < c->page.nsections; s++)
			if (described(c, st, s)) {
				compare_entries(c, st, NULL, s);
				break;
			}
	}
}

void compare_page_structs(struct conform *c)
{
	for (size_t i = 0; i < c->page.said.nstructs; i++)
		compare_block(c, &c->page.said.structs[i], c->page.structs[i].section);
	compare_undrawn(c);
}

/* Records ------------------------------------------------------------------------------- */

static void compare_record(struct conform *c, const struct xlat_entry *type,
			   const struct api_struct *said, size_t section)
{
	struct api_struct right;

	tables_record((uint32_t)type->value, &right);
	compare_page_struct(c, &right, said, section, type->name);
	api_desc_struct_free(&right);
}

/* The first structure behind the tag that names the record. */
static const struct api_struct *drawn(const struct conform *c, const struct page_entry *e)
{
	size_t at = (size_t)(e - c->page.entries);

	for (size_t i = 0; i < c->page.said.nstructs; i++) {
		const struct page_struct *s = &c->page.structs[i];

		if (s->nentries && at >= s->entry && at < s->entry + s->nentries &&
		    !*c->page.said.structs[i].name)
			return &c->page.said.structs[i];
	}
	return NULL;
}

void compare_page_records(struct conform *c)
{
	for (size_t i = 0; i < xlat_perf_event_type.n; i++) {
		const struct xlat_entry *type = &xlat_perf_event_type.entries[i];
		const struct page_entry *e = page_entry(&c->page, type->name);
		const struct api_struct *st;
		struct finding *f;

		if (type->traits || !e)
			continue;
		st = drawn(c, e);
		if (st) {
			compare_record(c, type, st, e->section);
			continue;
		}
		compare_begin(c, "page", type->name);
		f = compare_find(c, "page-layout", type->name, FINDING_MISSING,
				 page_section(&c->page, e->section),
				 "The structure of %s is not shown", type->name);
		place_page(c, f, e->line);
	}
}
