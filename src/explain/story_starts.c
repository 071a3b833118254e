// SPDX-License-Identifier: LGPL-2.1-or-later
/* How events are enabled, and when they sample. */
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "explain/attr_trigger.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

/* How events are enabled --------------------------------------------------------------- */

/* Count the ioctls of one kind that succeeded on the event. */
static unsigned int requests(const struct story_text *t, const struct event *e, uint32_t request)
{
	const struct seen_event *seen = story_event(t->s, e);

	for (size_t i = 0; seen && i < ioctl_ndescs && i < STORY_IOCTLS; i++)
		if (ioctl_descs[i].request == request)
			return seen->ioctls[i];
	return 0;
}

static uint64_t requests_of(const struct story_text *t, const struct event **list, size_t n,
			    uint32_t request)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += requests(t, list[i], request);
	return sum;
}

static void start_by_exec(const struct story_text *t, const struct event *e)
{
	pid_t tid = e->pid ? e->pid : e->opener;
	const struct seen_task *task = story_task(t->s, tid);
	struct prose *p = t->p;

	if (!task || !task->execs) {
		prose_adds(p, "disabled=1, enable_on_exec=1: would be enabled by an exec of ");
		story_who(t->s, tid, p);
		prose_adds(p, ", but the trace shows none.");
		return;
	}
	prose_adds(p, "disabled=1, enable_on_exec=1: enabled by the exec of ");
	story_who(t->s, tid, p);
	if (task->exe) {
		prose_adds(p, " (");
		prose_name(p, task->exe);
		prose_adds(p, ")");
	}
	prose_adds(p, ". What the task did before is not counted.");
}

static void start_by_ioctl(const struct story_text *t, const struct event **list, size_t n)
{
	uint64_t enables = requests_of(t, list, n, PERF_EVENT_IOC_ENABLE);
	struct prose *p = t->p;

	prose_adds(p, "disabled=1: enabled by ");
	if (enables) {
		prose_adds(p, "PERF_EVENT_IOC_ENABLE, ");
		prose_times(p, enables);
		prose_adds(p, n == 1 ? "." : " in all.");
	} else if (requests_of(t, list, n, PERF_EVENT_IOC_REFRESH)) {
		prose_adds(p, "PERF_EVENT_IOC_REFRESH.");
	} else {
		prose_adds(p, "PERF_EVENT_IOC_ENABLE on the leader, with PERF_IOC_FLAG_GROUP.");
	}
}

static void start_how(const struct story_text *t, const struct event **list, size_t n)
{
	struct prose *p = t->p;

	switch (list[0]->start) {
	case START_EXEC:
		start_by_exec(t, list[0]);
		break;
	case START_OPEN:
		prose_adds(p, "disabled=0: enabled at open.");
		if (requests_of(t, list, n, PERF_EVENT_IOC_ENABLE))
			prose_adds(p, " PERF_EVENT_IOC_ENABLE had no effect.");
		break;
	case START_IOCTL:
		start_by_ioctl(t, list, n);
		break;
	case START_PRCTL:
		prose_adds(p, "disabled=1: enabled by prctl(PR_TASK_PERF_EVENTS_ENABLE).");
		break;
	case START_LEADER:
		prose_adds(p, "disabled=0, in a group: ");
		prose_adds(p, n == 1 ? "counts while its leader is enabled." :
				       "each counts while its leader is enabled.");
		break;
	case START_UNKNOWN:
		prose_adds(p, list[0]->unread ? "unknown, because the attr could not be read." :
					  "before the trace.");
		break;
	case START_NEVER:
		prose_adds(p, "disabled=1, and never enabled: nothing was counted.");
		break;
	}
}

