// SPDX-License-Identifier: LGPL-2.1-or-later
/* What was opened: in short, what was tried before, and field by field. */
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "lib/die.h"
#include "model/attempt.h"
#include "model/event_name.h"
#include "render/story_in.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Kinds in a family ------------------------------------------------------------------- */

static bool same_kind(const struct event *a, const struct event *b)
{
	return a->attr_len == b->attr_len && !memcmp(a->attr, b->attr, a->attr_len);
}

/* Whether event i is the first of its kind. */
static bool first_of_kind(const struct family *f, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_kind(f->events[k], f->events[i]))
			return false;
	return true;
}

static size_t kinds(const struct family *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += first_of_kind(f, i);
	return n;
}

/* "cpu-clock (fds 5 and 6) and dummy (fds 7 and 9)". */
static void list_kinds(const struct telling *t, const struct family *f)
{
	const struct event **list = xcalloc(f->n, sizeof(*list));
	size_t all = kinds(f), done = 0;

	for (size_t i = 0; i < f->n; i++) {
		size_t n = 0;

		for (size_t k = first_of_kind(f, i) ? i : f->n; k < f->n; k++)
			if (same_kind(f->events[k], f->events[i]))
				list[n++] = f->events[k];
		if (!n)
			continue;
		prose_adds(t->p, prose_sep(done++, all));
		story_event_name(t->s, list[0], t->p);
		prose_adds(t->p, " (");
		story_fds(list, n, t->p);
		prose_adds(t->p, ")");
	}
	free(list);
}

