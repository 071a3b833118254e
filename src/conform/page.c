// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "conform/page_text.h"
#include "conform/pseudo.h"
#include "conform/roff.h"
#include "conform/textfile.h"
#include "lib/die.h"

bool page_is_constant(const char *word)
{
	bool bar = false;

	for (const char *s = word; *s; s++) {
		if (!isupper((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '_')
			return false;
		bar |= *s == '_' && s[1];
	}
	return bar && isupper((unsigned char)*word) && word[strlen(word) - 1] != '_';
}

bool page_is_errno(const char *word)
{
	size_t n = strlen(word);

	return n > 3 && n < 16 && *word == 'E' &&
	       strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == n;
}

/* Code ------------------------------------------------------------------------------------ */

static void add_code(struct page_reader *r, const struct roff_line *l)
{
	if (!r->code_line)
		r->code_line = r->code_next = l->line;
	/* comments and macros between the lines are none of ours, but count */
	for (; r->code_next < l->line; r->code_next++)
		buf_addc(&r->code, '\n');
	buf_adds(&r->code, l->text);
}

static void end_code(struct page_reader *r)
{
	struct page *p = r->page;

	if (r->code_line)
		pseudo_structs(buf_str(&r->code), r->code_line, &p->said);
	for (; r->nstructs < p->said.nstructs; r->nstructs++) {
		p->structs = xrealloc(p->structs, (r->nstructs + 1) * sizeof(*p->structs));
		p->structs[r->nstructs] = (struct page_struct){
			.section = page_text_section(p), .entry = r->owner,
			.nentries = r->nowners,
		};
	}
	r->code_line = 0;
	buf_reset(&r->code);
}

/* Lines ----------------------------------------------------------------------------------- */

static void add_section(struct page *p, const struct roff_line *l)
{
	p->sections = page_grow(p->sections, p->nsections, sizeof(*p->sections));
	p->sections[p->nsections++] = (struct page_section){
		.name = xstrdup(l->text), .line = l->line,
	};
}

static void take_line(void *ctx, const struct roff_line *l)
{
	struct page_reader *r = ctx;
	struct page *p = r->page;

	if (l->kind != ROFF_CODE)
		end_code(r);
	switch (l->kind) {
	case ROFF_TITLE:
		if (!p->title)
			p->title = xstrdup(l->text);
		break;
	case ROFF_SECTION:
	case ROFF_SUBSECTION:
		page_text_end(r);
		r->entry = SIZE_MAX;
		r->nowners = 0;
		add_section(p, l);
		break;
	case ROFF_TAG:
		page_text_end(r);
		page_text_tag(r, l);
		break;
	case ROFF_TEXT:
		page_text_line(r, l);
		break;
	case ROFF_CODE:
		add_code(r, l);
		page_text_words(r, l, true);
		break;
	case ROFF_BREAK:
		page_text_end(r);
		break;
	}
}

void page_parse(const char *bytes, size_t len, const char *path, struct page *p)
{
	struct page_reader r = { .page = p, .entry = SIZE_MAX };

	*p = (struct page){ .said = { .source = FINDING_PAGE, .file = xstrdup(path) } };
	buf_add(&p->source, bytes, len);
	roff_read(bytes, len, take_line, &r);
	end_code(&r);
	page_text_end(&r);
	page_text_free(&r);
	buf_free(&r.code);
}

bool page_read(const char *path, struct page *p)
{
	struct buf text = { 0 };
	bool ok = textfile_read(path, &text);

	if (ok) {
		page_parse(buf_str(&text), text.len, path, p);
		ok = p->nentries && api_struct(&p->said, "perf_event_attr");
		if (!ok) {
			warn("'%s' is not perf_event_open(2): it has no struct perf_event_attr; "
			     "the page's source in man(7) markup is wanted", path);
			page_free(p);
		}
	}
	buf_free(&text);
	return ok;
}

/* Looking things up ----------------------------------------------------------------------- */

void page_quote(const struct page *p, unsigned int line, struct buf *out)
{
	const char *s = buf_str(&p->source), *end = s + p->source.len;
	size_t n;

	while (line > 1 && s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));

		s = nl ? nl + 1 : end;
		line--;
	}
	n = 0;
	while (s + n < end && s[n] != '\n')
		n++;
	for (; n && isspace((unsigned char)*s); n--)
		s++;
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	buf_add(out, s, n);
}

const struct page_entry *page_entry(const struct page *p, const char *name)
{
	for (size_t i = 0; i < p->nentries; i++)
		if (!strcmp(p->entries[i].name, name))
			return &p->entries[i];
	return NULL;
}

const struct page_word *page_word(const struct page *p, const char *name)
{
	for (size_t i = 0; i < p->nwords; i++)
		if (!strcmp(p->words[i].name, name))
			return &p->words[i];
	return NULL;
}

const char *page_section(const struct page *p, size_t section)
{
	return section < p->nsections ? p->sections[section].name : "";
}

void page_free(struct page *p)
{
	for (size_t i = 0; i < p->nsections; i++)
		free(p->sections[i].name);
	for (size_t i = 0; i < p->nentries; i++)
		free(p->entries[i].name);
	for (size_t i = 0; i < p->nwords; i++)
		free(p->words[i].name);
	for (size_t i = 0; i < p->nclaims; i++)
		free(p->claims[i].name);
	free(p->sections);
	free(p->entries);
	free(p->words);
	free(p->claims);
	free(p->structs);
	free(p->title);
	buf_free(&p->source);
	buf_free(&p->prose);
	api_desc_free(&p->said);
	*p = (struct page){ .title = NULL };
}
