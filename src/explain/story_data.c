// SPDX-License-Identifier: LGPL-2.1-or-later
/* How samples and counts come: triggers, rings, waits, reads. */
#include "explain/attr_prose.h"
#include "explain/story_internal.h"

enum { DATA_WAITS = 3 };	/* tasks that wait, families and events, in sentences */

/* Write the names of the bits, without what all of the table have in common. */
static void data_bits(const struct xlat *x, uint64_t v, const char *sep, struct prose *p)
{
	const struct xlat_entry *e;
	size_t at = 0;

	while ((e = xlat_next_flag(x, &v, &at))) {
		prose_addf(p, "%s%s", sep, e->name + strlen(x->prefix));
		sep = ", ";
	}
	if (v)
		prose_addf(p, "%s0x%llx", sep, (unsigned long long)v);
}

/* Write what triggers samples, and what they hold, of families that differ in the first. */
static void data_samples(const struct story_text *t)
{
	struct attr_trigger trigger, done;
	struct prose *p = t->p;
	size_t said = 0, on;

	for (size_t i = 0; i < t->nfamilies && said < (t->full ? STORY_ITEMS : 2); i++) {
		const struct event *e = t->families[i].events[0];
		struct open_attr a = story_attr(t->s, e);
		uint64_t v = open_attr_get(&a, ATTR_SAMPLE_TYPE);

		trigger = attr_trigger_of(&a);
		if (!event_attr_known(e) || !open_attr_samples(&a) ||
		    (said && attr_trigger_same(&trigger, &done)))
			continue;
		done = trigger;
		prose_line(p, 0, 2);
		prose_adds(p, "Samples");
		if (said++) {
			prose_adds(p, " of ");
			story_event_name(t->s, e, p);
		}
		prose_adds(p, ": ");
		for (on = 0; on < t->families[i].n &&
		     t->families[i].events[on]->start == START_NEVER; on++)
			;
		if (on == t->families[i].n) {
			prose_adds(p, "none, as the event was never enabled.");
			continue;
		}
		attr_trigger_write(&trigger, p);
		prose_adds(p, v ? " Each holds" : " Each is a header only");
		data_bits(&xlat_perf_event_sample_format, v, " ", p);
		prose_adds(p, ".");
		if (t->tight < 2)
			story_reason(t, &t->families[i]);
		if (t->full && !open_attr_every_hit(&a))
			prose_adds(p, " They are an estimate: each represents everything since the "
				      "previous one.");
		if (t->full && e->pid >= 0 && (trigger.source == SOURCE_CLOCK ||
					       trigger.source == SOURCE_CPU))
			prose_adds(p, " A context switch takes no sample, and no kprobe or "
				      "tracepoint is involved.");
	}
}

uint64_t story_ring_kib(const struct story_text *t, const struct ring *r)
{
	uint64_t page = t->s->names->page_size, pages = (r->end - r->start) / page;

	return r->aux ? pages * page / 1024 : pages < 2 ? 0 : (pages - 1) * page / 1024;
}

/* Write how many samples its ring holds, and how soon those of a clock fill it. */
static void data_holds(const struct story_text *t, const struct event *e, struct prose *p)
{
	const struct ring_totals *r = &e->ring;
	struct open_attr a = story_attr(t->s, e);
	uint64_t period = open_attr_get(&a, ATTR_SAMPLE_PERIOD), n;
	double ms;

	if (!r->bytes || !event_attr_known(e) || !event_records(e, PERF_RECORD_SAMPLE))
		return;
	n = r->size * r->records / r->bytes;
	prose_addf(p, " That of fd %d holds about %llu records", e->fd, (unsigned long long)n);
	ms = open_attr_get(&a, ATTR_FREQ) ? 1e3 * (double)n / (double)(period ? period : 1) :
					    1e-6 * (double)n * (double)period;
	if (open_attr_source(&a) == SOURCE_CLOCK)
		prose_addf(p, ms < 1000 ? ", %.1f ms of samples" : ", %.0f s of samples",
			   ms < 1000 ? ms : ms / 1000);
	prose_adds(p, ".");
}

