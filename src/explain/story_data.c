// SPDX-License-Identifier: LGPL-2.1-or-later
/* How the data is read (rings, waits, reads, signals), how accurate it is, and the final counts. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Rings ------------------------------------------------------------------------------- */

/* Return the size of the data; 0 if only the control page is mapped. */
static uint64_t ring_kib(const struct story_text *t, const struct ring *r)
{
	uint64_t page = t->s->names->page_size, pages = (r->end - r->start) / page;

	return r->aux ? pages * page / 1024 : pages < 2 ? 0 : (pages - 1) * page / 1024;
}

static bool polls_ring(const struct task_info *task, const struct ring *r)
{
	for (size_t i = 0; i < task->npolled; i++)
		if (task->polled[i] == r)
			return true;
	return false;
}

/* Return whether two rings are of one kind and the same tasks wait for them. */
static bool rings_alike(const struct story_text *t, const struct ring *a, const struct ring *b)
{
	for (size_t i = 0; i < t->ntasks; i++)
		if (polls_ring(t->tasks[i], a) != polls_ring(t->tasks[i], b))
			return false;
	return a->pid == b->pid && a->aux == b->aux && a->overwrite == b->overwrite &&
	       a->end - a->start == b->end - b->start &&
	       event_known(a->event) == event_known(b->event);
}

