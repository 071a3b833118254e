// SPDX-License-Identifier: LGPL-2.1-or-later
/* The events that were opened: each kind in a line, and field by field. */
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/map.h"
#include "explain/attr_prose.h"
#include "explain/story_internal.h"
#include "xlat/layouts.h"

/*
 * Write "sample sh[12], on CPUs 0 and 1, about 99 times a second", or "runs BPF program 12 name at
 * each hit, and counts what passes, for sh[12]".
 */
static void line_mode(const struct story_text *t, const struct family *f)
{
	const struct event *kinds[STORY_ITEMS];
	struct open_attr a = story_attr(t->s, f->events[0]);
	uint64_t period = open_attr_get(&a, ATTR_SAMPLE_PERIOD);
	struct prose *p = t->p;
	bool one = f->n == 1, samples = open_attr_samples(&a), same = true;

	for (size_t i = 1; i < f->n && same; i++)
		same = f->events[i]->bpf && f->events[i]->program.id == f->events[0]->program.id;
	if (f->events[0]->unread) {
		prose_adds(p, one ? "has an unknown mode, for " : "have an unknown mode, for ");
	} else if (open_attr_source(&a) == SOURCE_DUMMY && family_kinds(f, kinds) == 1) {
		prose_adds(p, one ? "counts nothing and carries side-band records, for " :
				    "count nothing and carry side-band records, for ");
	} else if (story_program_runs(t, f->events[0], NULL)) {
		prose_adds(p, one ? "runs " : "run ");
		if (same)
			story_program_runs(t, f->events[0], p);
		prose_addf(p, "%s at each hit, and %s%s what passes, %s ",
			   same ? "" : "BPF programs", samples ? "sample" : "count",
			   one ? "s" : "", samples ? "of" : "for");
	} else if (samples) {
		prose_adds(p, one ? "samples " : "sample ");
	} else {
		prose_adds(p, one ? "counts, for " : "count, for ");
	}
	family_write_spread(t, f);
	if (!samples)
		return;
	if (open_attr_get(&a, ATTR_FREQ)) {
		prose_adds(p, ", about ");
		prose_times(p, period);
		prose_adds(p, " a second");
	} else if (period == 1) {
		prose_adds(p, open_attr_every_hit(&a) ? ", at every hit" : ", at every count");
	} else {
		prose_addf(p, ", every %llu %s", (unsigned long long)period,
			   open_attr_source(&a) == SOURCE_CLOCK ? "ns" : "counts");
	}
}

void story_family_line(const struct story_text *t, const struct family *f)
{
	const struct event **leaders = xcalloc(f->n, sizeof(*leaders));
	struct prose *p = t->p;
	size_t n = 0, k;

	for (size_t i = 0; i < f->n; i++) {
		for (k = 0; k < n && leaders[k] != f->events[i]->leader; k++)
			;
		if (k == n && f->events[i]->leader)
			leaders[n++] = f->events[i]->leader;
	}
	family_list(t, f);
	prose_adds(p, " ");
	line_mode(t, f);
	if (n) {
		prose_adds(p, n == 1 ? ", in the group led by " : ", in groups led by ");
		story_fds(leaders, n, p);
	}
	prose_adds(p, ".");
	free(leaders);
}

/* Say why there is one event per CPU or task. */
static void opens_reason(const struct story_text *t, const struct family *f)
{
	struct open_attr a = story_attr(t->s, f->events[0]);
	size_t cpus, tasks;
	struct prose *p = t->p;

	free(family_cpus(f, &cpus, &tasks));
	if (cpus < 2 && tasks < 2)
		return;
	prose_adds(p, " One event per ");
	prose_adds(p, cpus > 1 && tasks > 1 ? "CPU and task" : cpus > 1 ? "CPU" : "task");
	if (cpus > 1 && f->events[0]->pid < 0)
		prose_adds(p, ": an event of every task must be bound to a CPU.");
	else if (cpus > 1 && open_attr_get(&a, ATTR_INHERIT) && f->events[0]->maps)
		prose_adds(p, ": an inherited event can only be mapped if it is bound to a CPU "
			      "(cpu is not -1).");
	else
		prose_adds(p, ".");
}

