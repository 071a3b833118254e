// SPDX-License-Identifier: LGPL-2.1-or-later
/* Runs of calls of one kind by one task, for the timeline. */
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "explain/story_internal.h"

enum { IOCTL_GAP = 10000000 };	/* ns, after which an ioctl is not in a row with the last */

static void span_event(struct span *l, const struct span_event *e)
{
	/* most programs treat their events in the same order each time */
	size_t i = l->at < l->n && l->list[l->at].event == e->event ? l->at : 0;

	while (i < l->n && l->list[i].event != e->event)
		i++;
	l->at = i + 1;
	if (i < l->n)
		return;
	APPEND(l->list, l->n) = *e;
}

/* Add what was done in another span of the kind. */
static void span_merge(struct span *l, const struct span *from)
{
	l->first_ns = from->first_ns < l->first_ns ? from->first_ns : l->first_ns;
	l->last_ns = from->last_ns > l->last_ns ? from->last_ns : l->last_ns;
	l->taken_first = !l->timed || from->taken_first < l->taken_first ? from->taken_first :
									   l->taken_first;
	l->taken_last = from->taken_last > l->taken_last ? from->taken_last : l->taken_last;
	l->timed += from->timed;
	l->times += from->times;
	l->folded |= from->folded;
	for_each(e, from->list, from->n)
		span_event(l, e);
	if (!l->exe && from->exe)
		l->exe = xstrdup(from->exe);
}

void spans_remove(struct spans *w, size_t i)
{
	free(w->items[i].list);
	free(w->items[i].exe);
	memmove(&w->items[i], &w->items[i + 1], (--w->n - i) * sizeof(*w->items));
}

struct span *spans_add(struct spans *w, const struct span *from, size_t most)
{
	struct span *last = w->n ? &w->items[w->last] : NULL, *first = NULL;
	size_t same = 0;

	if (last && last->kind == from->kind && last->part == from->part &&
	    (from->kind < SEEN_IOCTL || from->first_ns < last->last_ns + IOCTL_GAP)) {
		span_merge(last, from);
		return last;
	}
	for (size_t i = w->n; i--;)
		if (w->items[i].kind == from->kind) {
			first = &w->items[i];
			same++;
		}
	if (!first || (same < most && !first->folded)) {
		APPEND(w->items, w->n) = (struct span){ .kind = from->kind, .tid = from->tid,
							.part = from->part,
							.first_ns = from->first_ns };
		first = &w->items[w->n - 1];
	}
	for (size_t i = w->n - 1; same >= most && &w->items[i] > first; i--)
		if (w->items[i].kind == from->kind) {
			span_merge(first, &w->items[i]);
			spans_remove(w, i);
		}
	first->folded |= same >= most;
	w->last = (size_t)(first - w->items);
	span_merge(first, from);
	return first;
}

void spans_free(struct spans *w)
{
	while (w->n)
		spans_remove(w, w->n - 1);
	free(w->items);
}
