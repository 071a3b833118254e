// SPDX-License-Identifier: LGPL-2.1-or-later
/* What was opened: in short, what was tried before, and field by field. */
#include <string.h>

#include "abi/layout.h"
#include "model/attempt.h"
#include "model/event_name.h"
#include "render/siginfo.h"
#include "render/story_in.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Kinds in a family ------------------------------------------------------------------- */

static bool same_kind(const struct event *a, const struct event *b)
{
	return a->attr_len == b->attr_len && !memcmp(a->attr, b->attr, a->attr_len);
}

/* The events from i on that are of its kind; each kind is told at its first. */
static size_t kind_of(const struct family *f, size_t i, const struct event **out, size_t max)
{
	size_t n = 0;

	for (size_t k = 0; k < i; k++)
		if (same_kind(f->events[k], f->events[i]))
			return 0;
	for (size_t k = i; k < f->n && n < max; k++)
		if (same_kind(f->events[k], f->events[i]))
			out[n++] = f->events[k];
	return n;
}

enum { KIND_MAX = 4096 };

static size_t kinds(const struct family *f)
{
	const struct event *list[KIND_MAX];
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += kind_of(f, i, list, KIND_MAX) > 0;
	return n;
}

/* "cpu-clock (fds 5 and 6) and dummy (fds 7 and 9)". */
static void list_kinds(const struct telling *t, const struct family *f)
{
	const struct event *list[KIND_MAX];
	size_t all = kinds(f), done = 0;

	for (size_t i = 0; i < f->n; i++) {
		size_t n = kind_of(f, i, list, KIND_MAX);

		if (!n)
			continue;
		prose_adds(t->p, prose_sep(done++, all));
		story_event_name(t->s, list[0], t->p);
		prose_adds(t->p, " (");
		story_fds(list, n, t->p);
		prose_adds(t->p, ")");
	}
}

/* CPUs and tasks that a family is spread over, each counted once. */
static void spread(const struct family *f, size_t *cpus, size_t *tasks)
{
	*cpus = *tasks = 0;
	for (size_t i = 0; i < f->n; i++) {
		bool cpu = f->events[i]->cpu >= 0, task = f->events[i]->pid >= 0;

		for (size_t k = 0; k < i; k++) {
			cpu &= f->events[k]->cpu != f->events[i]->cpu;
			task &= f->events[k]->pid != f->events[i]->pid;
		}
		*cpus += cpu;
		*tasks += task;
	}
}

static void add_spread(const struct telling *t, const struct family *f)
{
	struct prose *p = t->p;
	size_t cpus, tasks, done = 0;

	spread(f, &cpus, &tasks);
	if (tasks > 1)
		prose_addf(p, "%zu tasks", tasks);
	else
		story_target(t->s, f->events[0], p);
	if (!cpus)
		return;
	prose_adds(p, cpus == 1 ? " on CPU " : " on CPUs ");
	for (size_t i = 0; i < f->n; i++) {
		bool seen = f->events[i]->cpu < 0;

		for (size_t k = 0; k < i; k++)
			seen |= f->events[k]->cpu == f->events[i]->cpu;
		if (!seen)
			prose_addf(p, "%s%d", prose_sep(done++, cpus), f->events[i]->cpu);
	}
}

static void add_mode(const struct telling *t, const struct family *f)
{
	struct attr_words a = story_words(t->s, f->events[0]);
	uint64_t period = attr_word(&a, ATTR_SAMPLE_PERIOD);
	struct prose *p = t->p;
	bool one = f->n == 1;

	if (attr_source(&a) == SOURCE_DUMMY && kinds(f) == 1)
		prose_adds(p, one ? "counts nothing and only carries records, of " :
				    "count nothing and only carry records, of ");
	else if (!attr_samples(&a))
		prose_adds(p, one ? "only counts, in " : "only count, in ");
	else if (attr_word(&a, ATTR_FREQ))
		prose_addf(p, "%s about %llu times a second ", one ? "samples" : "sample",
			   (unsigned long long)period);
	else if (period == 1)
		prose_addf(p, "%s every single count of ", one ? "samples" : "sample");
	else
		prose_addf(p, "%s every %llu%s of ", one ? "samples" : "sample",
			   (unsigned long long)period,
			   attr_source(&a) == SOURCE_CLOCK ? " ns" : " counts");
}

/* In short ---------------------------------------------------------------------------- */

static void short_task(const struct telling *t, const struct task_info *task)
{
	struct prose *p = t->p;
	struct event *const *events;
	size_t n = model_events(t->s->m, &events), probes = 0;
	unsigned int calls = task->opens + task->failures;

	for (size_t i = 0; i < n; i++)
		probes += events[i]->opener == task->tid && event_is_probe(events[i]);
	story_who(t->s, task->tid, p);
	prose_adds(p, " called perf_event_open ");
	prose_count(p, calls, "time");
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
	prose_adds(p, " ");
}

