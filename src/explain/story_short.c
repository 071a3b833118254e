// SPDX-License-Identifier: LGPL-2.1-or-later
/* What was opened, in short; and how a family of events is named. */
#include <stdlib.h>
#include <string.h>

#include "explain/story_internal.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

/* Kinds in a family ------------------------------------------------------------------- */

static bool same_kind(const struct event *a, const struct event *b)
{
	return a->attr_len == b->attr_len && !memcmp(a->attr, b->attr, a->attr_len);
}

size_t story_kinds(const struct family *f, const struct event *out[TOLD_MANY])
{
	size_t n = 0, k;

	for (size_t i = 0; i < f->n && n < TOLD_MANY; i++) {
		for (k = 0; k < n && !same_kind(out[k], f->events[i]); k++)
			;
		if (k == n)
			out[n++] = f->events[i];
	}
	return n;
}

void story_list_kinds(const struct telling *t, const struct family *f)
{
	const struct event *kinds[TOLD_MANY], **list = xcalloc(f->n, sizeof(*list));
	size_t all = story_kinds(f, kinds), told = 0;

	for (size_t i = 0; i < all; i++) {
		size_t n = 0;

		for (size_t k = 0; k < f->n; k++)
			if (same_kind(kinds[i], f->events[k]))
				list[n++] = f->events[k];
		prose_adds(t->p, all == TOLD_MANY && i ? ", " : prose_sep(i, all));
		story_event_name(t->s, kinds[i], t->p);
		prose_adds(t->p, " (");
		story_fds(list, n, t->p);
		prose_adds(t->p, ")");
		told += n;
	}
	if (told < f->n)
		prose_addf(t->p, " and %zu more", f->n - told);
	free(list);
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

/* Sorts them, each to stand once; how many are left. */
static size_t distinct(int *list, size_t n)
{
	size_t kept = 0;

	qsort(list, n, sizeof(*list), by_number);
	for (size_t i = 0; i < n; i++)
		if (!i || list[i] != list[i - 1])
			list[kept++] = list[i];
	return kept;
}

/* The CPUs, for the caller to free, and how many CPUs and tasks there are. */
static int *spread(const struct family *f, size_t *cpus, size_t *tasks)
{
	int *cpu = xcalloc(f->n, sizeof(*cpu)), *task = xcalloc(f->n, sizeof(*task));

	*cpus = *tasks = 0;
	for (size_t i = 0; i < f->n; i++) {
		if (f->events[i]->cpu >= 0)
			cpu[(*cpus)++] = f->events[i]->cpu;
		if (f->events[i]->pid >= 0)
			task[(*tasks)++] = f->events[i]->pid;
	}
	*cpus = distinct(cpu, *cpus);
	*tasks = distinct(task, *tasks);
	free(task);
	return cpu;
}

void story_spread(const struct family *f, size_t *cpus, size_t *tasks)
{
	free(spread(f, cpus, tasks));
}

void story_add_spread(const struct telling *t, const struct family *f)
{
	struct prose *p = t->p;
	size_t cpus, tasks;
	int *cpu = spread(f, &cpus, &tasks);

	if (tasks > 1)
		prose_addf(p, "%zu tasks", tasks);
	else
		story_target(t->s, f->events[0], p);
	if (cpus)
		prose_adds(p, cpus == 1 ? ", on CPU " : ", on CPUs ");
	for (size_t i = 0; i < cpus; i++) {
		size_t run = 1;

		while (i + run < cpus && cpu[i + run] == cpu[i] + (int)run)
			run++;
		if (run > 2) {
			prose_addf(p, "%s%d to %d", prose_sep(i, cpus - run + 1), cpu[i],
				   cpu[i] + (int)run - 1);
			i += run - 1;
		} else {
			prose_addf(p, "%s%d", prose_sep(i, cpus), cpu[i]);
		}
	}
	free(cpu);
}

static void add_mode(const struct telling *t, const struct family *f)
{
	const struct event *kinds[TOLD_MANY];
	struct attr_words a = story_words(t->s, f->events[0]);
	uint64_t period = attr_word(&a, ATTR_SAMPLE_PERIOD);
	struct prose *p = t->p;
	bool one = f->n == 1;

	if (f->events[0]->unread)
		prose_adds(p, one ? "does what is not known, for " : "do what is not known, for ");
	else if (attr_source(&a) == SOURCE_DUMMY && story_kinds(f, kinds) == 1)
		prose_adds(p, one ? "counts nothing and only carries records, for " :
				    "count nothing and only carry records, for ");
	else if (!attr_samples(&a))
		prose_adds(p, one ? "only counts, for " : "only count, for ");
	else
		prose_adds(p, one ? "samples " : "sample ");
	story_add_spread(t, f);
	if (!attr_samples(&a))
		return;
	if (attr_word(&a, ATTR_FREQ)) {
		prose_adds(p, ", about ");
		prose_times(p, period);
		prose_adds(p, " a second");
	} else if (period == 1) {
		prose_adds(p, attr_every_hit(&a) ? ", at every hit" : ", at every single count");
	} else {
		prose_addf(p, ", after each %llu %s", (unsigned long long)period,
			   attr_source(&a) == SOURCE_CLOCK ? "ns" : "counts");
	}
}

/* In short ---------------------------------------------------------------------------- */

static void short_task(const struct telling *t, const struct task_info *task)
{
	struct prose *p = t->p;
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), probes = 0;
	unsigned int calls = task->opens + task->failures;

	for (size_t i = 0; i < n; i++)
		probes += events[i]->opener == task->tid && story_probe(t->s, events[i]);
	story_who(t->s, task->tid, p);
	prose_adds(p, " called perf_event_open ");
	prose_times(p, calls);
	prose_adds(p, ": ");
	if (task->opens) {
		prose_count(p, task->opens, "event");
		prose_adds(p, task->opens == 1 ? " was opened" : " were opened");
	}
	if (task->failures) {
		prose_adds(p, task->opens ? ", and " : "");
		prose_count(p, task->failures, "call");
		prose_adds(p, task->failures == 1 ? " was refused" : " were refused");
	}
	prose_adds(p, ".");
	if (probes) {
		prose_addf(p, " %zu of the events %s, closed again without use: ", probes,
			   probes == 1 ? "was a probe" : "were probes");
		prose_adds(p, probes == 1 ? "it only showed what the kernel takes." :
					    "they only showed what the kernel takes.");
	}
	if (probes == task->opens)
		prose_adds(p, " So it got no event to measure with.");
	prose_adds(p, " ");
}

