// SPDX-License-Identifier: LGPL-2.1-or-later
/* Structures and records of the page, and the entries of their members. */
#include <stdlib.h>
#include <string.h>

#include "conform/compare.h"
#include "core/lib/list.h"
#include "xlat/tables.h"

enum { HISTORY_LINES = 12 };	/* in which both names of a member are explained */

/* One structure ------------------------------------------------------------------------- */

/* A structure of the page that is being compared. */
struct differing {
	struct conform *c;
	const struct api_struct *stated; /* on the page */
	size_t section;
	const char *what;	/* "perf_event_attr", "PERF_RECORD_MMAP" */
};

static void add_width(const struct api_member *m, struct buf *out)
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

/* Return true if the page states m as an old name of a member. */
static bool is_old_name(const struct differing *d, const struct api_member *m)
{
	const struct api_struct *known = api_struct(&d->c->tables, d->what);

	for_each(other, d->stated->members, d->stated->n)
		if (known && other != m && other->line == m->line && other->placed &&
		    other->start == m->start && api_member(known, other->name))
			return true;
	return false;
}

/*
 * Report uses of an old name, but not the layout, the name's own entry, and text that
 * explains the change.
 */
static void add_old_name(struct differing *d, const struct api_member *stated)
{
	const char *now = compare_nearest(d->c, stated->name, true);
	const struct page *p = &d->c->page;
	struct finding *f = NULL;

	for_each(w, p->words, p->nwords) {
		bool own = false;	/* in an entry whose tag names it */
		bool history = false;	/* the text around it has the present name, too */

		if (strcmp(w->name, stated->name) || w->line == stated->line)
			continue;
		for (size_t j = 0; j < p->nentries && w->entry != SIZE_MAX; j++)
			own |= p->entries[j].line == p->entries[w->entry].line &&
			       !strcmp(p->entries[j].name, w->name);
		for (const struct page_word *v = p->words; now && v < p->words + p->nwords; v++)
			history |= v->entry == w->entry && !v->code && !w->code &&
				   !strcmp(v->name, now) && v->line + HISTORY_LINES > w->line &&
				   v->line < w->line + HISTORY_LINES;
		if (own || history)
			continue;
		if (!f)
			f = compare_add_page(d->c, FINDING_MEMBER_OLD, d->what, stated->name,
					     d->section, 0, "%s no longer has %s, but the page "
					     "uses it", d->what, stated->name);
		place_page(d->c, f, w->line);
	}
}

/* Write how a member that both have differs. */
static void difference_text(const struct differing *d, enum finding_kind kind,
			    const struct api_member *known, const struct api_member *stated,
			    struct buf *out)
{
	const char *name = known->name, *what = d->what;

	if (kind == FINDING_MEMBER_WIDTH) {
		buf_addf(out, "%s of %s is ", name, what);
		add_width(known, out);
		buf_adds(out, ", not ");
		add_width(stated, out);
	} else if (kind == FINDING_MEMBER_SIGN) {
		buf_addf(out, "%s of %s is %s", name, what,
			 known->sign == SIGN_SIGNED ? "signed" : "unsigned");
	} else if (kind == FINDING_MEMBER_NAME) {
		buf_addf(out, "%s of %s is named %s", stated->name, what, name);
	} else if (kind == FINDING_MEMBER_WHEN) {
		buf_addf(out, "%s of %s is present with %s, not %s%s", name, what, known->when,
			 stated->when ? "with " : "always", stated->when ? stated->when : "");
	} else if (kind == FINDING_MEMBER_ORDER) {
		buf_addf(out, "%s has another position in %s", name, what);
	} else {
		buf_addf(out, "%s is at bit %u of %s; the members before it place it at bit %u",
			 name, known->start, what, stated->start);
	}
}

static void page_member_differs(void *ctx, enum finding_kind kind,
				const struct api_member *known, const struct api_member *stated)
{
	struct differing *d = ctx;
	struct buf text = { 0 };
	struct finding *f;

	if (kind == FINDING_BITS) {
		compare_add_page(d->c, kind, NULL, d->what, d->section, d->stated->left_line,
				 "The bit-fields of %s leave %u bits of their word unaccounted for",
				 d->what, d->stated->left_over);
	} else if (!stated) {
		f = compare_add_page(d->c, kind, d->what, known->name, d->section, d->stated->line,
				     "%s lacks %s%s%s", d->what, known->name,
				     known->when ? ", present with " : "",
				     known->when ? known->when : "");
		f->severity = known->reserved ? FINDING_NOTE : FINDING_MISSING;
		finding_since(f, known->since);
		place_member(d->c, f, d->what, known->name);
	} else if (known) {
		difference_text(d, kind, known, stated, &text);
		f = compare_add_page(d->c, kind, d->what,
				     (kind == FINDING_MEMBER_NAME ? stated : known)->name,
				     d->section, stated->line, "%s", text.data);
		place_member(d->c, f, d->what, known->name);
		buf_free(&text);
	} else if (api_member(api_struct(&d->c->header, d->what), stated->name) ||
		   api_member(api_struct(&d->c->btf, d->what), stated->name)) {
		return;		/* the tables lack it */
	} else if (is_old_name(d, stated)) {
		add_old_name(d, stated);
	} else {
		compare_add_page(d->c, kind, d->what, stated->name, d->section, stated->line,
				 "%s has no %s", d->what, stated->name);
	}
}

