// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/call_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static uint64_t average(const struct row *r)
{
	return r->n.calls ? r->n.ns / r->n.calls : 0;
}

/* Sorting --------------------------------------------------------------------- */

static uint64_t sort_key(const struct row *r, enum count_sort sort)
{
	switch (sort) {
	case SORT_MIN:
		return r->n.min_ns;
	case SORT_MAX:
		return r->n.max_ns;
	case SORT_AVERAGE:
		return average(r);
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

static const struct {
	const char *title;
	int width;
} columns[] = {
	/* wall time: a poll counts for as long as it blocks */
	[COUNT_PERCENT] = { "% time", 6 },	[COUNT_TIME] = { "wall secs", 11 },
	[COUNT_MIN] = { "shortest", 8 },	[COUNT_MAX] = { "longest", 8 },
	[COUNT_AVERAGE] = { "usecs/call", 11 },	[COUNT_CALLS] = { "calls", 9 },
	[COUNT_ERRORS] = { "errors", 9 },	[COUNT_NAME] = { "syscall", -16 },
};

static const struct call_counts_form usual = {
	.columns = { COUNT_PERCENT, COUNT_TIME, COUNT_AVERAGE, COUNT_CALLS, COUNT_ERRORS, COUNT_NAME },
	.ncolumns = 6,
};

static void cell_text(const struct row *r, uint64_t total, enum count_column c, char *text,
		      size_t size)
{
	const struct call_count *n = &r->n;

	switch (c) {
	case COUNT_PERCENT:
		snprintf(text, size, "%.2f", total ? 100.0 * (double)n->ns / (double)total : 0.0);
		break;
	case COUNT_TIME:
		snprintf(text, size, "%.6f", (double)n->ns / 1e9);
		break;
	case COUNT_MIN:
		snprintf(text, size, "%.6f", (double)n->min_ns / 1e9);
		break;
	case COUNT_MAX:
		snprintf(text, size, "%.6f", (double)n->max_ns / 1e9);
		break;
	case COUNT_AVERAGE:
		snprintf(text, size, "%llu", (unsigned long long)(average(r) / 1000));
		break;
	case COUNT_CALLS:
		snprintf(text, size, "%llu", (unsigned long long)n->calls);
		break;
	case COUNT_ERRORS:
		if (n->errors)
			snprintf(text, size, "%llu", (unsigned long long)n->errors);
		break;
	default:
		snprintf(text, size, "%s", r->name);
		break;
	}
}

/* Append a line of cells, without blanks at its end. */
static void print_line(const struct call_counts_form *f, struct buf *out,
		       void (*cell)(const void *ctx, enum count_column c, char *text, size_t size),
		       const void *ctx)
{
	for (size_t i = 0; i < f->ncolumns; i++) {
		enum count_column c = f->columns[i];
		bool last = i + 1 == f->ncolumns;
		char text[64] = "";

		cell(ctx, c, text, sizeof(text));
		buf_addf(out, "%*s%s", last && columns[c].width < 0 ? 0 : columns[c].width, text,
			 last ? "\n" : " ");
	}
}

static void cell_title(const void *ctx, enum count_column c, char *text, size_t size)
{
	(void)ctx;
	snprintf(text, size, "%s", columns[c].title);
}

static void cell_rule(const void *ctx, enum count_column c, char *text, size_t size)
{
	(void)ctx;
	snprintf(text, size, "%.*s", abs(columns[c].width), "----------------");
}

struct line {
	const struct row *row;
	uint64_t total;
};

static void cell_value(const void *ctx, enum count_column c, char *text, size_t size)
{
	const struct line *l = ctx;

	cell_text(l->row, l->total, c, text, size);
}

void call_counts_print(const struct call_counts *k, const struct call_counts_form *f,
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
	print_line(f, out, cell_title, NULL);
	print_line(f, out, cell_rule, NULL);
	for (size_t i = 0; i < n; i++)
		print_line(f, out, cell_value, &(struct line){ &rows[i], total.n.ns });
	print_line(f, out, cell_rule, NULL);
	print_line(f, out, cell_value, &(struct line){ &total, total.n.ns });
}
