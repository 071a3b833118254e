// SPDX-License-Identifier: LGPL-2.1-or-later
/* Findings of comparisons with their places, and lookups in all sources. */
#include "conform/compare.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "conform/tables.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "xlat/tables.h"

enum { WORD_PLACES = 8 };	/* places of a word in a finding */

void conform_free(struct conform *c)
{
	for (size_t i = 0; i < c->nchecks; i++) {
		free(c->checks[i].what);
		free(c->checks[i].untried);
	}
	free(c->checks);
	findings_free(&c->found);
	findings_free(&c->excepted);
	api_desc_free(&c->tables);
	api_desc_free(&c->header);
	api_desc_free(&c->btf);
	page_free(&c->page);
}

/* Findings -------------------------------------------------------------------------------- */

void compare_begin(struct conform *c, const char *what, ...)
{
	struct buf b = { 0 };
	va_list ap;

	va_start(ap, what);
	buf_vaddf(&b, what, ap);
	va_end(ap);
	c->checks = page_grow(c->checks, c->nchecks, sizeof(*c->checks));
	c->checks[c->nchecks++] = (struct conform_check){ .what = b.data, .first = c->found.n };
}

void compare_untried(struct conform *c, char *reason)
{
	c->checks[c->nchecks - 1].untried = reason;
}

static struct finding *add_finding(struct conform *c, enum finding_source source,
				   enum finding_kind kind, const char *owner, const char *name,
				   const char *section, const char *text, va_list ap)
{
	struct buf id = { 0 }, words = { 0 };
	const struct pair_desc *e = exception_descs;
	struct finding *f;

	finding_id(source, kind, owner, name, &id);
	while (e->name && fnmatch(e->name, id.data, 0))
		e++;
	f = finding_add(e->name ? &c->excepted : &c->found, source, kind, owner, name);
	buf_vaddf(&words, text, ap);
	f->text = words.data;
	f->section = xstrdup(section);
	f->detail = e->name ? xstrdup(e->text) : NULL;
	buf_free(&id);
	return f;
}

struct finding *compare_add(struct conform *c, enum finding_source source,
			    enum finding_kind kind, const char *owner, const char *name,
			    const char *section, const char *text, ...)
{
	struct finding *f;
	va_list ap;

	va_start(ap, text);
	f = add_finding(c, source, kind, owner, name, section, text, ap);
	va_end(ap);
	return f;
}

struct finding *compare_add_page(struct conform *c, enum finding_kind kind, const char *owner,
				 const char *name, size_t section, unsigned int line,
				 const char *text, ...)
{
	struct finding *f;
	va_list ap;

	va_start(ap, text);
	f = add_finding(c, FINDING_PAGE, kind, owner, name, page_section(&c->page, section), text,
			ap);
	va_end(ap);
	if (line)
		place_page(c, f, line);
	return f;
}

/* Places ---------------------------------------------------------------------------------- */

void place_page(struct conform *c, struct finding *f, unsigned int line)
{
	struct buf quote = { 0 };

	page_quote(&c->page, line, &quote);
	finding_place(f, FINDING_PAGE, c->page.desc.file, line, buf_str(&quote));
	buf_free(&quote);
}

/* A comment after an entry names the commit that added the feature. */
void place_commit(struct conform *c, struct finding *f, unsigned int line)
{
	struct buf quote = { 0 };

	page_quote(&c->page, line + 1, &quote);
	if (!strncmp(buf_str(&quote), ".\\\" commit ", 11))
		finding_place(f, FINDING_PAGE, c->page.desc.file, line + 1, quote.data);
	buf_free(&quote);
}

void place_words(struct conform *c, struct finding *f, const char *name)
{
	unsigned int last = 0, n = 0;

	for (size_t i = 0; i < c->page.nwords && n < WORD_PLACES; i++) {
		const struct page_word *w = &c->page.words[i];

		if (strcmp(w->name, name) || w->line == last)
			continue;
		place_page(c, f, w->line);
		last = w->line;
		n++;
	}
}

static void place_name_in(struct finding *f, const struct api_desc *s, const char *name)
{
	const struct api_name *n = api_name(s, name);
	struct buf quote = { 0 };
	const char *file;
	char since[16];

	if (!n)
		return;
	buf_adds(&quote, name);
	if (n->valued)
		buf_addf(&quote, n->value < 256 ? " = %llu" : " = 0x%llx",
			 (unsigned long long)n->value);
	if (n->since)
		buf_addf(&quote, ", since %s", tables_release(n->since, since));
	file = s->source == FINDING_XLAT ? n->set : n->file ? n->file : s->file;
	finding_place(f, s->source, file, n->line, quote.data);
	buf_free(&quote);
}