static void wait_ends(const struct seen_task *task, struct prose *p)
{
	const struct {
		unsigned int n;
		const char *one, *more;
	} ends[] = {
		{ task->woken, "was woken by records", "were woken by records" },
		{ task->hung_up, "ended with POLLHUP: the measured task had exited",
		  "ended with POLLHUP: the measured task had exited" },
		{ task->ready, "found something ready", "found something ready" },
		{ task->timed_out, "timed out", "timed out" },
		{ task->interrupted, "was interrupted by a signal", "were interrupted by signals" },
		{ task->injected, "was answered by pevtrace (injected)",
		  "were answered by pevtrace (injected)" },
		{ task->unfinished, "did not finish", "did not finish" },
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

/* Say what ends a task's wait for the ring of an event. */
static void ring_wakes(const struct seen_task *task, const struct event *e, struct prose *p)
{
	uint64_t n = layout_get(&layout_perf_event_attr, ATTR_WAKEUP_EVENTS, e->attr, e->attr_len);
	bool bytes = layout_get(&layout_perf_event_attr, ATTR_WATERMARK, e->attr, e->attr_len);

	if (task->for_ends) {
		prose_adds(p, " It does not ask for POLLIN, so new records do not end a wait");
		prose_adds(p, e->pid >= 0 ? "; POLLHUP does, when the measured tasks have exited." :
					    ".");
		return;
	}
	prose_adds(p, " A wait ends with POLLIN when ");
	if (n > 1 || (n && !bytes))
		prose_addf(p, "%llu %s have come, or %s", (unsigned long long)n,
			   bytes ? "bytes" : n == 1 ? "sample" : "samples", "the ring is half full");
	else
		prose_adds(p, n ? "a record has come" : "the ring is half full");
	prose_adds(p, e->pid >= 0 ? ", or with POLLHUP when the measured tasks have exited." : ".");
}

static void ring_pollers(const struct story_text *t, const struct ring *r)
{
	size_t any = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < t->ntasks; i++) {
		const struct seen_task *task = story_task(t->s, t->tasks[i]->tid);

		if (!polls_ring(t->tasks[i], r) || !task || !task->wait)
			continue;
		any++;
		prose_adds(p, task->thread ? " Thread " : " ");
		story_who(t->s, task->tid, p);
		prose_addf(p, " waits for %s with %s", task->for_ends ? "the end" : "records",
			   task->wait->name);
		if (task->parent && task->by) {
			prose_adds(p, "; ");
			story_who(t->s, task->parent, p);
			prose_addf(p, " created it with %s", task->by->name);
		}
		prose_adds(p, ".");
		ring_wakes(task, r->event, p);
		wait_ends(task, p);
	}
	if (!any)
		prose_adds(p, " No task was seen to wait for records.");
}

/* What pevtrace saw in a list of rings. */
struct rings_seen {
	uint64_t looks, records, missed, blind;
};

static void rings_seen_write(const struct rings_seen *seen, size_t n, struct prose *p)
{
	const char *them = n == 1 ? "it" : "them";

	if (seen->looks) {
		prose_adds(p, " pevtrace saw");
		prose_count(p, seen->records, "record", "records");
		prose_addf(p, " in %s%s.", them, seen->missed || seen->blind ? "" :
			   " and missed none");
	}
	if (seen->missed)
		prose_addf(p, " It missed %llu bytes.", (unsigned long long)seen->missed);
	if (seen->blind)
		prose_addf(p, " pevtrace failed to read %s %llu time%s; records that were there "
			      "then are unknown.", them, (unsigned long long)seen->blind,
			   seen->blind == 1 ? "" : "s");
}

static void rings_write(const struct story_text *t, const struct ring **list, size_t n)
{
	const struct event **events = xcalloc(n, sizeof(*events));
	struct rings_seen seen = { .looks = list[0]->looks };
	const struct story_open open = story_open_of(list[0]->event);
	const char *purpose = story_purpose(&open);
	uint64_t kib = ring_kib(t, list[0]);
	unsigned int reads = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		events[i] = list[i]->event;
		reads += events[i]->reads;
		seen.records += list[i]->records;
		seen.missed += list[i]->missed;
		seen.blind += list[i]->blind;
	}
	prose_item(p);
	story_fds(events, n, p);
	free(events);
	prose_adds(p, reads ? ": " : n == 1 ? " is never read: " : " are never read: ");
	if (!kib && !list[0]->aux) {
		prose_adds(p, "only the control page is mapped, for rdpmc and times; there is no "
			      "room for records.");
		return;
	}
	prose_adds(p, list[0]->aux ? "data of the PMU is written to" : "records are written to");
	prose_count(p, n, list[0]->aux ? "AUX area" : "ring", list[0]->aux ? "AUX areas" : "rings");
	prose_addf(p, " of %llu KiB", (unsigned long long)kib);
	if (!list[0]->aux)
		prose_addf(p, " (%llu pages and the control page)",
			   (unsigned long long)(kib * 1024 / t->s->names->page_size));
	prose_adds(p, ", mapped by ");
	story_who(t->s, list[0]->pid, p);
	prose_adds(p, list[0]->overwrite ? " without PROT_WRITE: new records overwrite old ones." :
					   ".");
	if (event_attr(list[0]->event, ATTR_WRITE_BACKWARD)) {
		prose_adds(p, " With write_backward, which Linux ");
		release_text(layout_perf_event_attr.fields[ATTR_WRITE_BACKWARD].since, &p->text);
		prose_adds(p, " brought, the ring is filled from its end to its start: a reader begins "
			      "at data_head, with the newest record, and stops where it has been "
			      "or where records are cut; PERF_EVENT_IOC_PAUSE_OUTPUT keeps the "
			      "kernel from writing meanwhile.");
	}
	ring_pollers(t, list[0]);
	if (purpose) /* what a well-known program does with such records */
		prose_addf(p, " Purpose: %s.", purpose);
	rings_seen_write(&seen, n, p);
}

static void data_rings(const struct story_text *t)
{
	const struct ring **list = xcalloc(t->nrings, sizeof(*list));

	for (size_t i = 0; i < t->nrings; i++) {
		bool done = false;
		size_t n = 0;

		for (size_t k = 0; k < i && !done; k++)
			done = rings_alike(t, t->rings[k], t->rings[i]);
		for (size_t k = i; k < t->nrings && !done; k++)
			if (rings_alike(t, t->rings[k], t->rings[i]))
				list[n++] = t->rings[k];
		if (done)
			continue;
		if (event_known(list[0]->event)) {
			rings_write(t, list, n);
		} else {
			prose_item(t->p);
			prose_count(t->p, n, "mapping", "mappings");
			prose_adds(t->p, " of events opened before the trace began; nothing more "
					 "is known.");
		}
	}
	free(list);
}

/* Redirections and reads ---------------------------------------------------------------- */

