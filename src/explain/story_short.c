// SPDX-License-Identifier: LGPL-2.1-or-later
/* The summary of a story. */
#include <stdlib.h>

#include "core/lib/die.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

static void short_task(const struct story_text *t, const struct task_info *task)
{
	struct prose *p = t->p;
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), probes = 0;

	for (size_t i = 0; i < n; i++)
		probes += events[i]->opener == task->tid && story_probe(t->s, events[i]);
	story_who(t->s, task->tid, p);
	prose_adds(p, " called perf_event_open ");
	prose_times(p, task->opens + task->failures);
	prose_adds(p, ": ");
	prose_count(p, task->opens, "event");
	prose_adds(p, " opened");
	if (task->failures) {
		prose_adds(p, ", ");
		prose_count(p, task->failures, "call");
		prose_adds(p, " failed");
	}
	prose_adds(p, ".");
	if (probes) {
		prose_adds(p, " ");
		prose_count(p, probes, "event");
		prose_adds(p, probes == 1 ? " was a probe" : " were probes");
		prose_adds(p, ": opened and closed unused, to test what the kernel accepts.");
	}
	if (probes == task->opens)
		prose_adds(p, " No event was left to measure with.");
	prose_adds(p, " ");
}

/* Write "runs BPF program 12 name at each hit, and counts what it passes, for ". */
static void short_program(const struct story_text *t, const struct family *f)
{
	struct open_attr a = story_attr(t->s, f->events[0]);
	struct prose *p = t->p;
	bool same = true;

	for (size_t i = 1; i < f->n && same; i++)
		same = f->events[i]->bpf && f->events[i]->program.id == f->events[0]->program.id;
	prose_adds(p, f->n == 1 ? "runs " : "run ");
	if (same)
		story_program_runs(t, f->events[0], p);
	else
		prose_adds(p, "BPF programs");
	prose_addf(p, " at each hit, and %s%s what passes, %s ",
		   open_attr_samples(&a) ? "sample" : "count", f->n == 1 ? "s" : "",
		   open_attr_samples(&a) ? "of" : "for");
}

/* Write "sample sh[12], on CPUs 0 and 1, about 99 times a second". */
static void short_mode(const struct story_text *t, const struct family *f)
{
	const struct event *kinds[STORY_ITEMS];
	struct open_attr a = story_attr(t->s, f->events[0]);
	uint64_t period = open_attr_get(&a, ATTR_SAMPLE_PERIOD);
	struct prose *p = t->p;
	bool one = f->n == 1;

	if (f->events[0]->unread)
		prose_adds(p, one ? "has an unknown mode, for " : "have an unknown mode, for ");
	else if (open_attr_source(&a) == SOURCE_DUMMY && family_kinds(f, kinds) == 1)
		prose_adds(p, one ? "counts nothing and carries side-band records, for " :
				    "count nothing and carry side-band records, for ");
	else if (story_program_runs(t, f->events[0], NULL))
		short_program(t, f);
	else if (!open_attr_samples(&a))
		prose_adds(p, one ? "counts, for " : "count, for ");
	else
		prose_adds(p, one ? "samples " : "sample ");
	family_write_spread(t, f);
	if (!open_attr_samples(&a))
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
	size_t n = family_leaders(f, leaders);
	struct prose *p = t->p;

	family_list(t, f);
	prose_adds(p, " ");
	short_mode(t, f);
	if (n) {
		prose_adds(p, n == 1 ? ", in the group led by " : ", in groups led by ");
		story_fds(leaders, n, p);
	}
	prose_adds(p, ".");
	free(leaders);
}

static void short_found(const struct story_text *t)
{
	size_t n = story_found(t->s, NULL);
	const struct event **list = xcalloc(n ? n : 1, sizeof(*list));
	struct prose *p = t->p;

	story_found(t->s, list);
	if (n) {
		prose_item(p);
		story_fds(list, n, p);
		prose_adds(p, n == 1 ? ": an event opened before the trace began; its attr is "
				       "unknown." :
				       ": events opened before the trace began; their attrs are "
				       "unknown.");
		story_programs_of(t, list, n);
	}
	free(list);
}

/* Write how many rings there are and what was seen in them; return false if there is none. */
static bool short_rings(const struct story_text *t)
{
	struct ring *const *rings;
	size_t n = model_rings(t->s->m, &rings), data = 0, seen = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		data += !rings[i]->aux && rings[i]->end - rings[i]->start > t->s->names->page_size;
		seen += rings[i]->records;
	}
	prose_para(p);
	if (!data) {
		prose_adds(p, story_found(t->s, NULL) ? "No ring was mapped during the trace." :
			   "No ring was mapped: no records were returned, only counts by read.");
		return false;
	}
	prose_adds(p, "Records are returned through ");
	prose_count(p, data, "ring");
	prose_adds(p, " in memory, not by read.");
	if (!story_looked(t->s))
		prose_adds(p, " The trace was made without --records: the rings' contents are "
			      "unknown.");
	if (seen) {
		prose_adds(p, " ");
		prose_count(p, seen, "record");
		prose_adds(p, seen == 1 ? " was seen." : " were seen.");
	}
	return true;
}

/* Say how many records the kernel lost, by its own account. */
static void short_lost(const struct story_text *t)
{
	struct event *const *events;
	size_t n = model_events(t->s->m, &events);
	uint64_t lost = 0, sources = 0;

	for (size_t i = 0; i < n; i++) {
		const struct event *e = events[i];

		lost += e->lost_read > e->lost_reported ? e->lost_read : e->lost_reported;
		sources += e->reads && e->read_format & PERF_FORMAT_LOST;
	}
	if (lost)
		prose_addf(t->p, " The kernel reported %llu lost record%s: the ring was full.",
			   (unsigned long long)lost, lost == 1 ? "" : "s");
	else if (sources || story_looked(t->s))
		prose_addf(t->p, " The kernel reported no lost records (%s%s%s).",
			   sources ? "reads with PERF_FORMAT_LOST: 0" : "",
			   sources && story_looked(t->s) ? ", " : "",
			   story_looked(t->s) ? "LOST records: none" : "");
	else
		prose_adds(t->p, " Whether the kernel lost records is unknown.");
}

void story_short(const struct story_text *t)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(t->s->m, &tasks);

	prose_head(t->p, "Summary");
	for (size_t i = 0; i < n; i++)
		if (tasks[i]->opens || tasks[i]->failures)
			short_task(t, tasks[i]);
	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++)
		if (event_known(t->families[i].events[0]) && t->o->level != STORY_NORMAL) {
			prose_item(t->p);
			story_family_line(t, &t->families[i]);
		}
	short_found(t);
	if (t->o->level != STORY_NORMAL)
		story_rest(t, t->nfamilies, "more kind");
	if (t->nfamilies && short_rings(t))
		short_lost(t);
	prose_end(t->p);
}