/* Say what ioctls did to the events later. */
static void start_then(const struct story_text *t, const struct event **list, size_t n)
{
	static const struct {
		uint32_t request;
		const char *done;
	} later[] = {
		{ PERF_EVENT_IOC_DISABLE, "disabled by PERF_EVENT_IOC_DISABLE" },
		{ PERF_EVENT_IOC_RESET, "reset by PERF_EVENT_IOC_RESET" },
		{ PERF_EVENT_IOC_REFRESH, "enabled for some overflows by PERF_EVENT_IOC_REFRESH" },
		{ PERF_EVENT_IOC_PERIOD, "given a new period by PERF_EVENT_IOC_PERIOD" },
		{ PERF_EVENT_IOC_PAUSE_OUTPUT, "paused or resumed by PERF_EVENT_IOC_PAUSE_OUTPUT" },
		{ PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
		  "modified by PERF_EVENT_IOC_MODIFY_ATTRIBUTES" },
	};
	struct prose *p = t->p;
	uint64_t offs = 0;

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
			prose_addf(p, "%s, ", later[i].done);
			prose_times(p, times);
			prose_adds(p, m == 1 ? "." : " in all.");
		}
		free(some);
	}
	for (size_t i = 0; i < n; i++)
		offs += list[i]->prctl_offs;
	if (offs) {
		prose_addf(p, " %s disabled by prctl(PR_TASK_PERF_EVENTS_DISABLE), ",
			   n == 1 ? "It was" : "They were");
		prose_times(p, offs);
		prose_adds(p, n == 1 ? "." : " in all.");
	}
	story_programs_of(t, list, n);
	if (list[0]->filter) {
		prose_adds(p, " Hits that do not match the filter ");
		prose_quoted(p, list[0]->filter);
		prose_adds(p, " are dropped by the kernel.");
	}
}

void story_start_of(const struct story_text *t, const struct event **list, size_t n)
{
	start_how(t, list, n);
	start_then(t, list, n);
}

static bool started_alike(const struct event *a, const struct event *b)
{
	return a->opener == b->opener && a->start == b->start && !a->filter == !b->filter &&
	       (a->start != START_EXEC || a->pid == b->pid);
}

static bool start_known(const struct story_text *t, const struct event *e)
{
	return !story_probe(t->s, e) && !e->found;
}

static void start_steps(const struct story_text *t, bool exec, bool by_ioctl, bool by_prctl)
{
	const char *steps[] = { exec ? "exec" : NULL, by_ioctl ? "ioctl" : NULL,
				by_ioctl ? "enable" : NULL, by_prctl ? "prctl_enable" : NULL };

	if (exec || by_ioctl || by_prctl)
		story_steps(t, "events are enabled by", steps, 4);
}

void story_starts(const struct story_text *t)
{
	struct event *const *events;
	size_t all = model_events(t->s->m, &events);
	const struct event **list;
	bool exec = false, by_ioctl = false, by_prctl = false, bpf = false;
	size_t items = 0;
	struct prose *p = t->p;

	if (!t->nfamilies)
		return;
	list = xcalloc(all, sizeof(*list));
	prose_head(p, "How events are enabled");
	for (size_t i = 0; i < all && items < STORY_ITEMS; i++) {
		bool done = !start_known(t, events[i]);
		size_t n = 0;

		for (size_t k = 0; k < i && !done; k++)
			done = start_known(t, events[k]) && started_alike(events[k], events[i]);
		for (size_t k = i; k < all && !done; k++)
			if (!story_probe(t->s, events[k]) && started_alike(events[k], events[i]))
				list[n++] = events[k];
		if (done)
			continue;
		items++;
		exec |= list[0]->start == START_EXEC;
		by_ioctl |= list[0]->start == START_IOCTL ||
			    requests_of(t, list, n, PERF_EVENT_IOC_ENABLE);
		by_prctl |= list[0]->start == START_PRCTL;
		for (size_t k = 0; k < n; k++)
			bpf |= list[k]->bpf;
		prose_item(p);
		story_fds(list, n, p);
		prose_adds(p, ": ");
		story_start_of(t, list, n);
	}
	prose_end(p);
	start_steps(t, exec, by_ioctl, by_prctl);
	if (bpf)
		story_steps(t, "BPF programs are attached by",
			    (const char *const[]){ "set_bpf" }, 1);
	free(list);
}

/* Samples ----------------------------------------------------------------------------- */

static bool family_samples(const struct story_text *t, const struct family *f)
{
	struct open_attr a = story_attr(t->s, f->events[0]);

	return event_attr_known(f->events[0]) && open_attr_samples(&a);
}

