// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arguments of options that are words. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "verbs/cli/verb.h"

char *verb_words(const char *words)
{
	char *copy = xstrdup(words), *to = copy;

	for (const char *w = words; *w; w += *w == '|' ? strcspn(w, " ") : 1)
		if (*w != '|')
			*to++ = *w;
	*to = '\0';
	return copy;
}

/* Die naming the valid words, or the nearest. */
static _Noreturn void unknown_word(const char *word, const struct verb_option *o)
{
	char *words = verb_words(o->words);
	struct buf valid = { 0 };
	struct nearest n;

	nearest_start(&n, word, strlen(word));
	for (const char *w = words, *next; *w; w = next) {
		size_t len = strcspn(w, " ");
		char *copy = xstrndup(w, len);

		next = w + len + !!w[len];
		buf_addf(&valid, "%s%s", w == words ? "" : *next ? ", " : " or ", copy);
		nearest_try(&n, copy);
		free(copy);
	}
	die("%s requires %s, not '%s'%s%s%s", o->typed, buf_str(&valid), word,
	    *n.best ? "; did you mean " : "", n.best, *n.best ? "?" : "");
}

/* Compare words; strace accepts an _ for a -. */
static bool option_word_same(const char *w, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (w[i] != (text[i] == '_' ? '-' : text[i]))
			return false;
	return true;
}

bool verb_is_word(const char *w, const char *text, size_t len)
{
	for (;; w++) {
		size_t n = strcspn(w, " |");

		if (n == len && option_word_same(w, text, len))
			return true;
		w += n;
		if (*w != '|')
			return false;
	}
}

bool verb_pattern_matches(const char *pattern, const char *name)
{
	if (pattern[strcspn(pattern, "*?[")])
		return !fnmatch(pattern, name, FNM_CASEFOLD);
	return strcasestr(name, pattern);
}

unsigned int verb_word(const char *word, const struct verb_option *o)
{
	unsigned int i = 0;

	for (const char *w = o->words; *w; i++) {
		if (verb_is_word(w, word, strlen(word)))
			return i;
		w += strcspn(w, " ");
		w += *w == ' ';
	}
	unknown_word(word, o);
}
