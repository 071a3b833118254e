// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/diff/expect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/map.h"

/* Limit of the cells of the table of costs. */
#define CELLS_MAX (16u << 20)

/* The cost of a line without a mate, and the highest cost of a pair. */
enum { COST_ALONE = 4, COST_FIELDS = 3 };

/* A line "TASK CALL KEY=VALUE ..." split into words, of an expectation or of a call. */
struct row {
	unsigned long number;
	char *line, *words;	/* task, call and fields point into words */
	const char *task, *call;
	struct normal_field *fields;
	size_t nfields;
	bool open_end;		/* "*": any further fields */
	bool any;		/* "..." */
};

struct rows {
	struct row *rows;
	size_t n;
};

/* The calls; those with equal lines share one row. */
struct facts {
	struct rows rows;
	uint32_t *row;		/* index of the row of each call */
	size_t n;
	struct map by_line;	/* hash of the line to row + 1 */
};

struct expectation {
	struct rows rows;
};

struct matching {
	const struct rows *want;
	const struct facts *is;
	uint32_t *cost;		/* [w][i]: of the lines from w and the calls from i on */
	size_t w0, w1, i0, i1;	/* left to match: lines from w0 to w1, calls from i0 to i1 */
	void (*report)(void *ctx, const struct mismatch *m);
	void *ctx;
};

/* Patterns ------------------------------------------------------------------------- */

/* Match one alternative, up to an unescaped | or the end. */
static bool match_one(const char *p, const char *end, const char *text)
{
	const char *star = NULL, *back = NULL;

	for (;;) {
		if (p < end && *p == '*') {
			star = ++p;
			back = text;
			continue;
		}
		if (p == end && !*text)
			return true;
		if (p < end && *p == '\\' && p + 1 < end && *text == '\\' && text[1] == p[1]) {
			p += 2, text += 2;
		} else if (p < end && *p != '\\' && *text && *p == *text) {
			p++, text++;
		} else if (star && *back) {
			p = star;
			text = ++back;
		} else {
			return false;
		}
	}
}

/* Return whether the text matches the pattern. */
static bool matches(const char *pattern, const char *text)
{
	const char *p = pattern;

	for (;;) {
		const char *end = p;

		while (*end && *end != '|')
			end += *end == '\\' && end[1] ? 2 : 1;
		if (match_one(p, end, text))
			return true;
		if (!*end)
			return false;
		p = end + 1;
	}
}

/* Rows ----------------------------------------------------------------------------- */

/* Split off the next word, which a space in quotes does not end; return NULL at the end. */
static char *next_word(char **at, bool *open_quote)
{
	char *word = *at + strspn(*at, " \t"), *p = word;
	bool quoted = false;

	for (; *p && (quoted || (*p != ' ' && *p != '\t')); p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
	}
	*open_quote = quoted;
	*at = *p ? p + 1 : p;
	*p = '\0';
	return *word ? word : NULL;
}

static void rows_free(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->rows[i].line);
		free(r->rows[i].words);
		free(r->rows[i].fields);
	}
	free(r->rows);
}

static struct row *row_add(struct rows *list, const char *line)
{
	GROW(list->rows, list->n);
	list->rows[list->n] = (struct row){ .line = xstrdup(line), .words = xstrdup(line) };
	return &list->rows[list->n++];
}

/* Parse a line; return NULL, or the error. */
static const char *expect_parse(struct row *r, const struct normal_choice *choice)
{
	char *at = r->words, *word, *value;
	bool open_quote;

	r->task = next_word(&at, &open_quote);
	if (r->task && !strcmp(r->task, "...")) {
		r->any = true;
		return next_word(&at, &open_quote) ? "... must be on a line of its own" : NULL;
	}
	r->call = next_word(&at, &open_quote);
	if (!r->call)
		return "expected TASK CALL FIELD=VALUE ...";
	while ((word = next_word(&at, &open_quote))) {
		if (open_quote)
			return "unterminated quote";
		if (!strcmp(word, "*")) {
			r->open_end = true;
			continue;
		}
		value = strchr(word, '=');
		if (!value || value == word)
			return "expected FIELD=VALUE";
		*value = '\0';
		if (!normal_chosen(choice, r->call, word))
			continue;
		APPEND(r->fields, r->nfields) = (struct normal_field){ word, value + 1 };
	}
	return NULL;
}

