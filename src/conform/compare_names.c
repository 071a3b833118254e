// SPDX-License-Identifier: LGPL-2.1-or-later
/* Constants and ioctls of the page: missing, misspelt, wrong values and releases. */
#include <stdlib.h>
#include <string.h>

#include "conform/compare.h"
#include "core/lib/die.h"
#include "xlat/tables.h"

#define FIRST_PERF KVER(2, 6, 32)

/* The names that unknown words of the page mean. */
struct misnames {
	const char **meant;
	size_t n;
};

/* Return the nearest name before n in its table that is on the page, else after it, or NULL. */
static const char *sibling(const struct conform *c, const struct api_name *n, bool entry)
{
	const struct api_name *own = api_name(&c->tables, n->name); /* n may be of a header */
	const char *found = NULL;

	for_each(other, c->tables.names, c->tables.nnames) {
		if (strcmp(other->set, n->set) || (found && own && other >= own))
			continue;
		if (entry ? !other->traits && page_entry(&c->page, other->name) :
			    !!page_word(&c->page, other->name))
			found = other->name;
	}
	return found;
}

/* Wrong names --------------------------------------------------------------------------- */

/* Return true if a word can only be meant as a constant of perf. */
static bool looks_like_constant(const struct conform *c, const struct page_word *w)
{
	static const char *const prefixes[] = { "PERF_", "HW_BREAKPOINT_" };
	size_t len = strlen(w->name);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(w->name, prefixes[i], strlen(prefixes[i]))) {
			/* except a prefix, as in "PERF_RECORD types" */
			for (size_t j = 0; j < c->tables.nnames; j++)
				if (!strncmp(c->tables.names[j].name, w->name, len) &&
				    c->tables.names[j].name[len] == '_')
					return false;
			return true;
		}
	return compare_nearest(c, w->name, false) && len > 8;
}

static bool looks_like_member(const struct conform *c, const struct page_word *w)
{
	const struct call_desc *open = call_by_name("perf_event_open");

	for (unsigned int i = 0; i < open->nargs; i++)
		if (!strcmp(open->args[i].name, w->name))
			return false;
	for (size_t i = 0; i < c->header.nnames; i++)
		if (!strcmp(c->header.names[i].set, w->name))
			return false;
	for (size_t i = 0; xlat_tables[i]; i++)
		if (!strcmp(xlat_tables[i]->name, w->name))
			return false;
	for (const struct pair_desc *p = part_descs; p->name; p++)
		if (api_desc_phrase(p->text, strlen(p->text), w->name, strlen(w->name)))
			return false;
	return !compare_knows_member(c, w->name) && !api_desc_has_member(&c->page.desc, w->name) &&
	       !api_struct(&c->page.desc, w->name) && !api_struct(&c->tables, w->name) &&
	       compare_nearest(c, w->name, true);
}

static void add_unknown_names(struct conform *c, struct misnames *m)
{
	for_each(w, c->page.words, c->page.nwords) {
		const struct misstatement_desc *macro = misstatement_descs;
		const char *near;
		struct finding *f;

		if (page_word(&c->page, w->name) != w)
			continue;	/* not its first place */
		/* the page should have the name of a macro with arguments, which no table has */
		while (macro->name && !(macro->lacks && !strcmp(macro->name, w->name)))
			macro++;
		if (w->constant ? compare_knows(c, w->name) || macro->name ||
				  !looks_like_constant(c, w) :
		    w->code || !looks_like_member(c, w))
			continue;
		near = compare_nearest(c, w->name, !w->constant);
		compare_begin(c, "page: %s", w->name);
		f = compare_add_page(c, FINDING_UNKNOWN, NULL, w->name, w->section, 0,
				     "No such name: %s%s%s", w->name, near ? "; probably " : "",
				     near ? near : "");
		place_words(c, f, w->name);
		if (!near)
			continue;
		f->instead = xstrdup(near);
		if (w->constant)
			place_name(c, f, near);
		m->meant = xgrow(m->meant, m->n, sizeof(*m->meant));
		m->meant[m->n++] = near;
	}
}

