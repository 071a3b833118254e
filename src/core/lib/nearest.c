// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/nearest.h"

#include <stdio.h>
#include <string.h>

static char plain(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c == '_' ? '-' : c;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Optimal string alignment; rows of the table are kept three at a time. */
static unsigned int nearest_distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned int rows[3][NEAREST_MAX + 1];
	unsigned int *before = rows[0], *last = rows[1], *now = rows[2], *swap;

	for (size_t j = 0; j <= nb; j++)
		last[j] = (unsigned int)j;
	for (size_t i = 1; i <= na; i++) {
		now[0] = (unsigned int)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned int other = plain(a[i - 1]) != plain(b[j - 1]);

			now[j] = least(last[j - 1] + other,
				       least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) &&
			    plain(a[i - 2]) == plain(b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		swap = before;
		before = last;
		last = now;
		now = swap;
	}
	return last[nb];
}

void nearest_start(struct nearest *n, const char *word, size_t len)
{
	if (len > NEAREST_MAX)
		len = NEAREST_MAX;
	memcpy(n->word, word, len);
	n->word[len] = '\0';
	n->best[0] = '\0';
	n->any = n->close = false;
	n->list = NULL;
	n->limit = 2 + (unsigned int)len / 5; /* candidates must be closer */
}

void nearest_start_any(struct nearest *n, const char *word, size_t len)
{
	nearest_start(n, word, len);
	n->limit = 2 * NEAREST_MAX;
	n->any = true;
}

void nearest_start_list(struct nearest *n, void (*list)(void *ctx, const char *candidate),
			void *ctx)
{
	nearest_start(n, "", 0);
	n->list = list;
	n->ctx = ctx;
}

static void append_word(void *words, const char *candidate)
{
	buf_addf(words, " %s", candidate);
}

void nearest_start_words(struct nearest *n, struct buf *words)
{
	nearest_start_list(n, append_word, words);
}

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t len = strlen(candidate), word = strlen(n->word), same = 0;
	bool begins, better;
	unsigned int d;

	if (n->list) {
		n->list(n->ctx, candidate);
		return;
	}
	while (same < word && plain(n->word[same]) == plain(candidate[same]))
		same++;
	/* the word abbreviates it, or ends in another way: fail, failed; samples, sampling */
	begins = !n->close && same >= 3 && (same == word || (same >= 4 && 3 * same >= 2 * word));
	if (len > NEAREST_MAX || !word ||
	    (!begins && (len > word + n->limit || word > len + n->limit)))
		return;
	d = nearest_distance(n->word, word, candidate, len);
	/* a candidate that shares no letters is another word */
	if (!begins && (d >= n->limit || (d >= word && !n->any)))
		return;
	d += plain(*n->word) != plain(*candidate);
	/* of one distance, that with the same case is better: PERF_SAMPLE_IP for PERF_SAMPLE_IPP */
	better = *candidate == *n->word && *n->best != *n->word;
	if (*n->best && (d > n->distance || (d == n->distance && !better)))
		return;
	n->distance = d;
	memcpy(n->best, candidate, len + 1);
}

const char *nearest_hint(struct nearest *n)
{
	if (!*n->best)
		return "";
	snprintf(n->hint, sizeof(n->hint), "; did you mean %s?", n->best);
	return n->hint;
}

bool nearest_hinted(const char *message)
{
	return strstr(message, "; did you mean ") && message[strlen(message) - 1] == '?';
}