struct expectation *expect_read(FILE *f, const char *path,
				const struct normal_choice *choice)
{
	struct expectation *x = xcalloc(1, sizeof(*x));
	const char *wrong = NULL, *hint = "", *start;
	unsigned long number = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	while (!wrong && (len = getline(&line, &room, f)) >= 0) {
		number++;
		start = line + strspn(line, " \t");
		if (strlen(line) != (size_t)len)
			wrong = "not text: a NUL byte";
		line[strcspn(line, "\r\n")] = '\0';
		if (wrong || !*start || *start == '#')
			continue;
		row_add(&x->rows, start)->number = number;
		wrong = expect_parse(&x->rows.rows[x->rows.n - 1], choice);
		if (wrong)
			hint = "; pevtrace diff --normalize writes valid lines";
	}
	if (wrong)
		warn("%s:%lu: %s%s", path, number, wrong, hint);
	else if (ferror(f))
		warn("cannot read '%s': %s", path, strerror(errno));
	free(line);
	if (!wrong && !ferror(f))
		return x;
	expect_free(x);
	return NULL;
}

void expect_free(struct expectation *x)
{
	if (!x)
		return;
	rows_free(&x->rows);
	free(x);
}

static void facts_make(struct facts *f, const struct normal *n,
		       const struct normal_choice *choice)
{
	struct buf line = { 0 };
	uint64_t h;
	size_t at;

	for (size_t t = 0; t < n->ntasks; t++) {
		for (size_t i = 0; i < n->tasks[t]->nitems; i++) {
			buf_reset(&line);
			normal_line(n, n->tasks[t], &n->tasks[t]->items[i], choice, &line);
			h = hash_text(HASH_START, buf_str(&line));
			while ((at = (uintptr_t)map_get(&f->by_line, h)) &&
			       strcmp(f->rows.rows[at - 1].line, buf_str(&line)))
				h++;
			if (!at) { /* split as an expectation is */
				expect_parse(row_add(&f->rows, buf_str(&line)), NULL);
				at = f->rows.n;
				map_set(&f->by_line, h, (void *)(uintptr_t)at);
			}
			APPEND(f->row, f->n) = (uint32_t)at - 1;
		}
	}
	buf_free(&line);
}

/* Matching --------------------------------------------------------------------------- */

static const char *field_of(const struct row *r, const char *key)
{
	for (size_t i = 0; i < r->nfields; i++)
		if (!strcmp(r->fields[i].key, key))
			return r->fields[i].value;
	return NULL;
}

/* Return how many fields differ, up to most; report each if m is set. */
static unsigned int differing(const struct matching *m, const struct row *want,
			      const struct row *is, unsigned int most)
{
	struct mismatch d = { .kind = EXPECT_FIELD, .number = want->number, .line = want->line };
	unsigned int n = 0;

	for (size_t i = 0; i < want->nfields + is->nfields && n < most; i++) {
		const struct normal_field *f = i < want->nfields ? &want->fields[i] :
			&is->fields[i - want->nfields];
		bool wanted = i < want->nfields;

		d.field = f->key;
		d.wanted = wanted ? f->value : NULL;
		d.is = wanted ? field_of(is, f->key) : f->value;
		if (wanted ? matches(d.wanted, d.is ? d.is : "0") :
		    want->open_end || field_of(want, f->key))
			continue;
		n++;
		if (m)
			m->report(m->ctx, &d);
	}
	return n;
}

/* Return the cost of pairing the two, above that of two unpaired lines if the calls differ. */
static uint32_t cost_of(const struct row *want, const struct row *is)
{
	if (want->any || !matches(want->call, is->call) || !matches(want->task, is->task))
		return 3 * COST_ALONE;
	return differing(NULL, want, is, COST_FIELDS);
}

