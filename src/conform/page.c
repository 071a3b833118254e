// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/hash.h"

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

	return n > 2 && n < 16 && *word == 'E' &&
	       strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == n;
}

void *page_grow(void *p, size_t n, size_t size)
{
	return n & (n - 1) || n == 1 ? p : xrealloc(p, (n ? 2 * n : 2) * size);
}

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

void page_index_words(struct page *p)
{
	for (size_t i = p->nwords; i--;) /* the first of each name stays */
		map_set(&p->words_by_hash, hash_text(HASH_START, p->words[i].name), &p->words[i]);
}

const struct page_word *page_word(const struct page *p, const char *name)
{
	const struct page_word *w = map_get(&p->words_by_hash, hash_text(HASH_START, name));

	return w && !strcmp(w->name, name) ? w : NULL;
}

bool page_is_english(const struct page *p)
{
	for (size_t i = 0; i < p->nsections; i++)
		if (!strcmp(p->sections[i].name, "ERRORS"))
			return true;
	return false;
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
	for (size_t i = 0; i < p->nexamples; i++) {
		free(p->examples[i].name);
		free(p->examples[i].text);
	}
	free(p->sections);
	free(p->entries);
	free(p->words);
	map_free(&p->words_by_hash);
	free(p->claims);
	free(p->examples);
	free(p->structs);
	free(p->title);
	buf_free(&p->source);
	buf_free(&p->prose);
	api_desc_free(&p->desc);
	*p = (struct page){ .title = NULL };
}