static void data_redirects(const struct story_text *t)
{
	size_t n = 0, nto = 0;
	const struct event **list = xcalloc(t->nevents, sizeof(*list));
	const struct event **to = xcalloc(t->nevents, sizeof(*to));
	struct prose *p = t->p;

	for (size_t i = 0; i < t->nevents; i++) {
		bool known = false;

		if (!t->events[i]->output)
			continue;
		list[n++] = t->events[i];
		for (size_t k = 0; k < nto && !known; k++)
			known = to[k] == t->events[i]->output;
		if (!known)
			to[nto++] = t->events[i]->output;
	}
	if (n) {
		prose_item(p);
		story_fds(list, n, p);
		prose_adds(p, n == 1 ? " has no ring of its own: its records go to the ring of " :
			      nto == 1 ? " have no ring of their own: their records go to the "
					 "ring of " :
			      " have no rings of their own: their records go to the rings of ");
		story_fds(to, nto, p);
		prose_adds(p, " (PERF_EVENT_IOC_SET_OUTPUT).");
	}
	free(list);
	free(to);
}

static void data_reads(const struct story_text *t)
{
	size_t n = 0;
	unsigned int times = 0;
	bool group = false;
	const struct event **list = xcalloc(t->nevents, sizeof(*list));
	struct prose *p = t->p;

	for (size_t i = 0; i < t->nevents; i++) {
		if (!t->events[i]->reads)
			continue;
		list[n++] = t->events[i];
		times += t->events[i]->reads;
		group |= t->events[i]->read_format & PERF_FORMAT_GROUP;
	}
	if (n) {
		prose_item(p);
		story_fds(list, n, p);
		prose_adds(p, n == 1 ? " was read " : " were read ");
		prose_times(p, times);
		prose_adds(p, n == 1 ? ". " : " in all. ");
		prose_adds(p, "A read returns counts and what read_format adds, never samples.");
	}
	if (group)
		prose_adds(p, " With PERF_FORMAT_GROUP, a read of the leader returns the counts "
			      "of the whole group.");
	free(list);
}

/* Name the events whose count was not used, with or without a program that runs at their hits. */
static void data_unread(const struct story_text *t, bool runs)
{
	size_t n = 0;
	const struct event **list = xcalloc(t->nevents, sizeof(*list));
	struct prose *p = t->p;

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];
		bool with_leader = e->leader && e->leader->reads &&
				   e->leader->read_format & PERF_FORMAT_GROUP;

		if (!e->reads && !e->maps && !e->output && !story_probe(t->s, e) &&
		    event_known(e) && !with_leader && story_program_runs(t, e, NULL) == runs)
			list[n++] = e;
	}
	if (n) {
		prose_item(p);
		story_fds(list, n, p);
		prose_adds(p, n == 1 ? " was neither read nor mapped: " :
				       " were neither read nor mapped: ");
		if (runs)
			prose_adds(p, "what BPF programs did with the hits is not in the trace.");
		else
			prose_adds(p, n == 1 ? "its count was not used." :
					       "their counts were not used.");
	}
	free(list);
}

void story_data(const struct story_text *t)
{
	const char *steps[4] = { NULL };
	struct prose *p = t->p;

	if (!t->nfamilies)
		return;
	prose_head(p, "How data is read");
	if (t->nrings && t->full) {
		prose_adds(p, "Samples and other records are not returned by a system call: the "
			      "kernel writes them to a mapped ring buffer and advances data_head; "
			      "the program reads the buffer and advances data_tail. See ");
		prose_page(p, "perf_event_open(2), MMAP layout");
		prose_adds(p, ".");
	}
	data_rings(t);
	data_redirects(t);
	data_reads(t);
	data_unread(t, false);
	data_unread(t, true);
	for (size_t i = 0; i < t->s->nsignals; i++) {
		const struct seen_signal *g = &t->s->signals[i];
		char name[32];

		prose_item(p);
		story_who(t->s, g->tid, p);
		signal_name(g->signo, name, sizeof(name));
		prose_addf(p, " received %s from an event, ", name);
		prose_times(p, g->times);
		prose_adds(p, ".");
	}
	prose_end(p);
	for (size_t i = 0; i < t->nevents; i++) {
		steps[0] = t->events[i]->maps ? "mmap" : steps[0];
		steps[2] = t->events[i]->reads ? "read" : steps[2];
		steps[3] = t->events[i]->closed ? "close" : steps[3];
	}
	for (size_t i = 0; i < t->ntasks; i++)
		steps[1] = t->tasks[i]->polls ? "poll" : steps[1];
	story_steps(t, "these calls are handled by", steps, 4);
}

