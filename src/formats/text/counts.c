// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/counts.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/text/text.h"

struct row {
	const char *name;
	struct call_count n;
};

static void count_time(struct call_count *n, uint64_t min, uint64_t max)
{
	n->min_ns = n->calls && n->min_ns < min ? n->min_ns : min;
	n->max_ns = n->max_ns > max ? n->max_ns : max;
}

void call_counts_add(struct call_counts *k, const struct call *c)
{
	struct call_count *n = &k->of[c->desc->id];
	uint64_t ns = c->exit_ns - c->start_ns;

	count_time(n, ns, ns);
	n->calls++;
	n->errors += c->failed;
	n->ns += ns;
}

/* Sorting --------------------------------------------------------------------- */

/* Return what rows are sorted by, the value of a column. */
static uint64_t sort_key(const struct row *r, enum count_sort sort)
{
	switch (sort) {
	case SORT_MIN:
		return r->n.min_ns;
	case SORT_MAX:
		return r->n.max_ns;
	case SORT_AVERAGE:
		return r->n.calls ? r->n.ns / r->n.calls : 0;
	case SORT_CALLS:
		return r->n.calls;
	case SORT_ERRORS:
		return r->n.errors;
	default:
		return r->n.ns;
	}
}

/* By the key, largest first; equal ones by their number of calls. */
static int compare_counts(const void *a, const void *b, void *sort)
{
	const struct row *x = a, *y = b;
	enum count_sort by = *(const enum count_sort *)sort;
	uint64_t kx = sort_key(x, by), ky = sort_key(y, by);

	if (by == SORT_NAME)
		return strcmp(x->name, y->name);
	if (kx != ky)
		return kx < ky ? 1 : -1;
	return x->n.calls < y->n.calls ? 1 : x->n.calls > y->n.calls ? -1 : 0;
}

/* Columns ---------------------------------------------------------------------- */

enum line { LINE_TITLES, LINE_RULE, LINE_VALUES };

static const struct {
	const char *title;
	int width;
	enum count_sort value;
	enum { UNIT_NONE, UNIT_PERCENT, UNIT_SECONDS, UNIT_MICROSECONDS, UNIT_NAME } unit;
} columns[] = {
	/* wall time: a poll counts for as long as it blocks */
	[COUNT_PERCENT] = { "% time", 6, SORT_TIME, UNIT_PERCENT },
	[COUNT_TIME] = { "wall secs", 11, SORT_TIME, UNIT_SECONDS },
	[COUNT_MIN] = { "shortest", 8, SORT_MIN, UNIT_SECONDS },
	[COUNT_MAX] = { "longest", 8, SORT_MAX, UNIT_SECONDS },
	[COUNT_AVERAGE] = { "usecs/call", 11, SORT_AVERAGE, UNIT_MICROSECONDS },
	[COUNT_CALLS] = { "calls", 9, SORT_CALLS, UNIT_NONE },
	[COUNT_ERRORS] = { "errors", 9, SORT_ERRORS, UNIT_NONE },
	[COUNT_NAME] = { "syscall", -16, SORT_NAME, UNIT_NAME },
};

static const struct call_counts_form usual = {
	.columns = { COUNT_PERCENT, COUNT_TIME, COUNT_AVERAGE, COUNT_CALLS, COUNT_ERRORS, COUNT_NAME },
	.ncolumns = 6,
};

static void cell_text(const struct row *r, uint64_t total, enum count_column c, char *text,
		      size_t size)
{
	uint64_t v = sort_key(r, columns[c].value);

	switch (columns[c].unit) {
	case UNIT_PERCENT:
		snprintf(text, size, "%.2f", total ? 100.0 * (double)v / (double)total : 0.0);
		break;
	case UNIT_SECONDS:
		snprintf(text, size, "%.6f", (double)v / 1e9);
		break;
	case UNIT_MICROSECONDS:
		snprintf(text, size, "%llu", (unsigned long long)(v / 1000));
		break;
	case UNIT_NONE:
		if (v || c != COUNT_ERRORS)
			snprintf(text, size, "%llu", (unsigned long long)v);
		break;
	case UNIT_NAME:
		snprintf(text, size, "%s", r->name);
		break;
	}
}

