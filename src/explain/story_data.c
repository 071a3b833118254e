// SPDX-License-Identifier: LGPL-2.1-or-later
/* How what events find comes back: rings, waits, reads, signals. */
#include <stdlib.h>

#include "abi/strings.h"
#include "explain/story_internal.h"
#include "lib/die.h"
#include "xlat/constants.h"

/* Rings ------------------------------------------------------------------------------- */

static uint64_t ring_kib(const struct telling *t, const struct ring *r)
{
	uint64_t page = t->s->names->page_size, pages = (r->end - r->start) / page;

	return r->aux ? pages * page / 1024 : pages < 2 ? 0 : (pages - 1) * page / 1024;
}

static bool polls(const struct task_info *task, const struct ring *r)
{
	for (size_t i = 0; i < task->npolled; i++)
		if (task->polled[i] == r)
			return true;
	return false;
}

static bool same_pollers(const struct telling *t, const struct ring *a, const struct ring *b)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(t->s->m, &tasks);

	for (size_t i = 0; i < n; i++)
		if (polls(tasks[i], a) != polls(tasks[i], b))
			return false;
	return true;
}

static bool alike_rings(const struct telling *t, const struct ring *a, const struct ring *b)
{
	return a->pid == b->pid && a->aux == b->aux && a->overwrite == b->overwrite &&
	       a->end - a->start == b->end - b->start && a->event->found == b->event->found &&
	       same_pollers(t, a, b);
}

static void wait_ends(const struct told_task *task, struct prose *p)
{
	const struct {
		unsigned int n;
		const char *one, *more;
	} ends[] = {
		{ task->woken, "was woken by records", "were woken by records" },
		{ task->hung_up, "ended because the task of an event was gone (POLLHUP)",
		  "ended because the task of an event was gone (POLLHUP)" },
		{ task->ready, "ended with something ready", "ended with something ready" },
		{ task->timed_out, "ran out of time without a wakeup",
		  "ran out of time without a wakeup" },
		{ task->interrupted, "was interrupted by a signal", "were interrupted by signals" },
		{ task->answered, "was answered by pevtrace in the kernel's place",
		  "were answered by pevtrace in the kernel's place" },
		{ task->unfinished, "was broken off", "were broken off" },
	};
	bool any = false;

	if (task->waits == 1)
		prose_adds(p, " Its only wait ");
	else
		prose_addf(p, " Of its %u waits, ", task->waits);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (!ends[i].n)
			continue;
		if (task->waits > 1)
			prose_addf(p, "%s%u ", any ? "; " : "", ends[i].n);
		prose_adds(p, ends[i].n == 1 ? ends[i].one : ends[i].more);
		any = true;
	}
	prose_adds(p, any ? "." : task->waits == 1 ? "has not ended." : "none has ended.");
}

/* Who waits for them, and who that is. */
static void pollers(const struct telling *t, const struct ring *r)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(t->s->m, &tasks), any = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		const struct told_task *told = story_task(t->s, tasks[i]->tid);

		if (!polls(tasks[i], r) || !told || !told->wait)
			continue;
		any++;
		prose_adds(p, " ");
		prose_adds(p, told->thread ? "Thread " : "");
		story_who(t->s, told->tid, p);
		prose_addf(p, " sleeps in %s until there is something in %s", told->wait->name,
			   "them");
		if (told->parent && told->by) {
			prose_adds(p, "; ");
			story_who(t->s, told->parent, p);
			prose_addf(p, " made it with %s", told->by->name);
		}
		prose_adds(p, ".");
		wait_ends(told, p);
	}
	if (!any)
		prose_adds(p, " Nobody was seen to wait for records there.");
}