/* Accuracy ------------------------------------------------------------------------------ */

/* Begin an item, after the heading if it is the first. */
static void accuracy_item(struct prose *p, bool *head)
{
	if (!*head)
		prose_head(p, "Accuracy");
	*head = true;
	prose_item(p);
}

/* Say which multiplexed events ran together, for what share of the time. */
static void accuracy_turns(const struct story_text *t, size_t shared)
{
	size_t items = 0;
	const struct event **list = xcalloc(shared, sizeof(*list));
	struct prose *p = t->p;

	prose_adds(p, " They took turns on the PMU, as together they need more counters than "
		      "were free; the events of a group run together or not at all:");
	for (size_t i = 0; i < t->nevents && items < STORY_ITEMS; i++) {
		const struct event *e = t->events[i];
		size_t together = 1;

		if (!model_takes_turns(t->s->m, e) || (e->leader && event_multiplexed(e->leader)))
			continue;
		list[0] = e;
		for (size_t k = i + 1; k < t->nevents; k++)
			if (t->events[k]->leader == e && event_multiplexed(t->events[k]))
				list[together++] = t->events[k];
		prose_adds(p, items++ ? ", " : " ");
		story_fds(list, together, p);
		prose_addf(p, " for %.1f %% of the time", 100.0 * (double)e->count.running /
			   (double)e->count.enabled);
	}
	prose_adds(p, items == STORY_ITEMS ? ", and others." : ".");
	if (t->o->sharers)
		prose_addf(p, " When the first of them was read, events of the PMU were held by %s.",
			   t->o->sharers);
	prose_adds(p, " pevtrace ps shows who holds events on this machine, and what share of the "
		      "time each ran.");
	free(list);
}

static void accuracy_counts(const struct story_text *t, bool *head)
{
	size_t counting = 0, timed = 0, shared = 0;
	size_t hardware = 0, late = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < t->nevents; i++) {
		struct open_attr a = story_attr(t->s, t->events[i]);
		enum event_source s = open_attr_source(&a);

		if (story_probe(t->s, t->events[i]) || !event_attr_known(t->events[i]) ||
		    open_attr_samples(&a) || s == SOURCE_DUMMY)
			continue;
		counting++;
		hardware += s == SOURCE_CPU || s == SOURCE_OTHER;
		timed += t->events[i]->count.known && t->events[i]->count.timed;
		if (model_takes_turns(t->s->m, t->events[i]))
			shared++;
		else
			late += event_multiplexed(t->events[i]);
	}
	if (!counting)
		return;
	accuracy_item(p, head);
	prose_count(p, counting, "event counts", "events count");
	prose_adds(p, " without sampling. A count is exact: it covers the time that the event was "
		      "enabled, in the modes that are not excluded.");
	if (shared) {
		prose_addf(p, " But %zu of them %s multiplexed: time_running is less than "
			      "time_enabled. Tools scale such a count by their ratio (count * "
			      "time_enabled / time_running), which gives an estimate.",
			   shared, shared == 1 ? "was" : "were");
		accuracy_turns(t, shared);
	}
	if (late)
		prose_addf(p, " %zu of them %s time_running below time_enabled without need of a "
			      "counter: the kernel puts an event that joins a running group in "
			      "place later.", late, late == 1 ? "has" : "have");
	if (shared || late)
		return;
	if (timed)
		prose_addf(p, " %s: time_running equals time_enabled%s.",
			   timed == 1 ? "It was not multiplexed" : "They were not multiplexed",
			   timed == counting ? "" : " where both were read");
	else if (hardware)
		prose_adds(p, " Whether there was multiplexing is unknown: the times were not "
			      "read.");
	else
		prose_adds(p, " Such events need no hardware counter and are never multiplexed.");
}