/* A misspelt name is not reported as missing, too. */
static bool is_misspelt(const struct misnames *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->meant[i], name))
			return true;
	return false;
}

/* Add the release of a name to a finding, and its places. */
static void finding_name(struct conform *c, struct finding *f, const struct api_name *n)
{
	finding_since(f, n->since);
	place_name(c, f, n->name);
}

/* Known names --------------------------------------------------------------------------- */

static void wrong_since(struct conform *c, const char *name, uint32_t known, uint32_t stated,
			size_t section, unsigned int line)
{
	struct finding *f;

	f = compare_add_page(c, FINDING_SINCE, NULL, name, section, line,
			     "%s was added in Linux %s, not %s", name, tables_release(known).text,
			     tables_release(stated).text);
	finding_since(f, known);
	place_commit(c, f, line);
	place_name(c, f, name);
}

static void compare_entry(struct conform *c, const struct api_name *n,
			  const struct page_entry *e)
{
	uint32_t first = UINT32_MAX;	/* of the table: its oldest names need no release */
	struct buf line = { 0 };

	for (size_t i = 0; i < c->tables.nnames; i++)
		if (!strcmp(c->tables.names[i].set, n->set) && c->tables.names[i].since < first)
			first = c->tables.names[i].since;
	if (e->since && n->since && e->since != n->since)
		wrong_since(c, n->name, n->since, e->since, e->section, e->line);
	else if (!e->since && n->since > (first < FIRST_PERF ? FIRST_PERF : first))
		finding_name(c, compare_add_page(c, FINDING_UNDATED, NULL, n->name, e->section,
						 e->line, "No release: %s was added in Linux %s",
						 n->name, tables_release(n->since).text), n);
	/* a macro of one font: .B NAME " (since Linux X)" */
	page_quote(&c->page, e->line, &line);
	if (e->since && !strncmp(buf_str(&line), ".B ", 3))
		compare_add_page(c, FINDING_MARKUP, NULL, n->name, e->section, e->line,
				 "The release of %s has the font of the name", n->name);
	if (e->untagged)
		compare_add_page(c, FINDING_MARKUP, NULL, n->name, e->section, e->line,
				 "The entry of %s lacks its .TP, so it continues the one before",
				 n->name);
	buf_free(&line);
}

static void compare_values(struct conform *c, const struct api_name *n)
{
	for_each(p, c->page.claims, c->page.nclaims) {
		if (strcmp(p->name, n->name))
			continue;
		if (p->value != n->value)
			place_name(c, compare_add_page(c, FINDING_VALUE, NULL, n->name, p->section,
						       p->line, "%s is %llu, not %llu", n->name,
						       (unsigned long long)n->value,
						       (unsigned long long)p->value), n->name);
		if (p->since && n->since && p->since != n->since)
			wrong_since(c, n->name, n->since, p->since, p->section, p->line);
	}
}

static void add_missing_name(struct conform *c, const struct api_name *n)
{
	const char *by_entry = sibling(c, n, true);
	const char *after = by_entry ? by_entry : sibling(c, n, false);
	const struct page_entry *e = by_entry ? page_entry(&c->page, by_entry) : NULL;
	const struct page_word *w = !e && after ? page_word(&c->page, after) : NULL;

	finding_name(c, compare_add_page(c, FINDING_LACKING, NULL, n->name,
					 e ? e->section : w ? w->section : SIZE_MAX,
					 e ? e->line : w ? w->line : 0, "Undocumented: %s%s%s",
					 n->name, after ? "; add it after " : "",
					 after ? after : ""), n);
}

static void compare_name(struct conform *c, const struct misnames *m,
			 const struct api_name *n)
{
	const struct page_entry *e = page_entry(&c->page, n->name);
	const struct page_word *w = page_word(&c->page, n->name);
	const char *other;
	struct finding *f;

	compare_begin(c, "page: %s", n->name);
	compare_values(c, n);
	if (e) {
		compare_entry(c, n, e);
	} else if (!w && !is_misspelt(m, n->name)) {
		add_missing_name(c, n);
	} else if (w && (other = sibling(c, n, true))) {
		f = compare_add_page(c, FINDING_UNDESCRIBED, NULL, n->name,
				     page_entry(&c->page, other)->section, 0,
				     "%s is mentioned, but has no entry", n->name);
		place_words(c, f, n->name);
		finding_name(c, f, n);
	}
}