/* Append a line of cells, without blanks at its end: the titles, a rule, or the values of r. */
static void print_line(const struct call_counts_form *f, enum line line, const struct row *r,
		       uint64_t total, bool color, struct buf *out)
{
	for (size_t i = 0; i < f->ncolumns; i++) {
		enum count_column c = f->columns[i];
		bool last = i + 1 == f->ncolumns;
		char text[64] = "", cell[80];

		if (line == LINE_VALUES)
			cell_text(r, total, c, text, sizeof(text));
		else if (line == LINE_RULE)
			snprintf(text, sizeof(text), "%.*s", abs(columns[c].width),
				 "----------------");
		else
			snprintf(text, sizeof(text), "%s", columns[c].title);
		snprintf(cell, sizeof(cell), "%*s", last && columns[c].width < 0 ? 0 :
			 columns[c].width, text);
		text_colored(out, color && line == LINE_VALUES && c == COUNT_ERRORS && *text,
			     COLOR_ERROR, cell);
		buf_addc(out, last ? '\n' : ' ');
	}
}

void call_counts_print(const struct call_counts *k, const struct call_counts_form *f, bool color,
		       struct buf *out)
{
	enum count_sort sort = f->sort;
	struct row rows[CALL_COUNT], total = { .name = "total" };
	size_t n = 0;

	if (!f->ncolumns)
		f = &usual;
	for (size_t i = 0; i < CALL_COUNT; i++) {
		const struct call_count *of = &k->of[i];

		if (!of->calls)
			continue;
		rows[n++] = (struct row){ call_descs[i].name, *of };
		count_time(&total.n, of->min_ns, of->max_ns);
		total.n.calls += of->calls;
		total.n.errors += of->errors;
		total.n.ns += of->ns;
	}
	if (sort != SORT_NOTHING)
		qsort_r(rows, n, sizeof(*rows), compare_counts, &sort);
	print_line(f, LINE_TITLES, NULL, 0, color, out);
	print_line(f, LINE_RULE, NULL, 0, color, out);
	for (size_t i = 0; i < n; i++)
		print_line(f, LINE_VALUES, &rows[i], total.n.ns, color, out);
	print_line(f, LINE_RULE, NULL, 0, color, out);
	print_line(f, LINE_VALUES, &total, total.n.ns, color, out);
}

void event_total_add(struct event_total *f, uint64_t value, uint64_t enabled, uint64_t running)
{
	f->opened = true;
	f->enabled += enabled;
	f->running += running;
	if (running && running < enabled)
		value = (uint64_t)((double)value * (double)enabled / (double)running);
	f->value += value;
}

/* Return what to print in place of a count, or NULL. */
static const char *no_count(const struct event_total *f)
{
	return !f->opened ? "<not opened>" : !f->running ? "<not counted>" : NULL;
}

void event_totals_print(const struct event_total *f, size_t n, double seconds, struct buf *out)
{
	for (; n--; f++) {
		const char *none = no_count(f);

		if (none)
			buf_addf(out, "%20s  ", none);
		else
			buf_addf(out, "%20llu  ", (unsigned long long)f->value);
		text_escaped(out, f->name);
		if (!none && f->clock)
			buf_addf(out, " /* %.3f ms */", (double)f->value / 1e6);
		if (f->running && f->running < f->enabled)
			buf_addf(out, " /* scaled: on the PMU for %.2f %% of the time */",
				 100.0 * (double)f->running / (double)f->enabled);
		buf_addc(out, '\n');
	}
	buf_addf(out, "%20.9f  seconds\n", seconds);
}

void event_totals_line(const struct event_total *f, size_t n, double seconds, struct buf *out)
{
	buf_addf(out, "%.0f s:", seconds);
	for (size_t i = 0; i < n; i++) {
		const char *none = no_count(&f[i]);

		buf_adds(out, i ? ", " : " ");
		text_escaped(out, f[i].name);
		if (none)
			buf_addf(out, " %s", none);
		else
			buf_addf(out, " %llu", (unsigned long long)f[i].value);
	}
}