static void accuracy_samples(const struct story_text *t, bool *head)
{
	uint64_t samples = 0, lost = 0, every = 0, all = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];
		struct open_attr a = story_attr(t->s, e);

		if (story_probe(t->s, e) || !event_attr_known(e) || !open_attr_samples(&a) ||
		    !(e->maps || e->output))
			continue;
		every += open_attr_every_hit(&a);
		all++;
		samples += event_records(e, PERF_RECORD_SAMPLE);
		lost += e->lost_read > e->lost_reported ? e->lost_read : e->lost_reported;
	}
	if (!all)
		return;
	accuracy_item(p, head);
	if (every == all)
		prose_adds(p, "With sample_period=1 every hit is sampled: nothing is estimated.");
	else
		prose_adds(p, "Samples are an estimate: each represents everything since the "
			      "previous one, and more samples give a better estimate.");
	if (story_looked(t->s))
		prose_count(p, samples, "sample was seen.", "samples were seen.");
	if (lost)
		prose_count(p, lost, "sample was lost because its ring was full.",
			    "samples were lost because their ring was full.");
}

void story_accuracy(const struct story_text *t)
{
	static const char *const steps[] = { "multiplex" };
	size_t shared = 0, lost = 0;
	bool head = false;

	for (size_t i = 0; i < t->nevents; i++) {
		shared += model_takes_turns(t->s->m, t->events[i]);
		lost += event_multiplexed(t->events[i]);
	}
	if (!t->nfamilies || (!t->full && !lost))
		return;
	accuracy_counts(t, &head);
	accuracy_samples(t, &head);
	prose_end(t->p);
	if (shared)
		story_steps(t, "events take turns on the PMU by", steps, 1);
}

/* Final counts ---------------------------------------------------------------------------- */

/* Count the types of records that the event wrote. */
static size_t record_types(const struct event *e)
{
	size_t n = 0;

	for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++)
		n += event_records(e, type) > 0;
	return n;
}

static bool has_count(const struct story_text *t, const struct event *e)
{
	struct open_attr a = story_attr(t->s, e);

	return e->count.known && open_attr_source(&a) != SOURCE_DUMMY;
}

static void count_write(const struct story_text *t, const struct event *e)
{
	const struct event_count *c = &e->count;
	struct open_attr a = story_attr(t->s, e);
	size_t kinds = record_types(e), done = 0;
	bool counted = has_count(t, e);
	struct prose *p = t->p;

	prose_item(p);
	story_event_name(t->s, e, p);
	if (e->cpu >= 0)
		prose_addf(p, " on CPU %d", e->cpu);
	prose_addf(p, " (fd %d) ", e->fd);
	if (counted)
		prose_addf(p, "counted %llu", (unsigned long long)c->value);
	if (counted && open_attr_source(&a) == SOURCE_CLOCK)
		prose_addf(p, " ns (%.3f ms)", (double)c->value / 1e6);
	if (counted && c->timed && event_multiplexed(e) && c->running)
		prose_addf(p, ", on the PMU for %.1f %% of the time it was enabled: %.0f if scaled",
			   100.0 * (double)c->running / (double)c->enabled,
			   (double)c->value * (double)c->enabled / (double)c->running);
	else if (counted && c->timed && c->enabled && !c->running)
		prose_adds(p, ", but was never on the PMU");
	else if (counted && c->timed)
		prose_addf(p, " while enabled for %.3f ms", (double)c->enabled / 1e6);
	if (kinds)
		prose_adds(p, counted ? ", and wrote " : "wrote ");
	for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++) {
		const char *name = xlat_name(&xlat_perf_event_type, type);

		if (event_records(e, type))
			prose_addf(p, "%s%llu %s", prose_sep(done++, kinds),
				   (unsigned long long)event_records(e, type),
				   name ? name + strlen(xlat_perf_event_type.prefix) :
					  "of unknown type");
	}
	prose_adds(p, ".");
}

void story_counts(const struct story_text *t)
{
	size_t written = 0;

	for (size_t i = 0; i < t->nevents; i++) {
		if (story_probe(t->s, t->events[i]) || !event_known(t->events[i]) ||
		    !(has_count(t, t->events[i]) || record_types(t->events[i])))
			continue;
		if (!written)
			prose_head(t->p, "Final counts");
		if (written++ < STORY_ITEMS)
			count_write(t, t->events[i]);
	}
	story_rest(t, written, "more event.", "more events.");
	prose_end(t->p);
}