static void opens_group(const struct story_text *t, const struct family *f)
{
	struct prose *p = t->p;
	size_t members = 0, leaders = 0;
	const struct event **list;
	struct map counts = { 0 };

	if (f->events[0]->leader) {
		prose_adds(p, " The events of a group are put on the PMU together, so their counts "
			      "cover the same time.");
		return;
	}
	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *leader = t->events[i]->leader;

		if (leader)
			map_set(&counts, leader->number,
				(void *)((uintptr_t)map_get(&counts, leader->number) + 1));
	}
	list = xcalloc(f->n, sizeof(*list));
	for (size_t i = 0; i < f->n; i++) {
		size_t of = (size_t)(uintptr_t)map_get(&counts, f->events[i]->number);

		members += of;
		if (of)
			list[leaders++] = f->events[i];
	}
	if (leaders) {
		prose_adds(p, " ");
		story_fds(list, leaders, p);
		prose_adds(p, leaders == 1 ? " leads a group with" : " lead groups with");
		prose_count(p, members, "other member", "other members");
		prose_adds(p, leaders == 1 ? "." : " in all.");
	}
	free(list);
	map_free(&counts);
}

/* The items of a family's attr. */
struct opens_items {
	struct attr_item list[ATTR_ITEMS];
	size_t n;
};

static void opens_get_items(const struct story_text *t, const struct family *f,
			    struct opens_items *out)
{
	struct open_attr a = story_attr(t->s, f->events[0]);

	out->n = event_attr_known(f->events[0]) ? attr_items(&a, out->list) : 0;
}

static bool opens_has(const struct opens_items *items, const struct attr_item *item)
{
	for (size_t i = 0; i < items->n; i++)
		if (attr_item_same(&items->list[i], item))
			return true;
	return false;
}

static size_t opens_shared(const struct opens_items *a, const struct opens_items *b)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		n += opens_has(b, &a->list[i]);
	return n;
}

/* Find the earlier family that shares most items, at least half of mine; or NULL. */
static const struct family *opens_like(const struct story_text *t, const struct family *f,
				       const struct opens_items *mine, struct opens_items *best)
{
	const struct family *like = NULL;
	size_t most = 0;

	best->n = 0;
	for (const struct family *g = t->families; g < f; g++) {
		struct opens_items items;
		size_t shared;

		opens_get_items(t, g, &items);
		shared = opens_shared(mine, &items);
		if (shared <= most || 2 * shared < mine->n)
			continue;
		most = shared;
		like = g;
		*best = items;
	}
	return like;
}

/* Write the items that the most similar earlier family does not have. */
static void opens_fields(const struct story_text *t, const struct family *f)
{
	struct open_attr a = story_attr(t->s, f->events[0]), b;
	struct opens_items mine, best;
	const struct family *like;
	struct prose *p = t->p;
	struct buf names = { 0 };
	struct prose unset;

	opens_get_items(t, f, &mine);
	like = opens_like(t, f, &mine, &best);
	for (size_t i = 0; i < mine.n; i++)
		/* the short form has the rate in its first line, and how it is enabled below */
		if (!opens_has(&best, &mine.list[i]) &&
		    (t->full || (mine.list[i].kind != ITEM_RATE &&
				 mine.list[i].kind != ITEM_START)))
			attr_item_write(&mine.list[i], &a, !t->full ? ITEM_SHORT :
					t->o->level == STORY_DEEP ? ITEM_DEEP : ITEM_FULL, p);
	if (like) {
		b = story_attr(t->s, like->events[0]);
		prose_item(p);
		prose_addf(p, "%s fd %d", opens_shared(&mine, &best) == mine.n ?
			   "Same fields as" : "Other fields as for", like->events[0]->fd);
		prose_init(&unset, &names, 0);
		if (attr_items_unset(&a, &b, &unset))
			prose_addf(p, ", but not set: %s", buf_str(&unset.text));
		prose_free(&unset);
		buf_free(&names);
		prose_adds(p, ".");
	}
	prose_end(p);
}

/* Write what an item says of a family. */
typedef void opens_writer(const struct story_text *t, const struct family *f);

static void opens_render(const struct story_text *t, const struct family *f, opens_writer *write,
			 struct buf *out)
{
	struct story_text copy = *t;
	struct buf lines = { 0 };
	struct prose p;

	buf_reset(out);
	prose_init(&p, &lines, 0);
	copy.p = &p;
	if (event_attr_known(f->events[0]))
		write(&copy, f);
	buf_add(out, p.text.data, p.text.len);
	prose_free(&p);
	buf_free(&lines);
}

/* Write an item, or that it is the same as for an earlier family; nothing without same. */
static void opens_once(const struct story_text *t, const struct family *f, opens_writer *write,
		       const char *same)
{
	struct buf mine = { 0 }, other = { 0 };
	const struct family *g;

	opens_render(t, f, write, &mine);
	for (g = t->families; g < f; g++) {
		opens_render(t, g, write, &other);
		if (!strcmp(buf_str(&mine), buf_str(&other)))
			break;
	}
	if (mine.len && (g == f || same)) {
		prose_item(t->p);
		if (g == f)
			prose_adds(t->p, buf_str(&mine));
		else
			prose_addf(t->p, "%sfd %d.", same, g->events[0]->fd);
	}
	buf_free(&mine);
	buf_free(&other);
}

