// SPDX-License-Identifier: LGPL-2.1-or-later
/* Constants and ioctls of the page: missing, misspelt, wrong values and releases. */
#include <stdlib.h>
#include <string.h>

#include "conform/compare.h"
#include "conform/tables.h"
#include "lib/buf.h"
#include "lib/die.h"
#include "xlat/tables.h"

/* What a table begins with needs no "since" of its own; nor what came with perf. */
#define FIRST_PERF KVER(2, 6, 32)

static uint32_t first_of(const struct conform *c, const char *set)
{
	uint32_t first = UINT32_MAX;

	for (size_t i = 0; i < c->tables.nnames; i++)
		if (!strcmp(c->tables.names[i].set, set) && c->tables.names[i].since < first)
			first = c->tables.names[i].since;
	return first < FIRST_PERF ? FIRST_PERF : first;
}

/* Words of the page that are no name of perf's, though they look so. */
struct misname {
	const struct page_word *word;
	const char *near;	/* what is meant, or NULL */
};

struct misnames {
	struct misname *all;
	size_t n;
};

/*
 * The entry, or else another place, of a name of the same table: that which
 * stands next before it in the table, or next at all.
 */
static const struct page_entry *sibling(const struct conform *c, const struct api_name *n)
{
	const struct page_entry *found = NULL;

	for (size_t i = 0; i < c->tables.nnames; i++) {
		const struct api_name *other = &c->tables.names[i];
		const struct page_entry *e;

		if (strcmp(other->set, n->set) || other->traits)
			continue;
		e = page_entry(&c->page, other->name);
		if (e && (!found || i < (size_t)(n - c->tables.names)))
			found = e;
	}
	return found;
}

static const struct page_word *sibling_word(const struct conform *c, const struct api_name *n)
{
	const struct page_word *found = NULL;

	for (size_t i = 0; i < c->tables.nnames; i++) {
		const struct api_name *other = &c->tables.names[i];
		const struct page_word *w;

		if (strcmp(other->set, n->set))
			continue;
		w = page_word(&c->page, other->name);
		if (w && (!found || i < (size_t)(n - c->tables.names)))
			found = w;
	}
	return found;
}

/* Wrong names --------------------------------------------------------------------------- */

/* A word that could only be one of perf's constants. */
static bool claims_to_be(const struct conform *c, const struct page_word *w)
{
	static const char *const prefixes[] = { "PERF_", "HW_BREAKPOINT_" };
	size_t len = strlen(w->name);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(w->name, prefixes[i], strlen(prefixes[i]))) {
			/* the beginning of names, as in "PERF_RECORD types", is none */
			for (size_t j = 0; j < c->tables.nnames; j++)
				if (!strncmp(c->tables.names[j].name, w->name, len) &&
				    c->tables.names[j].name[len] == '_')
					return false;
			return true;
		}
	return compare_nearest(c, w->name, false) && len > 8;
}

static bool member_like(const struct conform *c, const struct page_word *w)
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
	return !compare_knows_member(c, w->name) && !api_desc_has_member(&c->page.said, w->name) &&
	       !api_struct(&c->page.said, w->name) && !api_struct(&c->tables, w->name) &&
	       compare_nearest(c, w->name, true);
}

static void unknown_name(struct conform *c, const struct page_word *w, const char *near)
{
	struct finding *f;

	compare_begin(c, "page", w->name);
	f = compare_find(c, "page-unknown", w->name, FINDING_ERROR,
			 page_section(&c->page, w->section), "There is no %s%s%s%s", w->name,
			 near ? "; " : "", near ? near : "", near ? " is meant, it seems" : "");
	place_words(c, f, w->name);
	if (near && w->constant)
		place_name(c, f, near);
}

static void unknown_names(struct conform *c, struct misnames *m)
{
	for (size_t i = 0; i < c->page.nwords; i++) {
		const struct page_word *w = &c->page.words[i];

		if (page_word(&c->page, w->name) != w)
			continue;	/* seen before */
		if (w->constant ? compare_knows(c, w->name) || !claims_to_be(c, w) :
				  w->code || !member_like(c, w))
			continue;
		m->all = page_grow(m->all, m->n, sizeof(*m->all));
		m->all[m->n] = (struct misname){
			w, compare_nearest(c, w->name, !w->constant),
		};
		unknown_name(c, w, m->all[m->n++].near);
	}
}

