// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/page_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

enum { VALUE_STEPS = 4 };	/* words between a name and its value: "is set to" */

size_t page_text_section(const struct page *p)
{
	return p->nsections ? p->nsections - 1 : SIZE_MAX;
}

static bool is_letter(char c)
{
	/* in UTF-8, bytes of letters outside ASCII */
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Entries --------------------------------------------------------------------------------- */

static void add_entry(struct page_reader *r, const char *name, size_t len,
		      const struct roff_line *l, bool italic, uint32_t since)
{
	struct page *p = r->page;

	p->entries = page_grow(p->entries, p->nentries, sizeof(*p->entries));
	p->entries[p->nentries++] = (struct page_entry){
		.name = xstrndup(name, len), .since = since, .line = l->line,
		.section = page_text_section(p), .text = p->prose.len, .italic = italic,
		.untagged = l->kind != ROFF_TAG,
	};
}

/*
 * Return the release of "(since Linux 4.1)", in any language: one word, Linux, a release.
 * More words, as in "broken since", mean something else, except "both".
 */
static uint32_t since_in(const char *text)
{
	const char *open = strchr(text, '(');

	for (; open; open = strchr(open + 1, '(')) {
		const char *s = open + 1;
		size_t n;

		if (!strncmp(s, "both ", 5))
			s += 5;
		n = strcspn(s, " ()");
		if (n && !strncmp(s + n, " Linux", 6)) {
			s += n + 6;
			while (*s == ' ' || !strncmp(s, "\xc2\xa0", 2))
				s += *s == ' ' ? 1 : 2;
			return release_read(&s);
		}
	}
	return 0;
}

/* Add an entry for each name in a tag; return how many of them are constants. */
static size_t add_entries(struct page_reader *r, const struct roff_line *l)
{
	uint32_t since = since_in(l->text);
	size_t n = 0, constants = 0;

	for (size_t i = 0; i < l->len; i += n + !n) {
		char *word;

		for (n = 0; i + n < l->len && is_letter(l->text[i + n]);)
			n++;
		if (!n || l->fonts[i] == 'R')
			continue;
		/* between brackets: the length of an array */
		if (i && l->text[i - 1] == '[' && l->fonts[i] == 'I')
			continue;
		word = xstrndup(l->text + i, n);
		if (page_is_constant(word) || page_is_errno(word)) {
			add_entry(r, word, n, l, false, since);
			constants++;
		} else if (l->fonts[i] == 'I' && !isdigit((unsigned char)*word)) {
			add_entry(r, word, n, l, true, since);
		}
		free(word);
	}
	return constants;
}

static void end_entry(struct page_reader *r)
{
	struct page *p = r->page;

	for (size_t i = r->entry; i < p->nentries && r->entry != SIZE_MAX; i++)
		p->entries[i].text_len = p->prose.len - p->entries[i].text;
}

static void begin_entries(struct page_reader *r, const struct roff_line *l)
{
	size_t first = r->page->nentries, constants;

	if (!l->also || r->entry == SIZE_MAX)
		end_entry(r);
	constants = add_entries(r, l);
	/* tags of .TQ share the paragraph */
	if (l->also && r->entry != SIZE_MAX)
		first = r->entry;
	r->entry = first < r->page->nentries ? first : SIZE_MAX;
	if (constants) {
		r->owner = first;
		r->nowners = r->page->nentries - first;
	}
	page_text_words(r, l, false);
}

/* Claims ---------------------------------------------------------------------------------- */

static void finish_claim(struct page_reader *r)
{
	struct page_pending *c = &r->pending;
	struct page *p = r->page;

	if (c->name && c->valued) {
		p->claims = page_grow(p->claims, p->nclaims, sizeof(*p->claims));
		p->claims[p->nclaims++] = (struct page_claim){
			.name = c->name, .line = c->line, .value = c->value,
			.section = page_text_section(p),
		};
	} else {
		free(c->name);
	}
	*c = (struct page_pending){ .name = NULL };
}

static void claim_word(struct page_reader *r, const char *word, unsigned int line)
{
	struct page_pending *c = &r->pending;

	if (page_is_constant(word)) {
		finish_claim(r);
		c->name = xstrdup(word);
		c->line = line;
		return;
	}
	c->after_linux = !strcmp(word, "Linux");
	/* "must have 0 skid" states no value */
	if ((++c->steps > VALUE_STEPS || !strcmp(word, "have")) && !c->valued)
		finish_claim(r);
}

/* Handle a word that begins with a digit: "72", "3.4", "64-bit". */
static void claim_number(struct page_reader *r, const char *s)
{
	struct page_pending *c = &r->pending;
	char *end;
	uint64_t v = strtoull(s, &end, 10);

	if (!c->name)
		return;
	if (c->valued && c->after_linux) {
		uint32_t since = release_read(&s);

		finish_claim(r);
		r->page->claims[r->page->nclaims - 1].since = since;
	} else if (!c->valued && *end != '-' && !is_letter(*end) &&
		   !(*end == '.' && isdigit((unsigned char)end[1]))) {
		c->valued = true;
		c->value = v;
	}
	c->after_linux = false;
}

static void claim_punctuation(struct page_reader *r, const char *s)
{
	struct page_pending *c = &r->pending;

	if (!c->valued && strchr(",;:.()", *s))
		finish_claim(r);
	else if (*s == '.' && (!s[1] || isspace((unsigned char)s[1])))
		finish_claim(r);
}

/* Words ----------------------------------------------------------------------------------- */

static void add_page_word(struct page_reader *r, char *word, const struct roff_line *l, bool code)
{
	struct page *p = r->page;

	p->words = page_grow(p->words, p->nwords, sizeof(*p->words));
	p->words[p->nwords++] = (struct page_word){
		.name = word, .line = l->line, .section = page_text_section(p),
		.entry = r->entry, .constant = page_is_constant(word), .code = code,
	};
}

/* Return true if a word is no function (bold, or with arguments) and not in <>. */
static bool is_plain_word(const struct roff_line *l, size_t i, size_t n)
{
	return l->fonts[i] == 'R' && (i + n == l->len || !strchr("(.", l->text[i + n])) &&
	       (!i || l->text[i - 1] != '<');
}

/*
 * Return true if a whole line is italic words without "_": it may be the name of a member
 * that lost its "_".
 */
static bool is_phrase(const struct roff_line *l)
{
	bool blank = false;

	for (size_t i = 0; i < l->len; i++) {
		if (l->fonts[i] != 'I' || (!islower((unsigned char)l->text[i]) &&
					   l->text[i] != ' '))
			return false;
		blank |= l->text[i] == ' ';
	}
	return blank && l->macro;
}

void page_text_words(struct page_reader *r, const struct roff_line *l, bool code)
{
	const char *s = l->text;

	if (!code && is_phrase(l))
		add_page_word(r, xstrdup(s), l, false);
	for (size_t i = 0, n; i < l->len; i += n) {
		char *word;

		n = 1;
		if (isspace((unsigned char)s[i]))
			continue;
		if (!is_letter(s[i])) {
			if (!code)
				claim_punctuation(r, s + i);
			continue;
		}
		while (i + n < l->len && is_letter(s[i + n]))
			n++;
		if (isdigit((unsigned char)s[i])) {
			if (!code)
				claim_number(r, s + i);
			/* skip the rest of a release */
			while (i + n < l->len && s[i + n] == '.' &&
			       isdigit((unsigned char)s[i + n + 1]))
				for (n++; i + n < l->len && is_letter(s[i + n]);)
					n++;
			continue;
		}
		word = xstrndup(s + i, n);
		if (!code)
			claim_word(r, word, l->line);
		/* skip patterns as PERF_*, and words in paths */
		if ((page_is_constant(word) && (i + n == l->len || s[i + n] != '*')) ||
		    (!code && strchr(word, '_') && (l->fonts[i] == 'I' || is_plain_word(l, i, n)) &&
		     (!i || s[i - 1] != '/') && (i + n == l->len || s[i + n] != '/')) ||
		    (code && strchr(word, '_')))
			add_page_word(r, word, l, code);
		else
			free(word);
	}
}

void page_text_tag(struct page_reader *r, const struct roff_line *l)
{
	begin_entries(r, l);
	finish_claim(r);
}

void page_text_line(struct page_reader *r, const struct roff_line *l)
{
	const char *open = strchr(l->text, '('), *bar = strchr(l->text, '_');

	/* "NAME (since Linux X)" alone on a line is a tag without .TP */
	if (l->macro && open && since_in(l->text) && l->text[l->len - 1] == ')' &&
	    strcspn(l->text, " ") + 1 >= (size_t)(open - l->text) &&
	    isupper((unsigned char)*l->text) && bar && bar < open) {
		page_text_end(r);
		begin_entries(r, l);
		return;
	}
	buf_addf(&r->page->prose, "%s\n", l->text);
	page_text_words(r, l, false);
}

void page_text_end(struct page_reader *r)
{
	finish_claim(r);
	end_entry(r);
}

void page_text_free(struct page_reader *r)
{
	free(r->pending.name);
}