/* Write who moves which position, and what limits the memory: perf_mmap() of the kernel. */
static void data_rings(const struct story_text *t)
{
	uint64_t bytes = 0, blind = 0;
	unsigned int each = 512 + t->s->names->page_size / 1024, cpus = t->s->names->cpus;
	const struct ring *first = NULL, *busiest = NULL;
	struct prose *p = t->p;
	size_t n = 0, aux = 0;

	for (size_t i = 0; i < t->nrings; i++) {
		const struct ring *r = t->rings[i];

		if (r->first || !event_known(r->event))
			continue;
		bytes += r->end - r->start;
		blind += r->blind;
		n++;
		aux += r->aux;
		if (!first && story_ring_kib(t, r) && !r->aux)
			first = busiest = r;
		if (first && !r->aux && r->event->ring.records > busiest->event->ring.records)
			busiest = r;
	}
	if (!first)
		return;
	prose_line(p, 0, 2);
	prose_adds(p, first->overwrite ?
		   "Rings: the kernel moves data_head; as the program cannot write data_tail, new "
		   "records overwrite the oldest." : t->tight > 2 ? "Rings:" :
		   "Rings: the kernel writes at data_head and drops what does not fit before "
		   "data_tail, which the program moves.");
	if (event_attr(first->event, ATTR_WRITE_BACKWARD))
		prose_adds(p, " With write_backward a ring is filled from its end: data_head is at "
			      "the newest record, and PERF_EVENT_IOC_PAUSE_OUTPUT stops the kernel "
			      "while the program reads.");
	if (aux)
		prose_count(p, aux, "AUX area has data of the PMU.",
			    "AUX areas have data of the PMU.");
	prose_count(p, n, "ring pins", "rings pin");
	/* sysctl_perf_event_mlock of the kernel */
	prose_addf(p, " %llu KiB", (unsigned long long)bytes / 1024);
	if (cpus && bytes / 1024 <= each * cpus) {
		prose_addf(p, ", which perf_event_mlock_kb allows (%u per CPU and user by default).",
			   each);
	} else {
		prose_addf(p, ": perf_event_mlock_kb allows %u per CPU and user by default, the rest",
			   each);
		if (cpus)
			prose_addf(p, " (%llu with %u CPU%s)",
				   (unsigned long long)bytes / 1024 - each * cpus, cpus,
				   cpus == 1 ? "" : "s");
		prose_adds(p, " counts against RLIMIT_MEMLOCK, unless with CAP_IPC_LOCK or "
			      "perf_event_paranoid -1.");
	}
	if (t->tight < 2 || busiest->event->ring.bursts)
		data_holds(t, busiest->event, p);
	if (blind)
		prose_addf(p, " pevtrace failed to read rings %llu time%s; records that were there "
			      "then are unknown.", (unsigned long long)blind, blind == 1 ? "" : "s");
}

/* Write how the waits of a task ended, which a sentence names that is not complete. */
static void wait_ends(const struct story_text *t, const struct seen_task *task)
{
	const struct {
		unsigned int n;
		const char *text;
	} ends[] = {
		{ task->woken, "woken by records" },
		{ task->hung_up, task->ringless ? "ended with POLLHUP" :
				 "ended with POLLHUP (the measured tasks had exited)" },
		{ task->ready, "found something ready" },
		{ task->timed_out, "timed out" },
		{ task->interrupted, task->stopped_by.signo ? "interrupted by " :
				     "interrupted by a signal" },
		{ task->injected, "answered by pevtrace (injected)" },
		{ task->unfinished, "did not finish" },
	};
	const char *sep = ":";

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (!ends[i].n)
			continue;
		prose_adds(t->p, sep);
		if (task->waits > 1)
			prose_addf(t->p, " %u", ends[i].n);
		prose_addf(t->p, " %s", ends[i].text);
		if (i == 4 && task->stopped_by.signo)
			story_signal(t->s, &task->stopped_by, t->p);
		sep = ",";
	}
	prose_adds(t->p, *sep == ',' ? "." : task->waits == 1 ? " has not ended." :
		   " have not ended.");
}

