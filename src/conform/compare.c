// SPDX-License-Identifier: LGPL-2.1-or-later
/* Findings of comparisons with their places, and lookups in all sources. */
#include "conform/compare.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "xlat/tables.h"

const char *const finding_severities[] = { "error", "missing", "note" };
const char *const finding_sources[] = { "page", "header", "btf", "xlat", "kernel" };

static const struct {
	const char *name;
	enum finding_severity severity;
} kinds[] = {
#define FINDING_KIND(kind, word, severity) { word, FINDING_##severity },
	FINDING_KINDS(FINDING_KIND)
#undef FINDING_KIND
};

void finding_place(struct finding *f, enum finding_source source, const char *file,
		   unsigned int line, const char *quote)
{
	f->places = xgrow(f->places, f->nplaces, sizeof(*f->places));
	f->places[f->nplaces++] = (struct finding_place){
		.source = source, .file = xstrdup(file), .line = line,
		.quote = quote ? xstrdup(quote) : NULL,
	};
}

void finding_since(struct finding *f, uint32_t since)
{
	if (since)
		f->since = xstrdup(tables_release(since).text);
}

void finding_detail(struct finding *f, struct buf *text)
{
	if (f->detail)
		buf_free(text);
	else
		f->detail = text->data;
	*text = (struct buf){ 0 };
}

unsigned int finding_page_line(const struct finding *f)
{
	for (size_t i = 0; i < f->nplaces; i++)
		if (f->places[i].source == FINDING_PAGE)
			return f->places[i].line;
	return 0;
}

static void findings_free(struct findings *fs)
{
	for_each(f, fs->all, fs->n) {
		for (size_t j = 0; j < f->nplaces; j++) {
			free(f->places[j].file);
			free(f->places[j].quote);
		}
		free(f->places);
		free(f->owner);
		free(f->name);
		free(f->instead);
		free(f->id);
		free(f->section);
		free(f->since);
		free(f->text);
		free(f->detail);
	}
	free(fs->all);
	*fs = (struct findings){ 0 };
}

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
	c->checks = xgrow(c->checks, c->nchecks, sizeof(*c->checks));
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
	struct findings *fs;

	/* "page-member-missing:OWNER.NAME" */
	if (source != FINDING_KERNEL)
		buf_addf(&id, "%s-", finding_sources[source]);
	buf_addf(&id, "%s:%s%s%s", kinds[kind].name, owner ? owner : "", owner ? "." : "", name);
	while (e->name && fnmatch(e->name, id.data, 0))
		e++;
	fs = e->name ? &c->excepted : &c->found;
	buf_vaddf(&words, text, ap);
	fs->all = xgrow(fs->all, fs->n, sizeof(*fs->all));
	fs->all[fs->n] = (struct finding){
		.source = source, .kind = kind, .severity = kinds[kind].severity, .id = id.data,
		.subject = strchr(id.data, ':') + 1, .owner = owner ? xstrdup(owner) : NULL,
		.name = xstrdup(name), .section = xstrdup(section), .text = words.data,
		.detail = e->name ? xstrdup(e->text) : NULL,
	};
	return &fs->all[fs->n++];
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

void place_name(struct conform *c, struct finding *f, const char *name)
{
	const struct api_desc *const all[] = { &c->header, &c->btf, &c->tables };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct api_desc *s = all[i];
		const struct api_name *n = api_name(s, name);
		struct buf quote = { 0 };

		if (!n)
			continue;
		buf_adds(&quote, name);
		if (n->valued)
			buf_addf(&quote, n->value < 256 ? " = %llu" : " = 0x%llx",
				 (unsigned long long)n->value);
		if (n->since)
			buf_addf(&quote, ", since %s", tables_release(n->since).text);
		finding_place(f, s->source, s->source == FINDING_XLAT ? n->set :
			      n->file ? n->file : s->file, n->line, quote.data);
		buf_free(&quote);
	}
}

void place_member(struct conform *c, struct finding *f, const char *structure,
		  const char *member)
{
	const struct api_desc *const all[] = { &c->header, &c->btf, &c->tables };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct api_desc *s = all[i];
		const struct api_member *m = api_member(api_struct(s, structure), member);
		struct buf quote = { 0 };

		if (!m)
			continue;
		buf_addf(&quote, "%s: ", member);
		if (m->bitfield)
			buf_addf(&quote, "%u bit%s at byte %u, bit %u", m->bits,
				 m->bits == 1 ? "" : "s", m->start / 64 * 8, m->start % 64);
		else
			buf_addf(&quote, "%u bytes at byte %u", m->bits / 8, m->start / 8);
		if (m->since)
			buf_addf(&quote, ", since %s", tables_release(m->since).text);
		finding_place(f, s->source, s->source == FINDING_XLAT ? structure : s->file,
			      m->line, quote.data);
		buf_free(&quote);
	}
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

bool compare_knows_member(const struct conform *c, const char *name)
{
	for (size_t i = 0; layouts[i]; i++)
		if (layout_field(layouts[i], name))
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

struct search {
	const char *word;
	struct nearest near;
	const char *like;	/* first name that differs by a word, or only by PERF_ */
};

static void search_try(struct search *s, const char *name)
{
	size_t na = strlen(s->word), nb = strlen(name), n = na < nb ? na : nb;
	/* one begins with the other: sample_freq, sample_frequency */
	bool longer = n > 5 && !memcmp(s->word, name, n) && (na > nb ? na - nb : nb - na) <= 5;

	nearest_try(&s->near, name);
	if (!s->like && (longer || word_differs(name, s->word) ||
			 (!strncmp(name, "PERF_", 5) && !strcmp(name + 5, s->word))))
		s->like = name;
}

const char *compare_nearest(const struct conform *c, const char *word, bool member)
{
	struct search s = { .word = word };
	const char *near = NULL;
	const struct field *f;

	nearest_start(&s.near, word, strlen(word));
	s.near.limit = 2;
	s.near.close = true;
	if (member) {
		for (size_t i = 0; layouts[i]; i++)
			for (size_t j = 0; j < layouts[i]->n; j++)
				search_try(&s, layouts[i]->fields[j].name);
		/* near.best is copied: return the string of the layout */
		for (size_t i = 0; layouts[i] && *s.near.best && !near; i++) {
			f = layout_field(layouts[i], s.near.best);
			near = f ? f->name : NULL;
		}
	} else {
		for (size_t i = 0; i < c->tables.nnames; i++)
			search_try(&s, c->tables.names[i].name);
		if (*s.near.best)
			near = api_name(&c->tables, s.near.best)->name;
	}
	return near ? near : s.like;
}