/* Whole tables -------------------------------------------------------------------------- */

/* Limits of an enum need no documentation. */
static bool is_limit_name(const char *name)
{
	return strstr(name, "_MAX") || !strncmp(name, "NR_", 3);
}

/* Add a whole table: its names for programs or, without any, all but limits. */
static void add_missing_table(struct conform *c, const char *set)
{
	const struct api_name *first = NULL, *last = NULL;
	struct buf names = { 0 };
	struct finding *f;

	for (int any = 0; any < 2 && !first; any++)
		for_each(n, c->tables.names, c->tables.nnames) {
			if (strcmp(n->set, set) || (any ? is_limit_name(n->name) : n->traits))
				continue;
			first = first ? first : n;
			last = n;
			buf_addf(&names, "%s%s", names.len ? "\n" : "", n->name);
		}
	if (first) {
		compare_begin(c, "page: %s", set);
		f = compare_add_page(c, FINDING_LACKING, NULL, set, SIZE_MAX, 0,
				     "Undocumented: %s%s%s", first->name,
				     last == first ? "" : last == first + 1 ? " and " : " to ",
				     last == first ? "" : last->name);
		finding_name(c, f, first);
		if (last != first)
			finding_detail(f, &names);
	}
	buf_free(&names);
}

/* Report names that another source has, and neither tables nor page. */
static void newer_names(struct conform *c, const struct api_desc *s)
{
	for_each(n, s->names, s->nnames) {
		if (api_name(&c->tables, n->name) || page_word(&c->page, n->name) ||
		    (s == &c->btf && api_name(&c->header, n->name)))
			continue;
		compare_begin(c, "page: %s", n->name);
		add_missing_name(c, n);
	}
}

/* Compare stated values of constants from other headers, such as BPF_TAG_SIZE. */
static void compare_other_values(struct conform *c)
{
	for (size_t i = 0; i < c->page.nclaims; i++)
		for (size_t t = 0; xlat_tables[t]; t++) {
			const struct page_claim *p = &c->page.claims[i];
			const struct xlat_entry *e = xlat_by_name(xlat_tables[t], p->name);

			if (!e || api_name(&c->tables, p->name) || strcmp(e->name, p->name))
				continue;
			compare_begin(c, "page: %s", p->name);
			compare_values(c, &(struct api_name){ .name = p->name, .value = e->value });
		}
}

void compare_page_names(struct conform *c)
{
	const struct api_name *end = c->tables.names + c->tables.nnames;
	struct misnames m = { .n = 0 };
	const char *set = "";
	bool mentioned = false;

	add_unknown_names(c, &m);
	for_each(n, c->tables.names, c->tables.nnames) {
		if (strcmp(n->set, set)) {
			set = n->set;
			mentioned = false;
			for (const struct api_name *o = n; o < end && !strcmp(o->set, set); o++)
				mentioned |= page_word(&c->page, o->name) ||
					     is_misspelt(&m, o->name);
			if (!mentioned)
				add_missing_table(c, set);
		}
		if (!mentioned)
			continue;
		if (!n->traits) {
			compare_name(c, &m, n);
		} else if (page_word(&c->page, n->name)) {
			compare_begin(c, "page: %s", n->name);
			compare_values(c, n);
		} else if (n->traits & XLAT_NONABI && !is_limit_name(n->name) && n->file &&
			   !strcmp(n->file, "linux/perf_event.h")) {
			/* of names that are no values, the page should have perf's masks */
			compare_begin(c, "page: %s", n->name);
			add_missing_name(c, n);
		}
	}
	newer_names(c, &c->header);
	newer_names(c, &c->btf);
	compare_other_values(c);
	free(m.meant);
}
