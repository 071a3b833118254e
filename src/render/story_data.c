// SPDX-License-Identifier: LGPL-2.1-or-later
/* How events begin, when they sample, and how what they find comes back. */
#include <stdlib.h>
#include <string.h>

#include "lib/die.h"
#include "render/siginfo.h"
#include "render/story_in.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Starts ------------------------------------------------------------------------------ */

static unsigned int requests(const struct telling *t, const struct event *e, uint32_t request)
{
	const struct told_event *told = story_event(t->s, e);

	for (size_t i = 0; told && i < ioctl_ndescs && i < TOLD_IOCTLS; i++)
		if (ioctl_descs[i].request == request)
			return told->ioctls[i];
	return 0;
}

static uint64_t requests_of(const struct telling *t, const struct event **list, size_t n,
			    uint32_t request)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += requests(t, list[i], request);
	return sum;
}

static void by_exec(const struct telling *t, const struct event *e)
{
	const struct told_task *task = story_task(t->s, e->pid ? e->pid : e->opener);
	struct prose *p = t->p;

	prose_adds(p, "disabled=1 and enable_on_exec=1, to wait for the exec of ");
	story_who(t->s, e->pid ? e->pid : e->opener, p);
	if (task && task->execs) {
		prose_adds(p, ", which came");
		if (task->exe) {
			prose_adds(p, " (");
			prose_name(p, task->exe);
			prose_adds(p, ")");
		}
		prose_adds(p, ". So the command is measured from its first instruction, and "
			      "what the task did before is not.");
	} else {
		prose_adds(p, ", and the trace shows none.");
	}
}

static void by_what(const struct telling *t, const struct event **list, size_t n)
{
	struct prose *p = t->p;
	uint64_t enables = requests_of(t, list, n, PERF_EVENT_IOC_ENABLE);

	switch (list[0]->start) {
	case START_EXEC:
		by_exec(t, list[0]);
		break;
	case START_OPEN:
		prose_adds(p, "disabled=0: running from the open on.");
		if (enables)
			prose_adds(p, " PERF_EVENT_IOC_ENABLE came all the same and changed "
				      "nothing.");
		break;
	case START_IOCTL:
		prose_adds(p, "disabled=1, then started by ioctl: ");
		if (enables) {
			prose_adds(p, "PERF_EVENT_IOC_ENABLE, ");
			prose_times(p, enables);
			prose_adds(p, n == 1 ? "." : " in all.");
		} else if (requests_of(t, list, n, PERF_EVENT_IOC_REFRESH)) {
			prose_adds(p, "PERF_EVENT_IOC_REFRESH.");
		} else {
			prose_adds(p, "PERF_EVENT_IOC_ENABLE on the leader, with "
				      "PERF_IOC_FLAG_GROUP.");
		}
		break;
	case START_PRCTL:
		prose_adds(p, "disabled=1, then started by prctl(PR_TASK_PERF_EVENTS_ENABLE).");
		break;
	case START_LEADER:
		prose_adds(p, n == 1 ? "disabled=0, but in a group: it counts when its leader does." :
				       "disabled=0, but in groups: they count when their "
				       "leaders do.");
		break;
	case START_NEVER:
		prose_adds(p, "disabled=1, and nobody enabled them: they counted nothing.");
		break;
	}
}

static void then(const struct telling *t, const struct event **list, size_t n)
{
	static const struct {
		uint32_t request;
		const char *says;
	} later[] = {
		{ PERF_EVENT_IOC_DISABLE, "stopped by PERF_EVENT_IOC_DISABLE" },
		{ PERF_EVENT_IOC_RESET, "set to zero by PERF_EVENT_IOC_RESET" },
		{ PERF_EVENT_IOC_REFRESH, "enabled for some overflows by PERF_EVENT_IOC_REFRESH" },
		{ PERF_EVENT_IOC_PERIOD, "given another period by PERF_EVENT_IOC_PERIOD" },
		{ PERF_EVENT_IOC_PAUSE_OUTPUT, "paused or resumed by PERF_EVENT_IOC_PAUSE_OUTPUT" },
		{ PERF_EVENT_IOC_SET_BPF, "given a BPF program by PERF_EVENT_IOC_SET_BPF" },
		{ PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
		  "changed by PERF_EVENT_IOC_MODIFY_ATTRIBUTES" },
	};
	struct prose *p = t->p;

	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
		const struct event **some = xmalloc(n * sizeof(*some));
		uint64_t times = requests_of(t, list, n, later[i].request);
		size_t m = 0;

		for (size_t k = 0; k < n; k++)
			if (requests(t, list[k], later[i].request))
				some[m++] = list[k];
		if (m == n) {
			prose_adds(p, n == 1 ? " It was " : " They were ");
		} else if (m) {
			prose_adds(p, " ");
			story_fds(some, m, p);
			prose_adds(p, m == 1 ? " was " : " were ");
		}
		if (m) {
			prose_addf(p, "%s, ", later[i].says);
			prose_times(p, times);
			prose_adds(p, m == 1 ? "." : " in all.");
		}
		free(some);
	}
	if (list[0]->filter) {
		prose_adds(p, " The filter ");
		prose_quoted(p, list[0]->filter);
		prose_adds(p, " was set: the kernel evaluates it at each hit and drops the others.");
	}
}

static bool alike_started(const struct event *a, const struct event *b)
{
	return a->opener == b->opener && a->start == b->start && !a->filter == !b->filter &&
	       (a->start != START_EXEC || a->pid == b->pid);
}

/* Which of the kernel's functions the starts go through. */
static void start_steps(const struct telling *t, bool exec, bool by_ioctl, bool by_prctl)
{
	const char *steps[] = { exec ? "exec" : NULL, by_ioctl ? "ioctl" : NULL,
				by_ioctl ? "enable" : NULL, by_prctl ? "prctl" : NULL };

	if (exec || by_ioctl || by_prctl)
		story_steps(t, "this is done by", steps, 4);
}