/* A wrong name stands in for it, so that it is not missing besides. */
static bool misspelt(const struct misnames *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->all[i].near && !strcmp(m->all[i].near, name))
			return true;
	return false;
}

/* Known names --------------------------------------------------------------------------- */

static void wrong_since(struct conform *c, const char *name, uint32_t right, uint32_t said,
			size_t section, unsigned int line)
{
	char a[16], b[16];
	struct finding *f;

	f = compare_find(c, "page-since", name, FINDING_ERROR, page_section(&c->page, section),
			 "%s came with Linux %s, not with %s", name, tables_release(right, a),
			 tables_release(said, b));
	compare_since(f, right);
	place_page(c, f, line);
	place_commit(c, f, line);
	place_name(c, f, name);
}

static void entry_found(struct conform *c, const struct api_name *n,
			const struct page_entry *e)
{
	char since[16];
	struct finding *f;

	if (e->since && n->since && e->since != n->since) {
		wrong_since(c, n->name, n->since, e->since, e->section, e->line);
	} else if (!e->since && n->since > first_of(c, n->set)) {
		f = compare_find(c, "page-undated", n->name, FINDING_NOTE,
				 page_section(&c->page, e->section),
				 "%s came with Linux %s, which is not said", n->name,
				 tables_release(n->since, since));
		compare_since(f, n->since);
		place_page(c, f, e->line);
		place_name(c, f, n->name);
	}
	if (e->untagged) {
		f = compare_find(c, "page-markup", n->name, FINDING_NOTE,
				 page_section(&c->page, e->section),
				 "The entry of %s has no .TP before it, so it runs into the one "
				 "before", n->name);
		place_page(c, f, e->line);
	}
}

static void claims(struct conform *c, const struct api_name *n)
{
	for (size_t i = 0; i < c->page.nclaims; i++) {
		const struct page_claim *p = &c->page.claims[i];
		struct finding *f;

		if (strcmp(p->name, n->name))
			continue;
		if (p->value != n->value) {
			f = compare_find(c, "page-value", n->name, FINDING_ERROR,
					 page_section(&c->page, p->section),
					 "%s is %llu, not %llu", n->name,
					 (unsigned long long)n->value,
					 (unsigned long long)p->value);
			place_page(c, f, p->line);
			place_name(c, f, n->name);
		}
		if (p->since && n->since && p->since != n->since)
			wrong_since(c, n->name, n->since, p->since, p->section, p->line);
	}
}

static void name_missing(struct conform *c, const struct api_name *n)
{
	const struct page_entry *e = sibling(c, n);
	const struct page_word *w = e ? NULL : sibling_word(c, n);
	const char *behind = e ? e->name : w ? w->name : NULL;
	struct finding *f;

	f = compare_find(c, "page-missing", n->name, FINDING_MISSING,
			 page_section(&c->page, e ? e->section : w ? w->section : SIZE_MAX),
			 "%s is missing%s%s", n->name, behind ? ", perhaps behind " : "",
			 behind ? behind : "");
	compare_since(f, n->since);
	if (behind)
		place_page(c, f, e ? e->line : w->line);
	place_name(c, f, n->name);
}

static void compare_name(struct conform *c, const struct misnames *m,
			 const struct api_name *n)
{
	const struct page_entry *e = page_entry(&c->page, n->name);
	const struct page_entry *other = sibling(c, n);
	const struct page_word *w = page_word(&c->page, n->name);
	struct finding *f;

	compare_begin(c, "page", n->name);
	claims(c, n);
	if (e) {
		entry_found(c, n, e);
	} else if (!w && !misspelt(m, n->name)) {
		name_missing(c, n);
	} else if (w && other) {
		f = compare_find(c, "page-undescribed", n->name, FINDING_MISSING,
				 page_section(&c->page, other->section),
				 "%s has no entry of its own, though it is named elsewhere",
				 n->name);
		compare_since(f, n->since);
		place_words(c, f, n->name);
		place_name(c, f, n->name);
	}
}