static void short_family(const struct telling *t, const struct family *f)
{
	struct prose *p = t->p;

	prose_item(p);
	list_kinds(t, f);
	prose_adds(p, " ");
	add_mode(t, f);
	add_spread(t, f);
	if (f->events[0]->leader) {
		prose_adds(p, ", in a group led by ");
		story_fds((const struct event *[]){ f->events[0]->leader }, 1, p);
	}
	prose_adds(p, ".");
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
		prose_adds(p, "No ring was mapped, so there are no records: whatever came back "
			      "came by read.");
		return;
	}
	prose_adds(p, "Records come back through ");
	prose_count(p, data, "ring");
	prose_adds(p, " in memory, not through the descriptors.");
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
	for (size_t i = 0; i < t->nfamilies; i++)
		if (!t->families[i].events[0]->found)
			short_family(t, &t->families[i]);
	if (t->nfamilies)
		short_rings(t);
	prose_end(t->p);
}

/* Probes and fallbacks ---------------------------------------------------------------- */

/* An open, whether it worked or not, as the tries are told in their order. */
struct try {
	const uint8_t *attr;
	size_t len;
	pid_t tid;
	int cpu;
	const struct event *event;	/* or */
	const struct attempt *attempt;
};

static void try_name(const struct telling *t, const struct try *y)
{
	struct buf name = { 0 };

	event_name(y->attr, y->len, t->s->names, &name);
	prose_name(t->p, buf_str(&name));
	buf_free(&name);
}

/* Members that differ from the try before, with their new values; how many. */
static size_t differences(const struct telling *t, const struct try *y, const struct try *before,
			  struct prose *p)
{
	struct attr_words a = {
		.attr = y->attr, .len = y->len, .names = t->s->names, .arch = t->s->arch,
	};
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = y->attr, .len = y->len,
		.names = t->s->names,
	};
	const struct field *f;
	size_t at = 0, n = 0;

	while ((f = layout_next(&w, &at))) {
		if (field_get(f, y->attr, y->len) ==
		    field_get(f, before->attr, before->len))
			continue;
		if (p) {
			prose_adds(p, n ? ", " : "");
			attr_prose_member(&a, (unsigned int)(f - w.layout->fields), p);
		}
		n++;
	}
	return n;
}

static bool same_try(const struct try *a, const struct try *b)
{
	return !a->event == !b->event && a->tid == b->tid && a->len == b->len &&
	       !memcmp(a->attr, b->attr, a->len) &&
	       (a->event || a->attempt->error == b->attempt->error);
}

static void tell_instead(const struct telling *t, const struct attempt *a)
{
	const struct event *e = attempt_instead(t->s->m, a);
	struct try was = { .attr = a->attr, .len = a->attr_len };
	struct try is = { .event = e };
	struct prose *p = t->p;

	if (!e)
		return;
	is.attr = e->attr;
	is.len = e->attr_len;
	prose_adds(p, attempt_same_event(a, e) ? " The same event was opened later (" :
						 " What worked in its place was ");
	if (!attempt_same_event(a, e)) {
		story_event_name(t->s, e, p);
		prose_adds(p, " (");
	}
	story_fds(&e, 1, p);
	prose_adds(p, ")");
	if (differences(t, &is, &was, NULL)) {
		prose_adds(p, ", with ");
		differences(t, &is, &was, p);
	}
	if (e->pid != a->pid)
		prose_addf(p, "%s pid %d", differences(t, &is, &was, NULL) ? " and" : ", with",
			   (int)e->pid);
	prose_adds(p, ".");
}

static void tell_try(const struct telling *t, const struct try *y, size_t times,
		     const struct try *before)
{
	const struct xlat_entry *e;
	struct prose *p = t->p;

	prose_item(p);
	try_name(t, y);
	if (y->cpu >= 0 && times == 1)
		prose_addf(p, " on CPU %d", y->cpu);
	if (times > 1)
		prose_addf(p, ", %zu times", times);
	if (before && before->tid == y->tid) {
		prose_adds(p, ", now with ");
		if (!differences(t, y, before, p))
			prose_adds(p, "the same attr");
	}
	if (y->event) {
		prose_adds(p, ": it opened, and was closed again. So the kernel takes such an "
			      "event.");
		return;
	}
	prose_adds(p, ": refused with ");
	e = xlat_find(&xlat_perf_open_errno, (uint64_t)y->attempt->error);
	if (e)
		prose_addf(p, "%s (%s).", e->name, strerror(y->attempt->error));
	else
		prose_addf(p, "error %d.", y->attempt->error);
	tell_instead(t, y->attempt);
}