static void tell_rings(const struct telling *t, const struct ring **list, size_t n)
{
	const struct event **events = xcalloc(n, sizeof(*events));
	uint64_t records = 0, missed = 0, blind = 0, kib = ring_kib(t, list[0]);
	unsigned int reads = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		events[i] = list[i]->event;
		reads += events[i]->reads;
		records += list[i]->records;
		missed += list[i]->missed;
		blind += list[i]->blind;
	}
	prose_item(p);
	if (list[0]->event->found) {
		prose_count(p, n, "mapping");
		prose_adds(p, " of events that were opened before the trace began; of these no "
			      "more is known.");
		free(events);
		return;
	}
	story_fds(events, n, p);
	free(events);
	prose_adds(p, reads ? ": " : n == 1 ? " is never read: " : " are never read: ");
	prose_adds(p, list[0]->aux ? "the PMU's own data comes through " :
		      kib ? "records come through " : "only the control page was mapped, ");
	if (!kib && !list[0]->aux) {
		prose_adds(p, "without room for records: for rdpmc and the times in it.");
		return;
	}
	prose_count(p, n, list[0]->aux ? "AUX area" : "ring");
	prose_addf(p, " of %llu KiB", (unsigned long long)kib);
	prose_adds(p, n == 1 ? ", which is mapped" : ", which are mapped");
	prose_adds(p, " in the memory of ");
	story_who(t->s, list[0]->pid, p);
	prose_adds(p, list[0]->overwrite ? " without PROT_WRITE: the newest records overwrite the "
					   "oldest." : ".");
	pollers(t, list[0]);
	if (list[0]->looks) {
		prose_addf(p, " pevtrace looked into %s and saw ", n == 1 ? "it" : "them");
		prose_count(p, records, "record");
		prose_adds(p, ".");
	}
	if (missed)
		prose_addf(p, " %llu bytes were gone before it could look.",
			   (unsigned long long)missed);
	if (blind)
		prose_addf(p, " pevtrace tried to look into %s and could not, %llu time%s: what "
			      "records there were then is not known.", n == 1 ? "it" : "them",
			   (unsigned long long)blind, blind == 1 ? "" : "s");
}

static void all_rings(const struct telling *t)
{
	struct ring *const *rings;
	size_t all = model_rings(t->s->m, &rings);
	const struct ring **list = xcalloc(all, sizeof(*list));

	for (size_t i = 0; i < all; i++) {
		bool done = false;
		size_t n = 0;

		for (size_t k = 0; k < i && !done; k++)
			done = alike_rings(t, rings[k], rings[i]);
		for (size_t k = i; k < all && !done; k++)
			if (alike_rings(t, rings[k], rings[i]))
				list[n++] = rings[k];
		if (!done)
			tell_rings(t, list, n);
	}
	free(list);
}

/* Redirections and reads ---------------------------------------------------------------- */

static void tell_redirects(const struct event **list, size_t n, const struct event **to,
			   size_t nto, struct prose *p)
{
	prose_item(p);
	story_fds(list, n, p);
	prose_adds(p, n == 1 ? " has no ring of its own: its records go into that of " :
		      nto == 1 ? " have no ring of their own: their records go into that of " :
				 " have no rings of their own: their records go into those of ");
	story_fds(to, nto, p);
	prose_adds(p, " (PERF_EVENT_IOC_SET_OUTPUT).");
}

static void redirects(const struct telling *t)
{
	struct event *const *events;
	size_t all = model_events(t->s->m, &events), n = 0, nto = 0;
	const struct event **list = xcalloc(all, sizeof(*list));
	const struct event **to = xcalloc(all, sizeof(*to));

	for (size_t i = 0; i < all; i++) {
		bool known = false;

		if (!events[i]->output)
			continue;
		list[n++] = events[i];
		for (size_t k = 0; k < nto && !known; k++)
			known = to[k] == events[i]->output;
		if (!known)
			to[nto++] = events[i]->output;
	}
	if (n)
		tell_redirects(list, n, to, nto, t->p);
	free(list);
	free(to);
}