static void compare_struct(struct conform *c, const struct api_struct *known,
			   const struct api_struct *stated, size_t section, const char *what)
{
	struct differing d = { c, stated, section, what };

	compare_begin(c, "page: %s", what);
	member_diff(known, stated, page_member_differs, &d);
}

/* Entries of members -------------------------------------------------------------------- */

/* Return the last layout with such a member before a line, or NULL. */
static const struct api_struct *layout_before(const struct conform *c, const char *name,
					      unsigned int line)
{
	const struct api_struct *found = NULL;

	for_each(st, c->page.desc.structs, c->page.desc.nstructs)
		if (st->line < line && (!found || st->line > found->line) &&
		    api_member(st, name))
			found = st;
	return found;
}

/*
 * Return the entry of a member in a section, or NULL.  Of entries with the same name, take
 * the one after the layout of its structure.
 */
static const struct page_entry *member_entry(const struct conform *c,
					     const struct api_struct *st, const char *name,
					     size_t section)
{
	const struct page_entry *before = NULL;

	for_each(e, c->page.entries, c->page.nentries) {
		if (!e->italic)
			continue;
		if (e->section == section && !strcmp(e->name, name)) {
			const struct api_struct *of = layout_before(c, name, e->line);

			/* without a layout, it follows the entry of another member */
			if (!of || !strcmp(of->name, st->name) ||
			    (!api_struct(&c->page.desc, st->name) && before &&
			     before->section == section && api_member(st, before->name)))
				return e;
		}
		before = e;
	}
	return NULL;
}

static void member_release(struct conform *c, const struct page_entry *e,
			   const struct api_struct *st, const struct api_member *m)
{
	uint32_t first = UINT32_MAX;	/* of the structure: its oldest members need no release */
	struct finding *f;

	for (size_t i = 0; i < st->n; i++)
		if (st->members[i].since && st->members[i].since < first)
			first = st->members[i].since;
	if (first < KVER(2, 6, 32))
		first = KVER(2, 6, 32);
	if (!m->since || e->since == m->since || (!e->since && m->since <= first))
		return;
	if (e->since)
		f = compare_add_page(c, FINDING_SINCE, st->name, m->name, e->section, e->line,
				     "%s of %s was added in Linux %s, not %s", m->name, st->name,
				     tables_release(m->since).text, tables_release(e->since).text);
	else
		f = compare_add_page(c, FINDING_UNDATED, st->name, m->name, e->section, e->line,
				     "No release: %s of %s was added in Linux %s", m->name,
				     st->name, tables_release(m->since).text);
	finding_since(f, m->since);
	place_commit(c, f, e->line);
	place_member(c, f, st->name, m->name);
}

/* Members that the layout lacks are already reported. */
static void compare_entries(struct conform *c, const struct api_struct *known,
			    const struct api_struct *stated, size_t section)
{
	unsigned int last = 0;

	for_each(m, known->members, known->n) {
		const struct page_entry *e = member_entry(c, known, m->name, section);
		const struct api_member *there = api_member(stated, m->name);
		unsigned int line = last; /* of the entry that a new member's entry would follow */
		struct finding *f;

		last = e ? e->line : last;
		if (m->reserved)
			continue;
		compare_begin(c, "page: %s.%s", known->name, m->name);
		if (e) {
			member_release(c, e, known, m);
		} else if (!stated || there) {
			f = compare_add_page(c, FINDING_UNDESCRIBED, known->name, m->name, section,
					     line ? line : there ? there->line : 0,
					     "%s of %s has no entry", m->name, known->name);
			finding_since(f, m->since);
			place_member(c, f, known->name, m->name);
		}
	}
}

/*
 * Return true if at least a third of a structure's members have entries in a section: the
 * kernel adds members that the page leaves out.
 */
static bool has_entries(const struct conform *c, const struct api_struct *st, size_t section)
{
	size_t with = 0, all = 0;

	for (size_t i = 0; i < st->n; i++) {
		if (st->members[i].reserved)
			continue;
		all++;
		with += member_entry(c, st, st->members[i].name, section) != NULL;
	}
	return all > 2 && 3 * with >= all;
}

/* Structures ---------------------------------------------------------------------------- */

/* Prose --------------------------------------------------------------------------------- */

/* Return the width of a member, of an array that of an element; 0: unknown. */
static uint32_t element_bits(const struct api_member *m)
{
	const char *digits = m->type ? strpbrk(m->type, "0123456789") : NULL;

	if (!m->array)
		return m->bits;
	return digits ? (uint32_t)strtoul(digits, NULL, 10) :
	       m->type && strstr(m->type, "char") ? 8 : 0;
}