static const struct row *row_is(const struct matching *m, size_t i)
{
	return &m->is->rows.rows[m->is->row[i]];
}

static uint32_t *cell(const struct matching *m, size_t w, size_t i)
{
	return &m->cost[(w - m->w0) * (m->i1 - m->i0 + 1) + (i - m->i0)];
}

static void expect_fill(const struct matching *m)
{
	for (size_t w = m->w1 + 1; w-- > m->w0;) {
		for (size_t i = m->i1 + 1; i-- > m->i0;) {
			const struct row *want = w < m->w1 ? &m->want->rows[w] : NULL;
			uint32_t alone = want && want->any ? 0 : COST_ALONE;
			uint32_t best = UINT32_MAX, c;

			if (!want && i == m->i1)
				best = 0;
			if (want)
				best = *cell(m, w + 1, i) + alone;
			c = i < m->i1 ? *cell(m, w, i + 1) + alone : UINT32_MAX;
			best = c < best ? c : best;
			if (want && i < m->i1) {
				c = *cell(m, w + 1, i + 1) + cost_of(want, row_is(m, i));
				best = c < best ? c : best;
			}
			*cell(m, w, i) = best;
		}
	}
}

static void report_alone(const struct matching *m, enum mismatch_kind kind, const struct row *r)
{
	m->report(m->ctx, &(struct mismatch){ .kind = kind, .number = r->number, .line = r->line });
}

/* Report the differences of the cheapest pairing; return whether all match. */
static bool expect_walk(const struct matching *m)
{
	size_t w = m->w0, i = m->i0;

	while (w < m->w1 || i < m->i1) {
		const struct row *want = w < m->w1 ? &m->want->rows[w] : NULL;
		const struct row *is = i < m->i1 ? row_is(m, i) : NULL;
		bool any = want && want->any;
		uint32_t here = *cell(m, w, i);

		if (want && is && here == *cell(m, w + 1, i + 1) + cost_of(want, is)) {
			differing(m, want, is, UINT32_MAX);
			w++, i++;
		} else if (is && here == *cell(m, w, i + 1) + (any ? 0 : COST_ALONE)) {
			if (!any)
				report_alone(m, EXPECT_SURPLUS, is);
			i++;
		} else {
			if (want && !any)
				report_alone(m, EXPECT_MISSING, want);
			w++;
		}
	}
	return !*cell(m, m->w0, m->i0);
}

int expect_check(const struct expectation *x, const struct normal *n,
		 const struct normal_choice *choice,
		 void (*report)(void *ctx, const struct mismatch *m), void *ctx)
{
	struct facts is = { 0 };
	struct matching m = { .want = &x->rows, .is = &is, .report = report, .ctx = ctx };
	int ok = -1;

	facts_make(&is, n, choice);
	m.w1 = x->rows.n;
	m.i1 = is.n;
	while (m.w0 < m.w1 && m.i0 < m.i1 && !cost_of(&x->rows.rows[m.w0], row_is(&m, m.i0)))
		m.w0++, m.i0++;
	while (m.w0 < m.w1 && m.i0 < m.i1 &&
	       !cost_of(&x->rows.rows[m.w1 - 1], row_is(&m, m.i1 - 1)))
		m.w1--, m.i1--;
	if (m.i1 - m.i0 < CELLS_MAX / (m.w1 - m.w0 + 1)) {
		m.cost = xcalloc((m.w1 - m.w0 + 1) * (m.i1 - m.i0 + 1), sizeof(*m.cost));
		expect_fill(&m);
		ok = expect_walk(&m);
		free(m.cost);
	} else {
		warn("cannot compare %zu expected lines with %zu calls: too many differ; "
		     "check that the file is for this program", m.w1 - m.w0, m.i1 - m.i0);
	}
	rows_free(&is.rows);
	map_free(&is.by_line);
	free(is.row);
	return ok;
}