/* Write what ends a wait for rings. */
static void wait_until(const struct event *e, struct prose *p)
{
	uint64_t n = event_attr(e, ATTR_WAKEUP_EVENTS);

	if (n == 1 && event_attr(e, ATTR_WATERMARK))
		prose_adds(p, ", until a record came");
	else if (n && event_attr(e, ATTR_WATERMARK))
		prose_addf(p, ", until %llu bytes of records came", (unsigned long long)n);
	else if (n)
		prose_addf(p, n == 1 ? ", until a sample came (wakeup_events=1)" :
			   ", until %llu samples came (wakeup_events)%s half a ring is full",
			   (unsigned long long)n, e->pid < 0 ? " or" : ",");
	else
		prose_adds(p, ", until half a ring is full");
}

/* Say for which rings a task waits, what ends a wait, and how its waits ended. */
static void data_wait(const struct story_text *t, const struct seen_task *task)
{
	const struct event *e = task->waited[0];
	struct open_attr a = story_attr(t->s, e);
	struct prose *p = t->p;
	bool brief;

	prose_adds(p, task->thread ? " Thread " : " ");
	story_who(t->s, task->tid, p);
	prose_addf(p, " waits with %s", task->wait->name);
	if (task->timeout >= 0)
		prose_addf(p, " (%d ms at most)", task->timeout);
	brief = t->tight && !task->ringless && open_attr_source(&a) == SOURCE_DUMMY;
	prose_addf(p, " for %s", task->ringless || brief ? "" :
		   task->for_ends ? "errors or the end of " :
		   task->nwaited == 1 ? "the ring of " : "the rings of ");
	story_fds(task->waited, task->nwaited, p);
	if (task->ringless) {
		prose_addf(p, ", %s: of such an event the kernel reports POLLHUP at once.",
			   task->nwaited == 1 ? "which had no ring" :
			   "not all of which had a ring");
	} else if (!brief) {
		if (!task->for_ends)
			wait_until(e, p);
		prose_adds(p, task->for_ends || e->pid < 0 ? "." : " or the measured tasks exit.");
	}
	if (!brief)
		prose_addf(p, task->waits == 1 ? " Its only wait" : " Its %u waits", task->waits);
	wait_ends(t, task);
}

static void data_waits(const struct story_text *t)
{
	struct prose *p = t->p;
	size_t said = 0;

	for (size_t i = 0; i < t->s->ntasks && said < DATA_WAITS; i++) {
		const struct seen_task *task = &t->s->tasks[i];
		struct open_attr a = { 0 };

		a = task->nwaited ? story_attr(t->s, task->waited[0]) : a;
		if (!task->nwaited || (t->tight > 3 && open_attr_source(&a) == SOURCE_DUMMY))
			continue;
		if (!said++) {
			prose_line(p, 0, 2);
			prose_adds(p, "Waits:");
		}
		data_wait(t, task);
	}
}

/* Write which records besides samples events ask for, what for, and which came. */
static void data_sideband(const struct story_text *t)
{
	struct prose *p = t->p;
	size_t said = 0, came, lack;

	for (size_t i = 0; i < t->nfamilies && said < DATA_WAITS; i++) {
		const struct family *f = &t->families[i];
		const struct story_open open = story_open_of(f->events[0]);
		struct open_attr a = story_attr(t->s, f->events[0]);

		if (!event_attr_known(f->events[0]) || !attr_prose_records(&a, NULL))
			continue;
		if (!said)
			prose_line(p, 0, 2);
		prose_adds(p, said++ ? "; " : "Side band: ");
		prose_adds(p, story_is_dummy(t, f) ? "dummy " : "");
		story_fds(f->events, f->n, p);
		prose_adds(p, f->n == 1 ? " asks for " : " ask for ");
		attr_prose_records(&a, p);
		if (story_is_perf(t->s, f->events[0]->opener) && story_purpose(&open))
			prose_addf(p, " (%s)", story_purpose(&open));
		came = lack = 0;
		for (size_t k = 0; k < f->n; k++) {
			const struct ring_totals *r = &event_writes_to(f->events[k])->ring;

			lack += r->partly || r->missed || r->lost_reported || r->lost_read;
		}
		for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++) {
			const char *name = xlat_name(&xlat_perf_event_type, type);
			uint64_t n = 0;

			for (size_t k = 0; k < f->n; k++)
				n += event_records(f->events[k], type);
			if (n && name && type != PERF_RECORD_SAMPLE && type != PERF_RECORD_LOST)
				prose_addf(p, "%s%llu %s", came++ ? ", " : ": ",
					   (unsigned long long)n,
					   name + strlen(xlat_perf_event_type.prefix));
		}
		prose_adds(p, came ? " came" : !story_looked(t->s) ? "" :
			   lack ? ": none seen" : ": none came");
	}
	prose_adds(p, said ? "." : "");
}

