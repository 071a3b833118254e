// SPDX-License-Identifier: LGPL-2.1-or-later
/* Write the lines of main(), with loops for those that repeat. */
#include <stdlib.h>
#include <string.h>

#include "formats/codegen/c_writer.h"

/* The most lines in the body of a loop. */
enum { LOOP_MAX = 24 };

/* Get the next number of the text and move *at past it; return false at the end. */
static bool line_number(const char **at, long *n)
{
	const char *mark = strchr(*at, MARK_START);
	char *end;

	if (!mark)
		return false;
	*n = strtol(mark + 1, &end, 10);
	*at = end + 1;
	return true;
}

/* Return whether two lines differ in their numbers only. */
static bool same_shape(const struct line *x, const struct line *y)
{
	const char *a = x->text, *b = y->text;

	if (x->meaning != y->meaning && (!x->meaning || !y->meaning ||
					 strcmp(x->meaning, y->meaning)))
		return false;
	for (;;) {
		size_t n = strcspn(a, "\001"), m = strcspn(b, "\001");

		if (n != m || memcmp(a, b, n))
			return false;
		a += n;
		b += n;
		if (!*a)
			return true;
		a = strchr(a, MARK_STOP) + 1;
		b = strchr(b, MARK_STOP) + 1;
	}
}

/* Return whether numbers grow from x to y as they do from y to z. */
static bool same_steps(const struct line *x, const struct line *y, const struct line *z)
{
	const char *a = x->text, *b = y->text, *c = z->text;
	long i, j, k;

	while (line_number(&a, &i) && line_number(&b, &j) && line_number(&c, &k))
		if (j - i != k - j)
			return false;
	return true;
}

/* Count how often n lines repeat from at on, with numbers that grow evenly. */
static size_t loop_turns(const struct writer *w, size_t at, size_t n)
{
	const struct line *l = w->lines;
	size_t times = 1;

	for (; at + (times + 1) * n <= w->nlines; times++)
		for (size_t i = at; i < at + n; i++) {
			const struct line *last = &l[i + times * n];

			if (!same_shape(&l[i], last) ||
			    (times > 1 && !same_steps(last - 2 * n, last - n, last)))
				return times;
		}
	return times;
}

/* Return how many lines the body of the loop has that shortens the program most; 0: none. */
static size_t find_loop(const struct writer *w, size_t at, size_t *times)
{
	size_t best = 0, saved = 0;

	for (size_t n = 1; n <= LOOP_MAX && at + 2 * n <= w->nlines; n++) {
		size_t r = same_shape(&w->lines[at], &w->lines[at + n]) ?
			loop_turns(w, at, n) : 1;
		size_t gain = (r - 1) * n;

		if (gain > saved && gain >= 2) {
			best = n;
			saved = gain;
			*times = r;
		}
	}
	return best;
}

/* Append a number as an expression of the turn i: start + step * i. */
static void add_index(struct buf *out, long start, long step)
{
	if (!step)
		buf_addf(out, "%ld", start);
	else if (step < 0 && step != -1)
		buf_addf(out, "%ld - %ld * i", start, -step);
	else if (step < 0)
		buf_addf(out, "%ld - i", start);
	else if (!start && step == 1)
		buf_adds(out, "i");
	else if (!start)
		buf_addf(out, "%ld * i", step);
	else if (step == 1)
		buf_addf(out, "i %c %ld", start < 0 ? '-' : '+', labs(start));
	else
		buf_addf(out, "%ld * i %c %ld", step, start < 0 ? '-' : '+', labs(start));
}

static void line_meaning(struct writer *w, const struct line *l, const char *indent)
{
	if (l->meaning && c_say(w, "step", l->meaning))
		buf_addf(w->out, "%s/* %s */\n", indent, l->meaning);
}

/* Write a line; later is the same line in the next turn of a loop, or NULL. */
static void line_write(struct writer *w, const struct line *l, const struct line *later)
{
	const char *indent = later ? "\t\t" : "\t", *at = l->text, *from;
	const char *next = later ? later->text : NULL;
	struct buf text = { 0 };
	long n = 0, m = 0;

	for (from = at; line_number(&at, &n); from = at) {
		buf_add(&text, from, strcspn(from, "\001"));
		if (next)
			line_number(&next, &m);
		add_index(&text, n, later ? m - n : 0);
	}
	buf_adds(&text, from);
	buf_addf(w->out, "%s%s\n", indent, buf_str(&text));
	buf_free(&text);
}

void c_lines_write(struct writer *w)
{
	size_t at = 0;

	while (at < w->nlines) {
		size_t times = 1, n = find_loop(w, at, &times), body = n ? n : 1;
		bool braces = n > 1 || strchr(w->lines[at].text, '\n');

		if (!(n && braces))
			line_meaning(w, &w->lines[at], "\t");
		if (n)
			buf_addf(w->out, "	for (int i = 0; i < %zu; i++)%s\n", times,
				 braces ? " {" : "");
		for (size_t i = at; i < at + body; i++) {
			if (n && braces)
				line_meaning(w, &w->lines[i], "\t\t");
			line_write(w, &w->lines[i], n ? &w->lines[i + n] : NULL);
		}
		if (n && braces)
			buf_adds(w->out, "	}\n");
		at += n ? n * times : 1;
	}
}
