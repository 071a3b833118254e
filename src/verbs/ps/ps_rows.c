// SPDX-License-Identifier: LGPL-2.1-or-later
/* The rows of pevtrace ps: by holder, with events that differ little in one row; and the totals. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "verbs/ps/ps.h"

/* Return the holder below which an event is listed: the first, or one that -p names. */
static const struct events_holder *holder_of(const struct ps *p, const struct events_event *v)
{
	for (size_t i = 0; i < v->nholders; i++)
		for (size_t k = 0; k < p->options.npids; k++)
			if ((uint32_t)p->options.pids[k] == v->holders[i].pid)
				return &v->holders[i];
	return v->holders;
}

static int compare_words(uint64_t l, uint64_t r)
{
	return (l > r) - (l < r);
}

/* Compare by holder: processes by their ids, then BPF links, then the kernel. */
static int compare_holders(const struct events_holder *l, const struct events_holder *r)
{
	int c = compare_words(l->pid - 1U, r->pid - 1U);

	c = c ? c : compare_words(l->tid, r->tid);
	return c || l->pid ? c : compare_words(l->reference, r->reference);
}

static bool is_dummy(const struct events_facts *f)
{
	return f->attr_len && f->type == PERF_TYPE_SOFTWARE &&
	       layout_get(&layout_perf_event_attr, ATTR_CONFIG, f->attr, f->attr_len) ==
	       PERF_COUNT_SW_DUMMY;
}

/* Return 0 for events of one row: dummy events, or those that differ by their CPU only. */
static int compare_twins(const struct ps_item *x, const struct ps_item *y)
{
	const struct events_facts *f = &x->v->facts, *g = &y->v->facts;
	int c = compare_holders(x->by, y->by);

	c = c ? c : compare_words(is_dummy(f), is_dummy(g));
	/* what has ended is not hidden in a row of what counts */
	c = c ? c : compare_words(f->state >= 0, g->state >= 0);
	c = c || f->state >= 0 ? c : f->state - g->state;
	if (c || is_dummy(f))
		return c;
	c = compare_words(f->cpu < 0 ? f->id : 0, g->cpu < 0 ? g->id : 0);
	c = c ? c : compare_words(f->target, g->target);
	c = c ? c : compare_words(f->type, g->type);
	c = c ? c : compare_words(f->cgroup, g->cgroup);
	c = c ? c : compare_words(f->attr_len, g->attr_len);
	return c ? c : memcmp(f->attr, g->attr, f->attr_len);
}

static int compare_items(const void *a, const void *b)
{
	const struct ps_item *x = a, *y = b;
	int c = compare_twins(x, y);

	return c ? c : compare_words(x->v->facts.id, y->v->facts.id);
}

bool ps_same_holder(const struct ps_row *x, const struct ps_row *y)
{
	return !compare_holders(x->items->by, y->items->by);
}

static int ps_compare_rows(const void *a, const void *b)
{
	const struct ps_row *x = a, *y = b;
	int c = compare_holders(x->items->by, y->items->by);

	return c ? c : compare_words(x->sum.facts.id, y->sum.facts.id);
}

static void ps_row_add(struct ps_row *r, const struct events_event *v)
{
	struct events_facts *f = &r->sum.facts;
	const struct events_facts *g = &v->facts;

	r->n++;
	r->sum.counted &= v->counted;
	r->sum.stale |= v->stale;
	f->count += g->count;
	f->lost += g->lost;
	f->running_ns += g->running_ns;
	if (!f->target) /* a task is on one CPU at a time */
		f->enabled_ns += g->enabled_ns;
	else if (g->enabled_ns > f->enabled_ns)
		f->enabled_ns = g->enabled_ns;
	f->state = g->state > f->state ? g->state : f->state;
	f->pages |= g->pages;
	f->aux_pages |= g->aux_pages;
}

struct ps_row *ps_rows(struct ps *p, struct events_event *const *list, size_t n,
		       struct ps_item *items, size_t *nrows)
{
	struct ps_row *rows = xcalloc(n + 1, sizeof(*rows)), *last = NULL;

	*nrows = 0;
	for (size_t i = 0; i < n; i++)
		items[i] = (struct ps_item){ list[i], holder_of(p, list[i]) };
	qsort(items, n, sizeof(*items), compare_items);
	for (size_t i = 0; i < n; i++) {
		const struct events_event *v = items[i].v;

		if (last && !p->unfold && !p->options.text.full && v->facts.attr_len &&
		    !compare_twins(last->items, &items[i]))
			ps_row_add(last, v);
		else
			*(last = &rows[(*nrows)++]) = (struct ps_row){
				.p = p, .items = &items[i], .n = 1, .sum = *v,
			};
	}
	qsort(rows, *nrows, sizeof(*rows), ps_compare_rows);
	return rows;
}

void ps_add_totals(const struct ps *p, const struct ps_item *items, size_t n, struct buf *out)
{
	struct map processes = { 0 }, rings = { 0 };
	uint64_t pages = 0;
	size_t fds = 0;

	for (size_t i = 0; i < n; i++) {
		const struct events_event *v = items[i].v;
		const struct events_facts *f = &v->facts;

		for (size_t k = 0; k < v->nholders; k++) {
			fds += v->holders[k].reference == EVENTS_DESCRIPTOR;
			if (v->holders[k].pid)
				map_set(&processes, v->holders[k].pid, &processes);
		}
		if (f->ring && !map_set(&rings, f->ring, &rings))
			pages += 1 + f->pages + f->aux_pages;
	}
	buf_addf(out, "total: events %zu, processes %zu, descriptors %zu", n, processes.len, fds);
	if (p->events.bpf)
		buf_addf(out, ", rings %zu, pinned %llu KiB", rings.len,
			 (unsigned long long)(pages * p->machine.names.page_size / 1024));
	map_free(&processes);
	map_free(&rings);
}