/*
 * Return the first member that the tags of a paragraph name, in the layout before it, or the
 * one with that width if bits is not 0.
 */
static const struct api_member *tagged_member(const struct conform *c, const struct page_entry *tag,
					      uint32_t bits)
{
	for_each(e, c->page.entries, c->page.nentries) {
		const struct api_struct *st = e->text == tag->text ?
					      layout_before(c, e->name, e->line) : NULL;
		const struct api_member *m = api_member(st, e->name);

		if (m && element_bits(m) && (!bits || element_bits(m) == bits))
			return m;
	}
	return NULL;
}

/* Compare "64-bit" in the text of an entry with the members that its tag names. */
static void compare_said_bits(struct conform *c, const struct page_entry *e)
{
	const char *text = buf_str(&c->page.prose) + e->text, *end = text + e->text_len;
	const struct api_member *m;

	/* one paragraph has several tags */
	if (!memmem(text, e->text_len, "-bit", 4) ||
	    (e > c->page.entries && e[-1].text == e->text))
		return;
	m = tagged_member(c, e, 0);
	if (!m)
		return;
	compare_begin(c, "bits: %s", e->name);
	for (const char *s = text; s < end; s++) {
		uint32_t bits = (uint32_t)strtoul(s, NULL, 10);
		size_t digits = strspn(s, "0123456789");

		s += digits;
		if (digits && s + 4 <= end && !strncmp(s, "-bit", 4) &&
		    strncmp(s + 4, " align", 6) && !tagged_member(c, e, bits))
			place_page(c, compare_add_page(c, FINDING_BITS_SAID, NULL, m->name,
						       e->section, e->line,
						       "%s has %u bits, not %u", m->name,
						       element_bits(m), bits), m->line);
	}
}

/* Complete the signs of members in the tables, whose kinds do not decide all. */
static void complete_signs(struct conform *c, const struct api_desc *by)
{
	for_each(st, c->tables.structs, c->tables.nstructs) {
		for (size_t j = 0; j < st->n; j++) {
			const struct api_member *m = api_member(api_struct(by, st->name),
								st->members[j].name);

			if (m && !st->members[j].sign)
				st->members[j].sign = m->sign;
		}
	}
}

void compare_page_structs(struct conform *c)
{
	complete_signs(c, &c->header);
	complete_signs(c, &c->btf);
	for (size_t i = 0; i < c->page.desc.nstructs; i++) {
		const struct api_struct *stated = &c->page.desc.structs[i];
		const struct api_struct *known = api_struct(&c->tables, stated->name);
		size_t section = c->page.structs[i].section;
		struct api_struct made = { .name = NULL };

		if (!strcmp(stated->name, "read_format"))
			tables_read_format(api_member(stated, "nr"), &made);
		else if (!strcmp(stated->name, "sample_id"))
			tables_sample_id(&made);
		else if (!known)
			continue;
		compare_struct(c, known ? known : &made, stated, section, stated->name);
		if (known && has_entries(c, known, section))
			compare_entries(c, known, stated, section);
		api_desc_struct_free(&made);
	}
	/* entries of structures whose layout the page does not show */
	for_each(st, c->tables.structs, c->tables.nstructs) {
		size_t s = api_struct(&c->page.desc, st->name) ? c->page.nsections : 0;

		while (s < c->page.nsections && !has_entries(c, st, s))
			s++;
		if (s < c->page.nsections)
			compare_entries(c, st, NULL, s);
	}
	for (size_t i = 0; i < c->page.nentries; i++)
		if (c->page.entries[i].italic)
			compare_said_bits(c, &c->page.entries[i]);
}

/* Records ------------------------------------------------------------------------------- */

void compare_page_records(struct conform *c)
{
	for_each(type, xlat_perf_event_type.entries, xlat_perf_event_type.n) {
		const struct page_entry *e = page_entry(&c->page, type->name);
		const struct api_struct *st = NULL;
		size_t at = e ? (size_t)(e - c->page.entries) : 0;
		struct api_struct known;

		if (type->traits || !e)
			continue;
		/* the first layout after the tag that names the record */
		for (size_t j = 0; j < c->page.desc.nstructs && !st; j++) {
			const struct page_struct *s = &c->page.structs[j];

			if (s->nentries && at >= s->entry && at < s->entry + s->nentries &&
			    !*c->page.desc.structs[j].name)
				st = &c->page.desc.structs[j];
		}
		if (!st) {
			compare_begin(c, "page: %s", type->name);
			compare_add_page(c, FINDING_LAYOUT, NULL, type->name, e->section, e->line,
					 "The layout of %s is not shown", type->name);
			continue;
		}
		tables_record((uint32_t)type->value, &known);
		compare_struct(c, &known, st, e->section, type->name);
		api_desc_struct_free(&known);
	}
}