static void reads(const struct telling *t)
{
	struct event *const *events;
	size_t all = model_events(t->s->m, &events), n = 0;
	unsigned int times = 0;
	bool group = false;
	const struct event **list = xcalloc(all, sizeof(*list));
	struct prose *p = t->p;

	for (size_t i = 0; i < all; i++) {
		if (!events[i]->reads)
			continue;
		list[n++] = events[i];
		times += events[i]->reads;
		group |= events[i]->read_format & PERF_FORMAT_GROUP;
	}
	if (!n) {
		free(list);
		return;
	}
	prose_item(p);
	story_fds(list, n, p);
	free(list);
	prose_adds(p, n == 1 ? " was read, " : " were read, ");
	prose_times(p, times);
	prose_adds(p, n == 1 ? ". " : " in all. ");
	prose_adds(p, "A read returns counts and what read_format adds to them, and never a "
		      "sample.");
	if (group)
		prose_adds(p, " With PERF_FORMAT_GROUP one read of a leader returned all of its "
			      "group.");
}

static bool silent(const struct telling *t, const struct event *e)
{
	return !e->reads && !e->maps && !e->output && !story_probe(t->s, e) && !e->found;
}

/* Members whose leader is read are read with it. */
static bool read_with_leader(const struct event *e)
{
	return e->leader && e->leader->reads && e->leader->read_format & PERF_FORMAT_GROUP;
}

static void neither(const struct telling *t)
{
	struct event *const *events;
	size_t all = model_events(t->s->m, &events), n = 0;
	const struct event **list = xcalloc(all, sizeof(*list));
	struct prose *p = t->p;

	for (size_t i = 0; i < all; i++)
		if (silent(t, events[i]) && !read_with_leader(events[i]))
			list[n++] = events[i];
	if (!n) {
		free(list);
		return;
	}
	prose_item(p);
	story_fds(list, n, p);
	free(list);
	prose_adds(p, n == 1 ? " was neither read nor mapped" : " were neither read nor mapped");
	prose_adds(p, ": what was counted was never asked for.");
}

static void signals(const struct telling *t)
{
	struct prose *p = t->p;

	for (size_t i = 0; i < t->s->nsignals; i++) {
		const struct told_signal *g = &t->s->signals[i];
		char name[32];

		prose_item(p);
		story_who(t->s, g->tid, p);
		signal_name(g->signo, name, sizeof(name));
		prose_addf(p, " got the signal %s from an event, ", name);
		prose_times(p, g->times);
		prose_adds(p, ".");
	}
}

/* Of mapping, waiting, reading and closing those that came about. */
static void data_steps(const struct telling *t, const char *steps[4])
{
	struct event *const *events;
	struct task_info *const *tasks;
	size_t n = model_events(t->s->m, &events), m = model_tasks(t->s->m, &tasks);

	for (size_t i = 0; i < n; i++) {
		steps[0] = events[i]->maps ? "mmap" : steps[0];
		steps[2] = events[i]->reads ? "read" : steps[2];
		steps[3] = events[i]->closed ? "close" : steps[3];
	}
	for (size_t i = 0; i < m; i++)
		steps[1] = tasks[i]->polls ? "poll" : steps[1];
}

void story_data(const struct telling *t)
{
	const char *steps[4] = { NULL };
	struct ring *const *rings;
	struct prose *p = t->p;

	if (!t->nfamilies)
		return;
	prose_head(p, "How the data comes back");
	if (model_rings(t->s->m, &rings)) {
		prose_adds(p, "Samples and other records never pass through a call. The kernel "
			      "writes them into a ring of memory that the program has mapped, "
			      "moves data_head, and the program reads the memory and moves "
			      "data_tail; see ");
		prose_page(p, "perf_event_open(2)", "MMAP layout");
		prose_adds(p, ".");
	}
	all_rings(t);
	redirects(t);
	reads(t);
	neither(t);
	signals(t);
	prose_end(p);
	data_steps(t, steps);
	story_steps(t, "these calls go through", steps, 4);
}
