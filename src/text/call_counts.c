// SPDX-License-Identifier: LGPL-2.1-or-later
#include "text/call_counts.h"

#include <stdio.h>
#include <stdlib.h>

void call_counts_add(struct call_counts *k, const struct call *c)
{
	struct call_count *n = &k->of[c->desc->id];

	n->calls++;
	n->errors += c->failed;
	n->ns += c->exit_ns - c->start_ns;
}

struct row {
	const char *name;
	struct call_count n;
};

static int compare_times(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->n.ns != y->n.ns)
		return x->n.ns < y->n.ns ? 1 : -1;
	return x->n.calls < y->n.calls ? 1 : x->n.calls > y->n.calls ? -1 : 0;
}

static void print_row(const struct row *r, uint64_t total, struct buf *out)
{
	char errors[24] = "";

	if (r->n.errors)
		snprintf(errors, sizeof(errors), "%llu", (unsigned long long)r->n.errors);
	buf_addf(out, "%6.2f %11.6f %11llu %9llu %9s %s\n",
		 total ? 100.0 * (double)r->n.ns / (double)total : 0.0,
		 (double)r->n.ns / 1e9,
		 (unsigned long long)(r->n.calls ? r->n.ns / r->n.calls / 1000 : 0),
		 (unsigned long long)r->n.calls, errors, r->name);
}

void call_counts_print(const struct call_counts *k, struct buf *out)
{
	static const char rule[] =
		"------ ----------- ----------- --------- --------- ----------------\n";
	struct row rows[CALL_COUNT], total = { .name = "total" };
	size_t n = 0;

	for (size_t i = 0; i < CALL_COUNT; i++) {
		if (!k->of[i].calls)
			continue;
		rows[n++] = (struct row){ call_descs[i].name, k->of[i] };
		total.n.calls += k->of[i].calls;
		total.n.errors += k->of[i].errors;
		total.n.ns += k->of[i].ns;
	}
	qsort(rows, n, sizeof(*rows), compare_times);
	/* wall time: a poll counts for as long as it blocks */
	buf_adds(out, "% time   wall secs  usecs/call     calls    errors syscall\n");
	buf_adds(out, rule);
	for (size_t i = 0; i < n; i++)
		print_row(&rows[i], total.n.ns, out);
	buf_adds(out, rule);
	print_row(&total, total.n.ns, out);
}