static struct attr_trigger family_trigger(const struct story_text *t, const struct family *f)
{
	struct open_attr a = story_attr(t->s, f->events[0]);

	return attr_trigger_of(&a);
}

void story_trigger_of(const struct story_text *t, const struct family *f)
{
	struct attr_trigger trigger = family_trigger(t, f);

	attr_trigger_write(&trigger, t->p);
}

/* Write one item for all families with the trigger of the first, unless it was written. */
static void samples_trigger(const struct story_text *t, size_t first)
{
	struct attr_trigger trigger = family_trigger(t, &t->families[first]);
	uint64_t samples = 0;
	size_t n = 0;
	struct prose *p = t->p;

	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++) {
		const struct family *f = &t->families[i];
		struct attr_trigger other = family_trigger(t, f);

		if (!family_samples(t, f) || !attr_trigger_same(&trigger, &other))
			continue;
		if (i < first)
			return;
		if (!n++)
			prose_item(p);
		else
			prose_adds(p, ", ");
		story_event_name(t->s, f->events[0], p);
		prose_adds(p, " (");
		story_fds(f->events, f->n, p);
		prose_adds(p, ")");
		for (size_t k = 0; k < f->n; k++)
			samples += event_records(f->events[k], PERF_RECORD_SAMPLE);
	}
	prose_adds(p, ": ");
	attr_trigger_write(&trigger, p);
	if (samples) {
		prose_adds(p, " ");
		prose_count(p, samples, "sample");
		prose_adds(p, samples == 1 ? " was seen." : " were seen.");
	}
}

/* Name what is often mistaken for the trigger. */
static void samples_not_by(const struct story_text *t, bool tasks)
{
	prose_para(t->p);
	if (tasks)
		prose_adds(t->p, "A context switch takes no sample: it only puts the task's events "
				 "on the PMU or removes them. ");
	prose_adds(t->p, "No kprobe or tracepoint is involved.");
}

static void samples_none(const struct story_text *t)
{
	bool unread = false, runs = false;

	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++) {
		unread |= t->families[i].events[0]->unread;
		runs |= story_program_runs(t, t->families[i].events[0], NULL);
	}
	prose_adds(t->p, unread ? "No event with a readable attr takes samples." :
			 story_found(t->s, NULL) ?
			 "No event opened during the trace takes samples." :
			 runs ? "Never: sample_period is 0. BPF programs run at the hits." :
			 "Never: every event only counts (sample_period is 0) or is a dummy.");
	prose_end(t->p);
}

void story_samples(const struct story_text *t)
{
	const char *steps[9] = { NULL };
	bool any = false, forward = false, backward = false, probes = false, tasks = false, adaptive = false;
	size_t n = 0;

	if (!t->nfamilies)
		return;
	prose_head(t->p, "When samples are taken");
	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++) {
		struct open_attr a = story_attr(t->s, t->families[i].events[0]);
		struct attr_trigger trigger = attr_trigger_of(&a);

		if (!family_samples(t, &t->families[i]))
			continue;
		samples_trigger(t, i);
		any = true;
		probes |= trigger.source != SOURCE_CLOCK && trigger.source != SOURCE_CPU &&
			  trigger.source != SOURCE_SOFTWARE;
		tasks |= t->families[i].events[0]->pid >= 0;
		adaptive |= trigger.adaptive;
		backward |= open_attr_get(&a, ATTR_WRITE_BACKWARD);
		forward |= !open_attr_get(&a, ATTR_WRITE_BACKWARD);
		if (n < 5)
			steps[n++] = attr_trigger_sample_step(&a);
	}
	if (!any) {
		samples_none(t);
		return;
	}
	if (!probes)
		samples_not_by(t, tasks);
	if (adaptive)
		steps[n++] = "frequency";
	if (forward)
		steps[n++] = "record";
	if (backward)
		steps[n++] = "record_backward";
	steps[n++] = "wakeup";
	story_steps(t, "a sample is taken by", steps, n);
	prose_end(t->p);
}