/* Whole tables -------------------------------------------------------------------------- */

static bool is_mentioned(const struct conform *c, const struct misnames *m, const char *set)
{
	for (size_t i = 0; i < c->tables.nnames; i++)
		if (!strcmp(c->tables.names[i].set, set) &&
		    (page_word(&c->page, c->tables.names[i].name) ||
		     misspelt(m, c->tables.names[i].name)))
			return true;
	return false;
}

/* One that nobody would look for on a page: how many there are, and where they end. */
static bool is_limit(const char *name)
{
	return strstr(name, "_MAX") || !strncmp(name, "NR_", 3);
}

/* The names of a table that are for programs; of one without such, all but limits. */
static bool of_table(const struct api_name *n, const char *set, bool any)
{
	return !strcmp(n->set, set) && (any ? !is_limit(n->name) : !n->traits);
}

static void table_names(const struct conform *c, const char *set, bool any, struct buf *out,
			const struct api_name **first, const struct api_name **last)
{
	*first = *last = NULL;
	for (size_t i = 0; i < c->tables.nnames; i++) {
		const struct api_name *n = &c->tables.names[i];

		if (!of_table(n, set, any))
			continue;
		*first = *first ? *first : n;
		*last = n;
		buf_addf(out, "%s%s", out->len ? "\n" : "", n->name);
	}
}

static void table_missing(struct conform *c, const char *set)
{
	const struct api_name *first, *last;
	struct buf names = { 0 };
	struct finding *f;

	table_names(c, set, false, &names, &first, &last);
	if (!first)
		table_names(c, set, true, &names, &first, &last);
	if (first) {
		compare_begin(c, "page", set);
		f = compare_find(c, "page-missing", set, FINDING_MISSING, "",
				 "Nothing is said of %s%s%s", first->name,
				 last == first ? "" : last == first + 1 ? " and " : " to ",
				 last == first ? "" : last->name);
		compare_since(f, first->since);
		place_name(c, f, first->name);
		if (!f->detail && last != first)
			f->detail = xstrdup(names.data);
	}
	buf_free(&names);
}

/* Names that other sources have and our tables do not. */
static void newer_names(struct conform *c, const struct api_desc *s)
{
	for (size_t i = 0; i < s->nnames; i++) {
		const struct api_name *n = &s->names[i];

		if (api_name(&c->tables, n->name) || page_word(&c->page, n->name) ||
		    (s == &c->btf && api_name(&c->header, n->name)))
			continue;
		compare_begin(c, "page", n->name);
		name_missing(c, n);
	}
}

/* Of what perf's headers do not define, as the length of a BPF tag. */
static void other_claims(struct conform *c)
{
	for (size_t i = 0; i < c->page.nclaims; i++)
		for (size_t t = 0; xlat_tables[t]; t++) {
			const struct page_claim *p = &c->page.claims[i];
			const struct xlat_entry *e = xlat_by_name(xlat_tables[t], p->name);
			struct api_name n;

			if (!e || api_name(&c->tables, p->name) || strcmp(e->name, p->name))
				continue;
			n = (struct api_name){ .name = p->name, .value = e->value };
			compare_begin(c, "page", p->name);
			claims(c, &n);
		}
}

void compare_page_names(struct conform *c)
{
	struct misnames m = { .n = 0 };
	const char *set = "";
	bool mentioned = false;

	unknown_names(c, &m);
	for (size_t i = 0; i < c->tables.nnames; i++) {
		const struct api_name *n = &c->tables.names[i];

		if (strcmp(n->set, set)) {
			set = n->set;
			mentioned = is_mentioned(c, &m, set);
			if (!mentioned)
				table_missing(c, set);
		}
		if (mentioned && !n->traits)
			compare_name(c, &m, n);
		else if (mentioned && page_word(&c->page, n->name))
			compare_begin(c, "page", n->name), claims(c, n);
	}
	newer_names(c, &c->header);
	newer_names(c, &c->btf);
	other_claims(c);
	free(m.all);
}
