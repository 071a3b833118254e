// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/patch_doc.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

enum { CONTEXT = 3 };		/* lines around a change in a unified diff */

/* Lines ---------------------------------------------------------------------------------- */

static size_t count_lines(const char *text, size_t len)
{
	size_t n = len && text[len - 1] != '\n';

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

/* Split text into lines that are owned by the caller. */
static struct patch_line *split_lines(const char *text, size_t len, size_t *n)
{
	struct patch_line *lines;
	size_t at = 0;

	*n = count_lines(text, len);
	lines = xrealloc(NULL, (*n + 1) * sizeof(*lines));
	for (size_t i = 0; i < *n; i++) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t size = end ? (size_t)(end - text) - at : len - at;

		lines[i] = (struct patch_line){ .text = xrealloc(NULL, size + 1) };
		memcpy(lines[i].text, text + at, size);
		lines[i].text[size] = '\0';
		at += size + 1;
	}
	return lines;
}

static void forget_state(struct patch_doc *d, enum patch_state state)
{
	for (size_t i = 0; i < d->nold[state]; i++)
		free(d->old[state][i]);
	free(d->old[state]);
	d->old[state] = NULL;
	d->nold[state] = 0;
}

static void keep_state(struct patch_doc *d, enum patch_state state)
{
	forget_state(d, state);
	d->old[state] = xrealloc(NULL, (d->n + 1) * sizeof(*d->old[state]));
	d->nold[state] = d->n;
	for (size_t i = 0; i < d->n; i++) {
		d->old[state][i] = xstrdup(d->lines[i].text);
		d->lines[i].old[state] = i + 1;
	}
}

void patch_doc_open(struct patch_doc *d, const char *text, size_t len)
{
	*d = (struct patch_doc){ 0 };
	d->lines = split_lines(text, len, &d->n);
	keep_state(d, PATCH_GIVEN);
	keep_state(d, PATCH_COMMIT);
}

void patch_doc_commit(struct patch_doc *d)
{
	keep_state(d, PATCH_COMMIT);
}

void patch_doc_text(const struct patch_doc *d, struct buf *out)
{
	for (size_t i = 0; i < d->n; i++)
		buf_addf(out, "%s\n", d->lines[i].text);
}

void patch_doc_free(struct patch_doc *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->lines[i].text);
	free(d->lines);
	for (int s = 0; s < PATCH_STATES; s++)
		forget_state(d, (enum patch_state)s);
	*d = (struct patch_doc){ 0 };
}

/* Edits ---------------------------------------------------------------------------------- */

/*
 * Let lines of the new text that the old one has, too, keep their numbers: the longest
 * common subsequence.
 */
static void keep_numbers(const struct patch_line *old, size_t n, struct patch_line *new, size_t m)
{
	size_t *common = xrealloc(NULL, (n + 1) * (m + 1) * sizeof(*common));
	size_t w = m + 1;

	memset(common, 0, (n + 1) * w * sizeof(*common));
	for (size_t i = n; i--;)
		for (size_t j = m; j--;) {
			size_t skip = common[(i + 1) * w + j], add = common[i * w + j + 1];

			common[i * w + j] = !strcmp(old[i].text, new[j].text) ?
					    common[(i + 1) * w + j + 1] + 1 :
					    skip > add ? skip : add;
		}
	for (size_t i = 0, j = 0; i < n && j < m;) {
		if (!strcmp(old[i].text, new[j].text)) {
			memcpy(new[j].old, old[i].old, sizeof(old[i].old));
			i++;
			j++;
		} else if (common[(i + 1) * w + j] >= common[i * w + j + 1]) {
			i++;
		} else {
			j++;
		}
	}
	free(common);
}

void patch_doc_apply(struct patch_doc *d, const struct patch_edit *e)
{
	size_t m, at = e->first - 1, rest = d->n - at - e->count;
	struct patch_line *new = split_lines(e->text, strlen(e->text), &m);

	keep_numbers(d->lines + at, e->count, new, m);
	for (size_t i = 0; i < e->count; i++)
		free(d->lines[at + i].text);
	d->lines = xrealloc(d->lines, (d->n + m + 1) * sizeof(*d->lines));
	memmove(d->lines + at + m, d->lines + at + e->count, rest * sizeof(*d->lines));
	memcpy(d->lines + at, new, m * sizeof(*new));
	d->n += m - e->count;
	free(new);
}

/* Diffs ---------------------------------------------------------------------------------- */

struct diff_line {
	char mark;		/* ' ', '-' or '+' */
	const char *text;
};

struct diff {
	struct diff_line *lines;
	size_t n;
	bool any;
};

static void diff_add(struct diff *f, char mark, const char *text)
{
	f->lines[f->n++] = (struct diff_line){ mark, text };
	f->any |= mark != ' ';
}

/* List all lines: what was removed, before what was added in its place. */
static void diff_lines(const struct patch_doc *d, enum patch_state from, struct diff *f)
{
	size_t old = 0, added = 0;

	f->lines = xrealloc(NULL, (d->n + d->nold[from] + 1) * sizeof(*f->lines));
	for (size_t i = 0; i <= d->n; i++) {
		size_t number = i < d->n ? d->lines[i].old[from] : d->nold[from] + 1;

		if (!number)
			continue;
		for (; old + 1 < number; old++)
			diff_add(f, '-', d->old[from][old]);
		for (; added < i; added++)
			diff_add(f, '+', d->lines[added].text);
		if (i < d->n)
			diff_add(f, ' ', d->lines[i].text);
		old = number;
		added = i + 1;
	}
}

/* Return the end of the hunk that begins at first: no change for twice the context. */
static size_t hunk_end(const struct diff *f, size_t first)
{
	size_t last = first;

	for (size_t i = first; i < f->n && i <= last + 2 * CONTEXT + 1; i++)
		if (f->lines[i].mark != ' ')
			last = i;
	return last + CONTEXT + 1 < f->n ? last + CONTEXT + 1 : f->n;
}

/* Write the hunk of lines from first to end; old and new are the numbers before it. */
static void write_hunk(const struct diff *f, size_t first, size_t end, size_t old, size_t new,
		       struct buf *out)
{
	size_t nold = 0, nnew = 0;

	for (size_t i = first; i < end; i++) {
		nold += f->lines[i].mark != '+';
		nnew += f->lines[i].mark != '-';
	}
	buf_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", nold ? old + 1 : old, nold,
		 nnew ? new + 1 : new, nnew);
	for (size_t i = first; i < end; i++)
		buf_addf(out, "%c%s\n", f->lines[i].mark, f->lines[i].text);
}

void patch_doc_diff(const struct patch_doc *d, enum patch_state from, const char *file,
		    struct buf *out)
{
	struct diff f = { 0 };
	size_t old = 0, new = 0, at = 0;

	diff_lines(d, from, &f);
	if (f.any)
		buf_addf(out, "--- a/%s\n+++ b/%s\n", file, file);
	for (size_t i = 0; i < f.n;) {
		size_t first, end;

		if (f.lines[i].mark == ' ') {
			i++;
			continue;
		}
		first = i > at + CONTEXT ? i - CONTEXT : at;
		for (; at < first; at++) {
			old++;
			new++;
		}
		end = hunk_end(&f, i);
		write_hunk(&f, first, end, old, new, out);
		for (; at < end; at++) {
			old += f.lines[at].mark != '+';
			new += f.lines[at].mark != '-';
		}
		i = end;
	}
	free(f.lines);
}
