// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/learn/answer.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "core/lib/scan_text.h"

enum { ANSWER_MAX = 256 };

/* Write text in small letters, with one '_' between words and none at the ends. */
static void normalise(const char *text, size_t len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < ANSWER_MAX - 1; i++) {
		unsigned char c = (unsigned char)text[i];
		bool part = isspace(c) || strchr("-_=`'\",.;!?()", c);

		if (!part)
			out[n++] = (char)tolower(c);
		else if (n && out[n - 1] != '_')
			out[n++] = '_';
	}
	while (n && out[n - 1] == '_')
		n--;
	out[n] = '\0';
}

static const char *skip_article(const char *text)
{
	static const char *const articles[] = { "the_", "a_", "an_" };

	for (size_t i = 0; i < sizeof(articles) / sizeof(*articles); i++)
		if (!strncmp(text, articles[i], strlen(articles[i])))
			return text + strlen(articles[i]);
	return text;
}

/* Read a number at the start of text, and set *rest behind it. */
static bool answer_number(const char *text, uint64_t *v, const char **rest)
{
	static const char *const words[] = {
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight",
		"nine", "ten", "eleven", "twelve",
	};
	char digits[ANSWER_MAX];
	const char *end = digits;
	size_t n = 0, skipped = 0, len = strcspn(text, "_");

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strlen(words[i]) == len && !strncmp(text, words[i], len)) {
			*v = i;
			*rest = text + len;
			return true;
		}
	}
	if (!scan_is_digit(*text))
		return false;
	/* "1,000" is now 1_000: skip the '_' before three digits */
	while (isxdigit((unsigned char)text[n + skipped]) || text[n + skipped] == 'x' ||
	       (text[n + skipped] == '_' && strspn(text + n + skipped + 1, "0123456789") == 3)) {
		if (text[n + skipped] == '_') {
			skipped++;
			continue;
		}
		digits[n] = text[n + skipped];
		n++;
	}
	digits[n] = '\0';
	if (digits[0] == '0' && digits[1] == 'x')
		end += 2;
	if (!scan_number(&end, NULL, end > digits ? SCAN_HEX : SCAN_DECIMAL, v))
		return false;
	*rest = text + (end - digits) + skipped;
	return true;
}

/* Return true if rest is empty or one word. */
static bool is_unit(const char *rest)
{
	rest += *rest == '_';
	return !rest[strspn(rest, "abcdefghijklmnopqrstuvwxyz")];
}

static bool is_same_answer(const char *wanted, const char *given)
{
	uint64_t a, b;
	const char *rest;
	size_t w = strlen(wanted), g = strlen(given);

	if (!g)
		return false;
	if (!strcmp(wanted, given))
		return true;
	if (answer_number(wanted, &a, &rest) && !*rest)
		return answer_number(given, &b, &rest) && a == b && is_unit(rest);
	if ((!strcmp(wanted, "yes") || !strcmp(wanted, "no")) && g == 1)
		return *given == *wanted;
	/* inherit=1 for inherit */
	if (g == w + 2 && !strncmp(wanted, given, w) && !strcmp(given + w, "_1"))
		return true;
	/* FORMAT_ID or ID for PERF_FORMAT_ID */
	return g > 1 && w > g && wanted[w - g - 1] == '_' && !strcmp(wanted + w - g, given);
}

bool answer_accepts(const char *wanted, const char *given)
{
	char right[ANSWER_MAX] = "", answer[ANSWER_MAX] = "";

	normalise(given, strlen(given), answer);
	for (;; wanted++) {
		size_t len = strcspn(wanted, "|");

		normalise(wanted, len, right);
		if (is_same_answer(skip_article(right), skip_article(answer)))
			return true;
		wanted += len;
		if (!*wanted)
			return false;
	}
}