void place_name(struct conform *c, struct finding *f, const char *name)
{
	place_name_in(f, &c->header, name);
	place_name_in(f, &c->btf, name);
	place_name_in(f, &c->tables, name);
}

static void place_member_in(struct finding *f, const struct api_desc *s, const char *structure,
			    const char *member)
{
	const struct api_member *m = api_member(api_struct(s, structure), member);
	struct buf quote = { 0 };
	char since[16];

	if (!m)
		return;
	buf_addf(&quote, "%s: ", member);
	if (m->bitfield)
		buf_addf(&quote, "%u bit%s at byte %u, bit %u", m->bits, m->bits == 1 ? "" : "s",
			 m->start / 64 * 8, m->start % 64);
	else
		buf_addf(&quote, "%u bytes at byte %u", m->bits / 8, m->start / 8);
	if (m->since)
		buf_addf(&quote, ", since %s", tables_release(m->since, since));
	finding_place(f, s->source, s->source == FINDING_XLAT ? structure : s->file, m->line,
		      quote.data);
	buf_free(&quote);
}

void place_member(struct conform *c, struct finding *f, const char *structure,
		  const char *member)
{
	place_member_in(f, &c->header, structure, member);
	place_member_in(f, &c->btf, structure, member);
	place_member_in(f, &c->tables, structure, member);
}

/* Lookups -------------------------------------------------------------------------------- */

bool compare_knows(const struct conform *c, const char *name)
{
	for (size_t i = 0; xlat_tables[i]; i++) {
		const struct xlat_entry *e = xlat_by_name(xlat_tables[i], name);

		/* xlat_by_name() accepts names without their prefix */
		if (e && !strcmp(e->name, name))
			return true;
	}
	return api_name(&c->tables, name) || api_name(&c->header, name) ||
	       api_name(&c->btf, name);
}

static bool layout_has(const struct layout *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->fields[i].name, name))
			return true;
	return false;
}

bool compare_knows_member(const struct conform *c, const char *name)
{
	for (size_t i = 0; layouts[i]; i++)
		if (layout_has(layouts[i], name))
			return true;
	return api_desc_has_member(&c->header, name) || api_desc_has_member(&c->btf, name);
}

/* Return true if the names differ by one word of NAME_WITH_WORDS, replaced or left out. */
static bool word_differs(const char *a, const char *b)
{
	size_t n = 0, na = strlen(a), nb = strlen(b), tail = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '_')
			n = i + 1;
	if (!n)
		return false;
	/* the common end begins with "_", which may be the one before n */
	for (size_t i = 1; i < na - n + 2 && i < nb - n + 2 && a[na - i] == b[nb - i]; i++)
		if (a[na - i] == '_')
			tail = i;
	return tail && !memchr(a + n, '_', na - tail < n ? 0 : na - tail - n) &&
	       !memchr(b + n, '_', nb - tail < n ? 0 : nb - tail - n);
}

/* Return true if one begins with the other: sample_freq, sample_frequency. */
static bool longer(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), n = na < nb ? na : nb;

	return n > 5 && !memcmp(a, b, n) && (na > nb ? na - nb : nb - na) <= 5;
}

struct search {
	const char *word;
	struct nearest near;
	const char *like;	/* first name that differs by a word, or only by PERF_ */
};

static void search_try(struct search *s, const char *name)
{
	nearest_try(&s->near, name);
	if (!s->like && (word_differs(name, s->word) || longer(s->word, name) ||
			 (!strncmp(name, "PERF_", 5) && !strcmp(name + 5, s->word))))
		s->like = name;
}

static const char *search_members(struct search *s)
{
	for (size_t i = 0; layouts[i]; i++)
		for (size_t j = 0; j < layouts[i]->n; j++)
			search_try(s, layouts[i]->fields[j].name);
	/* near.best is copied: return the string of the layout */
	for (size_t i = 0; layouts[i] && *s->near.best; i++)
		for (size_t j = 0; j < layouts[i]->n; j++)
			if (!strcmp(layouts[i]->fields[j].name, s->near.best))
				return layouts[i]->fields[j].name;
	return NULL;
}

const char *compare_nearest(const struct conform *c, const char *word, bool member)
{
	struct search s = { .word = word };
	const char *near = NULL;

	nearest_start(&s.near, word, strlen(word));
	s.near.distance = 2;
	if (member) {
		near = search_members(&s);
	} else {
		for (size_t i = 0; i < c->tables.nnames; i++)
			search_try(&s, c->tables.names[i].name);
		if (*s.near.best)
			near = api_name(&c->tables, s.near.best)->name;
	}
	return near ? near : s.like;
}
