// SPDX-License-Identifier: LGPL-2.1-or-later
/* The place of a claim's sentence in the source of the page. */
#include "conform/claims.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/api_desc.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

/* A .TP, .RS or .RE: offset in the text, and nesting depth after it. */
struct mark {
	size_t at;
	int depth;
	bool tag;
};

/* The text of a section, with single blanks, and the line of each byte. */
struct place_words {
	struct buf text;
	unsigned int *lines;
	size_t cap;
	struct mark *marks;
	size_t nmarks;
	int depth;
};

static void place_add_char(struct place_words *w, char c, unsigned int line)
{
	size_t at = w->text.len;

	if (c == ' ' && (!at || w->text.data[at - 1] == ' '))
		return;
	if (at >= w->cap) {
		w->cap = w->cap ? 2 * w->cap : 4096;
		w->lines = xrealloc(w->lines, w->cap * sizeof(*w->lines));
	}
	w->lines[at] = line;
	buf_addc(&w->text, c);
}

/* Return the character of the escape at *p, after its backslash, and skip it; '\0': none. */
static char place_escape(const char **p, const char *end)
{
	const char *at = *p;

	if (at == end)
		return ' ';
	*p = at + 1;
	switch (*at) {
	case '-':
		return '-';
	case 'e':
		return '\\';
	case 'f':		/* \fB, \f[B], \f(XX */
	case '[':
	case '(':
		if (*at == '(' || (at + 1 < end && at[1] == '('))
			*p = end - at > 3 ? at + (*at == '(' ? 3 : 4) : end;
		else if (*at == '[' || (at + 1 < end && at[1] == '[')) {
			while (*p < end && **p != ']')
				++*p;
			*p += *p < end;
		} else {
			*p = at + 2 <= end ? at + 2 : end;
		}
		return *at == 'f' ? '\0' : !strncmp(at, "[aq]", 4) ? '\'' :
		       !strncmp(at, "[ha]", 4) ? '^' : ' ';
	default:
		return '\0';
	}
}

/* Add the text of a line.  Macros with two fonts join their arguments without blanks. */
static void place_add_line(struct place_words *w, const char *p, const char *end, unsigned int line)
{
	bool macro = *p == '.', close = false, quoted = false;

	if (macro) {
		p++;
		close = end - p > 2 && isupper((unsigned char)p[0]) &&
			isupper((unsigned char)p[1]) && strchr("BIR", p[0]) &&
			strchr("BIR", p[1]);
		if (!close && (end - p < 2 || p[1] != ' ' || !strchr("BI", p[0])))
			return; /* a request without text */
		while (p < end && *p != ' ')
			p++;
		while (p < end && *p == ' ')
			p++;
	}
	while (p < end) {
		char c = *p++;

		if (c == '\\') {
			c = place_escape(&p, end);
			if (c)
				place_add_char(w, c, line);
		} else if (macro && c == '"') {
			quoted = !quoted;
		} else if (!isspace((unsigned char)c)) {
			place_add_char(w, c, line);
		} else if (!close || quoted) {
			place_add_char(w, ' ', line);
		}
	}
	place_add_char(w, ' ', line);
}

/* Return true if the line is a heading, and compare it with heading. */
static bool is_heading(const char *p, const char *end, const char *heading, bool *same)
{
	size_t n = strlen(heading);

	if (end - p < 4 || (strncmp(p, ".SH", 3) && strncmp(p, ".SS", 3)))
		return false;
	for (p += 3; p < end && (*p == ' ' || *p == '"');)
		p++;
	*same = (size_t)(end - p) >= n && !memcmp(p, heading, n);
	return true;
}

/* Record .TP, .RS and .RE. */
static void place_add_mark(struct place_words *w, const char *p)
{
	bool tag = !strncmp(p, ".TP", 3);

	if (!tag && strncmp(p, ".RS", 3) && strncmp(p, ".RE", 3))
		return;
	w->depth += tag ? 0 : p[2] == 'S' ? 1 : -1;
	w->marks = xrealloc(w->marks, (w->nmarks + 1) * sizeof(*w->marks));
	w->marks[w->nmarks++] = (struct mark){ w->text.len, w->depth, tag };
}

/* Find words that do not begin inside a name. */
static const char *find_words(const char *text, const char *words)
{
	const char *at = strstr(text, words);

	while (at && at > text && scan_is_word(*at) && scan_is_word(at[-1]))
		at = strstr(at + 1, words);
	return at;
}

/* Return where place is in text: of "A ... B", the first B after A. */
static const char *place_in(const char *text, const char *place)
{
	static const char gap[] = " ... ";
	const char *rest = strstr(place, gap), *found;
	char first[256];

	if (!rest)
		return find_words(text, place);
	snprintf(first, sizeof(first), "%.*s", (int)(rest - place), place);
	found = find_words(text, first);
	return found ? find_words(found, rest + strlen(gap)) : NULL;
}

/* Read the claim's section.  Return the start of its sentence in w->text, or NULL. */
static const char *find_place(struct place_words *w, const struct claim_desc *c, const char *source,
			      size_t len)
{
	const char *end = source + len, *next;
	unsigned int line = 0;
	bool inside = false, was_inside;

	for (const char *p = source; p < end; p = next + 1) {
		line++;
		next = memchr(p, '\n', (size_t)(end - p));
		if (!next)
			next = end;
		was_inside = inside;
		if (p == next || !strncmp(p, ".\\\"", 3))
			continue;
		if (is_heading(p, next, c->section, &inside) && was_inside && !inside)
			break;
		if (!was_inside || !inside)
			continue;
		if (next - p >= 3)
			place_add_mark(w, p);
		place_add_line(w, p, next, line);
	}
	return place_in(buf_str(&w->text), c->place);
}

static void place_words_free(struct place_words *w)
{
	buf_free(&w->text);
	free(w->lines);
	free(w->marks);
}

unsigned int claim_line(const struct claim_desc *c, const char *source, size_t len)
{
	struct place_words w = { .cap = 0 };
	const char *found = find_place(&w, c, source, len);
	unsigned int line = found ? w.lines[found - w.text.data] : 0;

	place_words_free(&w);
	return line;
}

/* Find the paragraph around at: from its tag to the next one of the same depth or less. */
static void paragraph(const struct place_words *w, size_t at, size_t *from, size_t *to)
{
	int depth = 0, outer;
	size_t i = 0;

	while (i < w->nmarks && w->marks[i].at <= at)
		depth = w->marks[i++].depth;
	*from = 0;
	*to = w->text.len;
	for (size_t j = i; j--;) {
		if (!w->marks[j].tag || w->marks[j].depth > depth)
			continue;
		*from = w->marks[j].at;
		outer = w->marks[j].depth;
		while (i < w->nmarks && w->marks[i].depth >= outer &&
		       !(w->marks[i].tag && w->marks[i].depth == outer))
			i++;
		if (i < w->nmarks)
			*to = w->marks[i].at;
		return;
	}
}

bool claim_undocumented(const struct claim_desc *c, const char *source, size_t len,
			const char *words)
{
	struct place_words w = { .cap = 0 };
	const char *found = find_place(&w, c, source, len);
	bool undocumented = false;
	size_t from, to;

	if (found) {
		paragraph(&w, (size_t)(found - w.text.data), &from, &to);
		undocumented = !api_desc_any(w.text.data + from, to - from, words);
	}
	place_words_free(&w);
	return undocumented;
}