/* The next probe or failure: attempts stand between the events by their count. */
static bool next_try(const struct telling *t, size_t *event, size_t *attempt, struct try *y)
{
	struct event *const *events;
	const struct attempt *attempts;
	size_t ne = model_events(t->s->m, &events), na = model_attempts(t->s->m, &attempts);

	for (;;) {
		if (*attempt < na && attempts[*attempt].events <= *event) {
			const struct attempt *a = &attempts[(*attempt)++];

			*y = (struct try){ .attr = a->attr, .len = a->attr_len, .tid = a->tid,
					   .cpu = a->cpu, .attempt = a };
			return true;
		}
		if (*event >= ne)
			return false;
		++*event;
		if (event_is_probe(events[*event - 1]))
			break;
	}
	*y = (struct try){
		.attr = events[*event - 1]->attr, .len = events[*event - 1]->attr_len,
		.tid = events[*event - 1]->opener, .cpu = events[*event - 1]->cpu,
		.event = events[*event - 1],
	};
	return true;
}

void story_tries(const struct telling *t)
{
	size_t event = 0, attempt = 0, times = 1;
	struct try y, next, before;
	bool more = next_try(t, &event, &attempt, &y), any = false;
	struct prose *p = t->p;

	if (!more)
		return;
	prose_head(p, "What was tried");
	prose_adds(p, "In this order, opens that failed and events that were closed again "
		      "without being used:");
	while (more) {
		more = next_try(t, &event, &attempt, &next);
		if (more && same_try(&y, &next)) {
			times++;
			y.cpu = next.cpu == y.cpu ? y.cpu : -1;
			continue;
		}
		tell_try(t, &y, times, any ? &before : NULL);
		before = y;
		y = next;
		any = true;
		times = 1;
	}
	prose_end(p);
}

/* Field by field ----------------------------------------------------------------------- */

static void why_so_many(const struct telling *t, const struct family *f)
{
	struct attr_words a = story_words(t->s, f->events[0]);
	size_t cpus, tasks;
	struct prose *p = t->p;

	spread(f, &cpus, &tasks);
	if (cpus < 2 && tasks < 2)
		return;
	prose_adds(p, " There is one event for each ");
	prose_adds(p, cpus > 1 && tasks > 1 ? "CPU and task" : cpus > 1 ? "CPU" : "task");
	if (cpus > 1 && f->events[0]->pid < 0)
		prose_adds(p, ", because an event of every task is always an event of one CPU.");
	else if (cpus > 1 && attr_word(&a, ATTR_INHERIT) && f->events[0]->maps)
		prose_adds(p, ", because the kernel gives no ring to an event that is "
			      "inherited on any CPU (cpu -1).");
	else
		prose_adds(p, ".");
}

static void tell_group(const struct telling *t, const struct family *f)
{
	struct prose *p = t->p;
	struct event *const *events;
	const struct event *leader = f->events[0];
	size_t n = model_events(t->s->m, &events), members = 0;

	if (leader->leader) {
		prose_adds(p, " Each joins a group: group_fd is ");
		story_fds((const struct event *[]){ leader->leader }, 1, p);
		prose_adds(p, f->n > 1 ? " for the first." : ".");
		prose_adds(p, " The events of a group go onto the PMU together or not at all, so "
			      "their counts belong to the same stretch of time.");
		return;
	}
	for (size_t i = 0; i < n; i++)
		members += events[i]->leader == leader;
	if (!members)
		return;
	prose_adds(p, " ");
	story_fds(&leader, 1, p);
	prose_adds(p, " leads a group with ");
	prose_count(p, members, "other member");
	prose_adds(p, ".");
}

static void tell_family(const struct telling *t, const struct family *f)
{
	const struct event *list[KIND_MAX];
	struct attr_words a = story_words(t->s, f->events[0]);
	const struct call_desc *open = call_by_name("perf_event_open");
	const char *steps[] = { open ? "open" : NULL, attr_init_step(&a), "schedule" };
	struct prose *p = t->p;

	prose_para(p);
	prose_count(p, f->n, "open");
	prose_adds(p, " by ");
	story_who(t->s, f->events[0]->opener, p);
	prose_adds(p, ": ");
	list_kinds(t, f);
	prose_adds(p, ", for ");
	add_spread(t, f);
	prose_adds(p, ".");
	why_so_many(t, f);
	tell_group(t, f);
	for (size_t i = 0; i < f->n; i++) {
		if (!kind_of(f, i, list, KIND_MAX))
			continue;
		a = story_words(t->s, f->events[i]);
		attr_prose_event(&a, p);
	}
	a = story_words(t->s, f->events[0]);
	attr_prose_fields(&a, t->o->level == STORY_DEEP, p);
	story_steps(t, "each open goes through these functions, the last ones later, when the "
		       "task comes onto a CPU", steps, 3);
}

void story_opens(const struct telling *t)
{
	bool any = false;

	for (size_t i = 0; i < t->nfamilies; i++) {
		if (t->families[i].events[0]->found)
			continue;
		if (!any)
			prose_head(t->p, "What was opened, and for what");
		any = true;
		tell_family(t, &t->families[i]);
	}
	prose_end(t->p);
}