void story_starts(const struct telling *t)
{
	struct event *const *events;
	size_t all = model_events(t->s->m, &events);
	const struct event **list = xcalloc(all, sizeof(*list));
	bool exec = false, by_ioctl = false, by_prctl = false;
	struct prose *p = t->p;

	if (!t->nfamilies)
		return;
	prose_head(p, "How the events start");
	for (size_t i = 0; i < all; i++) {
		bool done = event_is_probe(events[i]) || events[i]->found;
		size_t n = 0;

		for (size_t k = 0; k < i && !done; k++)
			done = !event_is_probe(events[k]) && !events[k]->found &&
			       alike_started(events[k], events[i]);
		for (size_t k = i; k < all && !done; k++)
			if (!event_is_probe(events[k]) && alike_started(events[k], events[i]))
				list[n++] = events[k];
		if (done)
			continue;
		exec |= list[0]->start == START_EXEC;
		by_ioctl |= list[0]->start == START_IOCTL ||
			    requests_of(t, list, n, PERF_EVENT_IOC_ENABLE);
		by_prctl |= list[0]->start == START_PRCTL;
		prose_item(p);
		story_fds(list, n, p);
		prose_adds(p, ": ");
		by_what(t, list, n);
		then(t, list, n);
	}
	prose_end(p);
	start_steps(t, exec, by_ioctl, by_prctl);
	free(list);
}

/* Samples ----------------------------------------------------------------------------- */

static void trigger_text(const struct telling *t, const struct family *f, struct buf *out)
{
	struct attr_words a = story_words(t->s, f->events[0]);
	struct prose p;

	prose_init(&p, out, 0);
	if (!f->events[0]->found && attr_samples(&a))
		attr_prose_trigger(&a, &p);
	prose_free(&p);
}

/* For all families from that one on that sample alike, unless told before. */
static void tell_trigger(const struct telling *t, size_t first)
{
	struct buf mine = { 0 }, other = { 0 };
	uint64_t samples = 0;
	bool told = false;
	size_t n = 0;
	struct prose *p = t->p;

	trigger_text(t, &t->families[first], &mine);
	for (size_t i = 0; i < t->nfamilies && mine.len; i++) {
		const struct family *f = &t->families[i];

		buf_reset(&other);
		trigger_text(t, f, &other);
		if (strcmp(buf_str(&mine), buf_str(&other)))
			continue;
		told |= i < first;
		if (told)
			break;
		if (!n++)
			prose_item(p);
		else
			prose_adds(p, ", ");
		story_event_name(t->s, f->events[0], p);
		prose_adds(p, " (");
		story_fds(f->events, f->n, p);
		prose_adds(p, ")");
		for (size_t k = 0; k < f->n; k++)
			samples += f->events[k]->records[PERF_RECORD_SAMPLE];
	}
	if (n)
		prose_addf(p, ": %.*s", (int)mine.len - 1, mine.data);
	if (samples) {
		prose_adds(p, " ");
		prose_count(p, samples, "sample");
		prose_adds(p, samples == 1 ? " was seen." : " were seen.");
	}
	buf_free(&mine);
	buf_free(&other);
}

/* What people take for the source of samples, and is not. */
static void not_by(const struct telling *t, bool context)
{
	struct prose *p = t->p;

	prose_para(p);
	if (context)
		prose_adds(p, "A context switch takes no sample: it only puts the task's events "
			      "onto the CPU or takes them off. ");
	prose_adds(p, "No kprobe and no tracepoint takes part in these samples.");
}

void story_samples(const struct telling *t)
{
	const char *steps[8] = { NULL };
	bool any = false, probes = false, tasks = false, freq = false;
	size_t n = 0;
	struct prose *p = t->p;

	if (!t->nfamilies)
		return;
	prose_head(p, "When a sample is taken");
	for (size_t i = 0; i < t->nfamilies; i++) {
		const struct event *e = t->families[i].events[0];
		struct attr_words a = story_words(t->s, e);
		enum event_source s = attr_source(&a);

		if (e->found || !attr_samples(&a))
			continue;
		tell_trigger(t, i);
		any = true;
		probes |= s != SOURCE_CLOCK && s != SOURCE_CPU && s != SOURCE_SOFTWARE;
		tasks |= e->pid >= 0;
		freq |= attr_word(&a, ATTR_FREQ) && s != SOURCE_CLOCK;
		if (n < 5)
			steps[n++] = attr_sample_step(&a);
	}
	if (!any) {
		prose_adds(p, "Never: every event here only counts (sample_period is 0), or "
			      "is a dummy. No interrupt is asked for, and nothing is sampled.");
		prose_end(p);
		return;
	}
	if (!probes)
		not_by(t, tasks);
	if (freq)
		steps[n++] = "frequency";
	steps[n++] = "record";
	steps[n++] = "wakeup";
	story_steps(t, "a sample comes about so", steps, n);
	prose_end(p);
}

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
		{ task->timed_out, "ran out of time without a wakeup", "ran out of time without a wakeup" },
		{ task->interrupted, "was interrupted by a signal", "were interrupted by signals" },
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
	uint64_t records = 0, missed = 0, kib = ring_kib(t, list[0]);
	unsigned int reads = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		events[i] = list[i]->event;
		reads += events[i]->reads;
		records += list[i]->records;
		missed += list[i]->missed;
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

static bool silent(const struct event *e)
{
	return !e->reads && !e->maps && !e->output && !event_is_probe(e) && !e->found;
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
		if (silent(events[i]) && !read_with_leader(events[i]))
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
