// SPDX-License-Identifier: LGPL-2.1-or-later
/* The events that were opened: each kind in a line, and field by field. */
#include "explain/attr_prose.h"
#include "explain/story_internal.h"
#include "xlat/layouts.h"

void story_reason(const struct story_text *t, const struct family *f)
{
	struct open_attr a = story_attr(t->s, f->events[0]);
	bool cpus = false, tasks = false;
	struct prose *p = t->p;

	for (size_t i = 1; i < f->n; i++) {
		cpus |= f->events[i]->cpu != f->events[0]->cpu;
		tasks |= f->events[i]->pid != f->events[0]->pid;
	}
	if (!cpus && !tasks)
		return;
	prose_adds(p, " One event per ");
	prose_adds(p, cpus && tasks ? "CPU and task" : cpus ? "CPU" : "task");
	if (cpus && f->events[0]->pid < 0)
		prose_adds(p, ": an event of every task must be bound to a CPU.");
	else if (cpus && open_attr_get(&a, ATTR_INHERIT) && f->events[0]->maps)
		prose_adds(p, ": an inherited event can only be mapped if it is bound to one.");
	else
		prose_adds(p, ".");
	for (size_t i = 0; i < f->n && cpus && f->events[0]->pid >= 0; i++)
		if (open_attr_source(&a) == SOURCE_CLOCK && f->events[i]->count.started &&
		    !f->events[i]->count.value)
			prose_addf(p, " The task did not run on CPU %d.", f->events[i]->cpu);
}

/* Return whether an earlier family has the item, whose sentence would be the same. */
static bool opens_said(const struct story_text *t, const struct family *f,
		       const struct attr_item *item)
{
	struct attr_item list[ATTR_ITEMS];

	for (const struct family *g = t->families; g < f; g++) {
		struct open_attr a = story_attr(t->s, g->events[0]);
		size_t n = event_attr_known(g->events[0]) ? attr_items(&a, list) : 0;

		while (n--)
			if (attr_item_same(&list[n], item))
				return true;
	}
	return false;
}

/* Write what each kind of event is, and the members that no earlier family has alike. */
static void opens_members(const struct story_text *t, const struct family *f)
{
	const struct event *kinds[STORY_ITEMS];
	struct open_attr a = story_attr(t->s, f->events[0]);
	struct attr_item list[ATTR_ITEMS];
	size_t n = family_kinds(f, kinds), left = 0;

	for (size_t i = 0; i < n; i++) {
		struct open_attr kind = story_attr(t->s, kinds[i]);

		attr_prose_event(&kind, t->p);
	}
	n = attr_items(&a, list);
	for (size_t i = 0; i < n; i++) {
		if (!opens_said(t, f, &list[i]))
			attr_item_write(&list[i], &a, t->o->deep, t->p);
		else
			left++;
	}
	if (left) {
		prose_item(t->p);
		prose_adds(t->p, "Its other members are as above.");
	}
	prose_end(t->p);
}

static void opens_family(const struct story_text *t, const struct family *f)
{
	const struct story_open o = story_open_of(f->events[0]);
	struct prose *p = t->p;

	prose_para(p);
	if (f->events[0]->found)
		prose_count(p, f->n, "event from before the trace, held by ",
			    "events from before the trace, held by ");
	else
		prose_count(p, f->n, "open by ", "opens by ");
	story_who(t->s, f->events[0]->opener, p);
	prose_adds(p, ": ");
	family_list(t, f);
	prose_adds(p, ".");
	if (f->events[0]->unread) {
		prose_item(p);
		prose_adds(p, "The attr could not be read from the program's memory.");
		return;
	}
	story_reason(t, f);
	if (f->events[0]->leader)
		prose_adds(p, " The events of a group are put on the PMU together, so their counts "
			      "cover the same time.");
	opens_members(t, f);
	story_defaults(t, f);
	prose_item(p);
	story_needs(t->s, &o, p);
}

void story_opens(const struct story_text *t)
{
	bool any = false;

	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++) {
		if (!event_known(t->families[i].events[0]))
			continue;
		if (!any)
			prose_head(t->p, "Events opened");
		any = true;
		opens_family(t, &t->families[i]);
	}
	if (t->nfamilies > STORY_ITEMS) {
		prose_item(t->p);
		prose_count(t->p, t->nfamilies - STORY_ITEMS, "more kind.", "more kinds.");
	}
	prose_end(t->p);
}