/* CPUs and tasks that a family is spread over, each counted once. */
static void spread(const struct family *f, size_t *cpus, size_t *tasks)
{
	*cpus = *tasks = 0;
	for (size_t i = 0; i < f->n; i++) {
		bool cpu = f->events[i]->cpu >= 0, task = f->events[i]->pid >= 0;

		for (size_t k = 0; k < i && (cpu || task); k++) {
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
	prose_adds(p, cpus == 1 ? ", on CPU " : ", on CPUs ");
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
		prose_adds(p, one ? "counts nothing and only carries records, for " :
				    "count nothing and only carry records, for ");
	else if (!attr_samples(&a))
		prose_adds(p, one ? "only counts, for " : "only count, for ");
	else
		prose_adds(p, one ? "samples " : "sample ");
	add_spread(t, f);
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
		probes += events[i]->opener == task->tid && event_is_probe(events[i]);
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
	prose_adds(p, " ");
}

static void short_family(const struct telling *t, const struct family *f)
{
	struct prose *p = t->p;

	prose_item(p);
	list_kinds(t, f);
	prose_adds(p, " ");
	add_mode(t, f);
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

/* They can be told as one: the same probe again, or failures alike. */
static bool same_try(const struct telling *t, const struct try *a, const struct try *b)
{
	if (!a->event != !b->event || a->tid != b->tid)
		return false;
	if (!a->event)
		return a->attempt->error == b->attempt->error &&
		       attempt_instead(t->s->m, a->attempt) ==
		       attempt_instead(t->s->m, b->attempt);
	return a->len == b->len && !memcmp(a->attr, b->attr, a->len);
}

static bool same_attr(const struct try *a, const struct try *b)
{
	return a->len == b->len && !memcmp(a->attr, b->attr, a->len);
}

static void tell_instead(const struct telling *t, const struct attempt *a, size_t names)
{
	const struct event *e = attempt_instead(t->s->m, a);
	struct try was = { .attr = a->attr, .len = a->attr_len };
	struct try is = { .event = e };
	struct prose *p = t->p;

	if (!e)
		return;
	is.attr = e->attr;
	is.len = e->attr_len;
	if (attempt_same_event(a, e)) {
		prose_adds(p, " The same event was opened next (");
	} else {
		prose_addf(p, " The next open like %s that worked was ", names > 1 ? "them" : "it");
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

/* The events of a run, each once; how many there are. */
static size_t run_names(const struct telling *t, const struct try *run, size_t n, bool say)
{
	size_t names = 0, all = say ? run_names(t, run, n, false) : 0;

	for (size_t i = 0; i < n; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = same_attr(&run[k], &run[i]);
		if (seen)
			continue;
		if (say) {
			prose_adds(t->p, prose_sep(names, all));
			try_name(t, &run[i]);
		}
		names++;
	}
	return names;
}

static void tell_run(const struct telling *t, const struct try *run, size_t n,
		     const struct try *before)
{
	const struct xlat_entry *e;
	struct prose *p = t->p;
	size_t names;

	prose_item(p);
	names = run_names(t, run, n, true);
	if (n > names)
		prose_addf(p, ", %zu times", n);
	else if (n == 1 && run->cpu >= 0)
		prose_addf(p, " on CPU %d", run->cpu);
	if (names == 1 && before && before->tid == run->tid) {
		prose_adds(p, ", now with ");
		if (!differences(t, run, before, p))
			prose_adds(p, "the same attr");
	}
	if (run->event) {
		prose_adds(p, ": it opened and was closed again, so the kernel takes it.");
		return;
	}
	prose_adds(p, ": refused with ");
	e = xlat_find(&xlat_perf_open_errno, (uint64_t)run->attempt->error);
	if (e)
		prose_addf(p, "%s (%s).", e->name, strerror(run->attempt->error));
	else
		prose_addf(p, "error %d.", run->attempt->error);
	tell_instead(t, run[n - 1].attempt, names);
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

/* All of them, in order; the caller frees. */
static struct try *all_tries(const struct telling *t, size_t *n)
{
	size_t event = 0, attempt = 0;
	struct try *list = NULL, one;

	*n = 0;
	while (next_try(t, &event, &attempt, &one)) {
		list = xrealloc(list, (*n + 1) * sizeof(*list));
		list[(*n)++] = one;
	}
	return list;
}

void story_tries(const struct telling *t)
{
	size_t n, run;
	struct try *list = all_tries(t, &n);
	struct prose *p = t->p;

	if (n) {
		prose_head(p, "What was tried");
		prose_adds(p, "Opens that failed, and events that were closed again without "
			      "being used, in their order:");
	}
	for (size_t i = 0; i < n; i += run) {
		for (run = 1; i + run < n && same_try(t, &list[i], &list[i + run]); run++)
			;
		tell_run(t, &list[i], run, i ? &list[i - 1] : NULL);
	}
	prose_end(p);
	free(list);
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
		prose_adds(p, f->n > 1 ? " Each joins a group: group_fd is, for the first, " :
					 " It joins a group: group_fd is ");
		story_fds((const struct event *[]){ leader->leader }, 1, p);
		prose_adds(p, ".");
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

/* The items of a family's fields, one a line. */
static void items_of(const struct telling *t, const struct family *f, struct buf *out)
{
	struct attr_words a = story_words(t->s, f->events[0]);
	struct prose p;

	prose_init(&p, out, 0);
	attr_prose_fields(&a, t->o->level == STORY_DEEP, &p);
	prose_free(&p);
}

/* Whether text has this line, of len bytes with its end. */
static bool has_line(const struct buf *text, const char *line, size_t len)
{
	const char *s = buf_str(text);

	for (size_t n; *s; s += n) {
		n = strcspn(s, "\n") + 1;
		if (n == len && !memcmp(s, line, len))
			return true;
	}
	return false;
}

/* Whether an item of the text sets the member; heads end at ": ". */
static bool sets(const struct buf *text, const char *name, size_t len)
{
	const char *end;

	for (const char *s = buf_str(text); *s; s = end + (*end == '\n')) {
		end = strchrnul(s, '\n');
		for (const char *at = s; (at = memmem(at, (size_t)(end - at), name, len)); at++) {
			if (strstr(s, ": ") < at)
				break;
			if (at[-1] == ' ' && at[len] == '=')
				return true;
		}
	}
	return false;
}

/* What the other family sets and this one does not. */
static void tell_missing(const struct buf *mine, const struct buf *other, struct prose *p)
{
	bool any = false;
	size_t n;

	for (const char *s = buf_str(other); *s; s = strchrnul(s, '\n') + 1) {
		const char *end = strstr(s, ": ");

		for (const char *at = s + 4; end && at < end; at += strcspn(at, " ") + 1) {
			n = strcspn(at, "=");
			if (at + n > end || sets(mine, at, n))
				continue;
			prose_addf(p, "%s%.*s", any ? ", " : " But these are 0: ", (int)n, at);
			any = true;
		}
	}
	prose_adds(p, any ? "." : "");
}

/* Those that no earlier family has, if most of them are an earlier one's. */
static void tell_fields(const struct telling *t, const struct family *f)
{
	const struct family *like = NULL;
	struct buf mine = { 0 }, before = { 0 }, best = { 0 };
	size_t lines = 0, most = 0, n;

	items_of(t, f, &mine);
	for (const char *s = buf_str(&mine); *s; s += strcspn(s, "\n") + 1)
		lines++;
	for (const struct family *g = t->families; g < f; g++) {
		size_t shared = 0;

		buf_reset(&before);
		if (!g->events[0]->found)
			items_of(t, g, &before);
		for (const char *s = buf_str(&mine); *s; s += n) {
			n = strcspn(s, "\n") + 1;
			shared += has_line(&before, s, n);
		}
		if (shared <= most || 2 * shared < lines)
			continue;
		most = shared;
		like = g;
		buf_reset(&best);
		buf_add(&best, buf_str(&before), before.len);
	}
	for (const char *s = buf_str(&mine); *s; s += n) {
		n = strcspn(s, "\n") + 1;
		if (has_line(&best, s, n))
			continue;
		prose_item(t->p);
		prose_addf(t->p, "%.*s", (int)n - 5, s + 4);
	}
	if (like) {
		prose_item(t->p);
		prose_adds(t->p, lines == most ? "All other fields are those of " :
						 "What else is set is as with ");
		story_fds(like->events, 1, t->p);
		prose_adds(t->p, ".");
		tell_missing(&mine, &best, t->p);
	}
	prose_end(t->p);
	buf_free(&mine);
	buf_free(&before);
	buf_free(&best);
}

static void tell_family(const struct telling *t, const struct family *f)
{
	struct attr_words a = story_words(t->s, f->events[0]);
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
		if (!first_of_kind(f, i))
			continue;
		a = story_words(t->s, f->events[i]);
		attr_prose_event(&a, p);
	}
	a = story_words(t->s, f->events[0]);
	tell_fields(t, f);
}

/* Once for all families that go the same way. */
static void tell_steps(const struct telling *t)
{
	const char *first[STORY_OPEN_STEPS] = { NULL }, *steps[STORY_OPEN_STEPS];

	for (size_t i = 0; i < t->nfamilies; i++) {
		struct attr_words a = story_words(t->s, t->families[i].events[0]);

		if (t->families[i].events[0]->found)
			continue;
		story_open_steps(&a, steps);
		if (!*first) {
			story_steps(t, "each open goes through these functions, and later, when "
				       "the task or CPU runs, through the last ones", steps,
				    STORY_OPEN_STEPS);
			memcpy(first, steps, sizeof(first));
		} else if (steps[OPEN_INIT] && steps[OPEN_INIT] != first[OPEN_INIT]) {
			struct buf intro = { 0 };

			buf_addf(&intro, "the PMU of fd %d is found by", t->families[i].events[0]->fd);
			story_steps(t, buf_str(&intro), &steps[OPEN_INIT], 1);
			buf_free(&intro);
		}
	}
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
	tell_steps(t);
	prose_end(t->p);
}