static void data_reads(const struct story_text *t)
{
	struct prose *p = t->p;
	uint64_t times = 0, formats = 0;
	bool stopped = false;	/* perf read a count that no time belongs to */

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];

		times += e->reads;
		formats |= e->reads ? e->read_format : 0;
		stopped |= e->count.timed && !e->count.running && story_is_perf(t->s, e->opener);
	}
	if (!times || (t->tight > 1 && !stopped) ||
	    (t->tight && !(formats & PERF_FORMAT_TOTAL_TIME_RUNNING)))
		return;
	prose_line(p, 0, 2);
	prose_addf(p, "Counts: %llu read%s of counts", (unsigned long long)times,
		   times == 1 ? "" : "s");
	prose_adds(p, formats ? ", with" : ", never samples");
	data_bits(&xlat_perf_event_read_format, formats, " ", p);
	prose_adds(p, formats & PERF_FORMAT_GROUP ? ": one returns the whole group." : ".");
	if (stopped)
		prose_adds(p, " perf prints <not counted> if time_running is 0: the task did not run "
			      "between enabling and reading, or no counter was free.");
}

/* Write what decides besides the attr which hits count: BPF programs, a filter. */
static void data_programs(const struct story_text *t)
{
	struct prose *p = t->p;

	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++) {
		const struct family *f = &t->families[i];
		const struct event *e = f->events[0];

		if ((!e->bpf && !e->filter) || !event_known(e))
			continue;
		prose_line(p, 0, 2);
		story_fds(f->events, f->n, p);
		prose_adds(p, ":");
		story_programs_of(t, f->events, f->n);
		if (e->filter) {
			prose_adds(p, " Hits that do not match the filter ");
			prose_quoted(p, e->filter);
			prose_adds(p, " are dropped by the kernel.");
		}
	}
}

/* Say of which events the kernel ignores precise_ip; perf sets it by itself. */
static void data_idle(const struct story_text *t)
{
	const struct event *said[DATA_WAITS];
	size_t n = 0, k;

	for (size_t i = 0; i < t->nevents && n < DATA_WAITS; i++) {
		const struct event *e = t->events[i];
		struct open_attr a = story_attr(t->s, e);
		enum event_source of = open_attr_source(&a);

		for (k = 0; k < n && said[k]->attr != e->attr; k++)
			;
		if (k < n || !event_attr(e, ATTR_PRECISE_IP) || of == SOURCE_CPU ||
		    of == SOURCE_OTHER || story_is_perf(t->s, e->opener))
			continue;
		if (!n)
			prose_line(t->p, 0, 2);
		prose_addf(t->p, "%sprecise_ip=%llu of ", n ? ", " : "No effect: ",
			   (unsigned long long)event_attr(e, ATTR_PRECISE_IP));
		story_event_name(t->s, e, t->p);
		said[n++] = e;
	}
	prose_adds(t->p, n ? "." : "");
}

void story_data(const struct story_text *t)
{
	data_programs(t);
	data_samples(t);
	data_idle(t);
	data_rings(t);
	data_sideband(t);
	data_waits(t);
	data_reads(t);
	prose_end(t->p);
}