static void short_family(const struct telling *t, const struct family *f)
{
	struct prose *p = t->p;

	prose_item(p);
	story_list_kinds(t, f);
	prose_adds(p, " ");
	add_mode(t, f);
	if (f->events[0]->leader) {
		prose_adds(p, ", in a group led by ");
		story_fds((const struct event *[]){ f->events[0]->leader }, 1, p);
	}
	prose_adds(p, ".");
}

/* Of events that were opened before, nobody told what they are. */
static void short_found(const struct telling *t)
{
	size_t n = story_found(t->s, NULL);
	const struct event **list = xcalloc(n ? n : 1, sizeof(*list));
	struct prose *p = t->p;

	story_found(t->s, list);
	if (n) {
		prose_item(p);
		story_fds(list, n, p);
		prose_adds(p, n == 1 ? " is of an event that was opened before the trace began: "
				       "what it asks for is not known." :
				       " are of events that were opened before the trace began: "
				       "what they ask for is not known.");
	}
	free(list);
}

static void short_rings(const struct telling *t)
{
	struct ring *const *rings;
	size_t n = model_rings(t->s->m, &rings), data = 0, seen = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		data += !rings[i]->aux;
		seen += rings[i]->records;
	}
	prose_para(p);
	if (!data) {
		prose_adds(p, story_found(t->s, NULL) ?
			   "No ring was mapped while the trace ran." :
			   "No ring was mapped, so there are no records: whatever came back "
			   "came by read.");
		return;
	}
	prose_adds(p, "Records come back through ");
	prose_count(p, data, "ring");
	prose_adds(p, " in memory, not through the descriptors.");
	if (!story_looked(t->s))
		prose_adds(p, NOT_LOOKED);
	if (seen) {
		prose_adds(p, " ");
		prose_count(p, seen, "record");
		prose_adds(p, seen == 1 ? " was seen in " : " were seen in ");
		prose_adds(p, data == 1 ? "it." : "them.");
	}
}

void story_short(const struct telling *t)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(t->s->m, &tasks);

	prose_head(t->p, "In short");
	for (size_t i = 0; i < n; i++)
		if (tasks[i]->opens || tasks[i]->failures)
			short_task(t, tasks[i]);
	for (size_t i = 0; i < t->nfamilies && i < TOLD_MANY; i++)
		if (!t->families[i].events[0]->found)
			short_family(t, &t->families[i]);
	short_found(t);
	story_rest(t, t->nfamilies, "more kind");
	if (t->nfamilies)
		short_rings(t);
	prose_end(t->p);
}