static void opens_needs(const struct story_text *t, const struct family *f)
{
	struct story_open o = story_open_of(f->events[0]);

	story_needs(t->s, &o, t->p);
}

/* Write what each kind of event is and the fields; in short as sentences of one item. */
static void opens_kinds(const struct story_text *t, const struct family *f)
{
	const struct event *kinds[STORY_ITEMS];
	size_t n = family_kinds(f, kinds);
	struct prose *p = t->p;

	if (!t->full)
		prose_item(p);
	p->flow = !t->full;
	for (size_t i = 0; i < n; i++) {
		struct open_attr a = story_attr(t->s, kinds[i]);

		if (t->full) {
			attr_prose_event(&a, p);
			continue;
		}
		prose_item(p);
		story_event_name(t->s, kinds[i], p);
		prose_adds(p, ": ");
		attr_prose_what(&a, p);
		prose_adds(p, ".");
	}
	opens_fields(t, f);
	p->flow = false;
}

static void opens_family(const struct story_text *t, const struct family *f)
{
	struct prose *p = t->p;

	prose_para(p);
	if (t->full) {
		if (f->events[0]->found)
			prose_count(p, f->n, "event from before the trace, held by ",
				    "events from before the trace, held by ");
		else
			prose_count(p, f->n, "open by ", "opens by ");
		story_who(t->s, f->events[0]->opener, p);
		prose_adds(p, ": ");
		family_list(t, f);
		prose_adds(p, ", for ");
		family_write_spread(t, f);
		prose_adds(p, ".");
	} else {
		story_family_line(t, f);
	}
	if (f->events[0]->unread) {
		prose_item(p);
		prose_adds(p, "The attr could not be read from the program's memory.");
		return;
	}
	opens_reason(t, f);
	opens_group(t, f);
	opens_kinds(t, f);
	if (!t->full) {
		opens_once(t, f, story_trigger_of, "Samples: as for ");
		opens_once(t, f, story_start_of, "Enabled as ");
	}
	opens_once(t, f, story_defaults, NULL);
	opens_once(t, f, opens_needs, "Requires the same as ");
}

/* List all steps of the first open, and of others the PMU that accepts the event. */
static void opens_path(const struct story_text *t, const struct event *e, const char **listed,
		       size_t *nlisted)
{
	struct open_attr a = story_attr(t->s, e);
	const char *steps[STORY_OPEN_STEPS];
	struct buf intro = { 0 };

	story_open_steps(&a, steps);
	for (size_t i = 0; i < *nlisted; i++)
		if (listed[i] == steps[OPEN_INIT])
			return;
	if (*nlisted == STORY_ITEMS)
		return;
	if (!*nlisted) {
		buf_addf(&intro, "the open of fd %d calls these functions, the last of them when "
				 "the task or CPU is scheduled", e->fd);
		story_steps(t, buf_str(&intro), steps, STORY_OPEN_STEPS);
	} else if (steps[OPEN_INIT]) {
		buf_addf(&intro, "the PMU of events like fd %d is initialised by", e->fd);
		story_steps(t, buf_str(&intro), &steps[OPEN_INIT], 1);
	}
	buf_free(&intro);
	listed[(*nlisted)++] = steps[OPEN_INIT];
}

/* List the steps of opens; nothing without --kernel. */
static void opens_paths(const struct story_text *t)
{
	const struct event *kinds[STORY_ITEMS];
	const char *listed[STORY_ITEMS], *steps[STORY_OPEN_STEPS];
	const struct attempt *last;
	size_t nlisted = 0, n;

	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++) {
		n = event_attr_known(t->families[i].events[0]) ?
			family_kinds(&t->families[i], kinds) : 0;
		for (size_t k = 0; k < n; k++)
			opens_path(t, kinds[k], listed, &nlisted);
	}
	if (nlisted || !t->nattempts)
		return;
	/* only probes succeeded: the last failed open */
	last = &t->attempts[t->nattempts - 1];
	story_open_steps(&(struct open_attr){
		.names = t->s->names, .arch = t->s->arch, .attr = last->attr,
		.len = last->attr_len, .pid = last->pid, .flags = last->flags,
	}, steps);
	story_steps(t, "the last failed open calls these functions, up to the one that refuses it",
		    steps, STORY_OPEN_STEPS - 1);
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
	story_rest(t, t->nfamilies, "more kind.", "more kinds.");
	opens_paths(t);
	prose_end(t->p);
}
