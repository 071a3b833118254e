// SPDX-License-Identifier: LGPL-2.1-or-later
/* How events begin, and when they sample. */
#include <stdlib.h>
#include <string.h>

#include "explain/story_internal.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

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
		prose_adds(p, ". So the command is measured from within its exec, which "
			      "loads it, and what the task did before is not.");
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
		prose_adds(p, "disabled=0, but in a group: ");
		prose_adds(p, n == 1 ? "it counts when its leader does." :
				       "each counts when its leader does.");
		break;
	case START_UNKNOWN:
		prose_adds(p, n == 1 ? "its attr could not be read: how it starts is not known." :
				       "their attrs could not be read: how they start is not "
				       "known.");
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
		prose_adds(p, " was set: the kernel tries it at each hit, and passes over those "
			      "that do not match.");
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
	const struct event **list;
	bool exec = false, by_ioctl = false, by_prctl = false;
	size_t items = 0;
	struct prose *p = t->p;

	if (!t->nfamilies)
		return;
	list = xcalloc(all, sizeof(*list));
	prose_head(p, "How the events start");
	for (size_t i = 0; i < all && items < TOLD_MANY; i++) {
		bool done = story_probe(t->s, events[i]) || events[i]->found;
		size_t n = 0;

		for (size_t k = 0; k < i && !done; k++)
			done = !story_probe(t->s, events[k]) && !events[k]->found &&
			       alike_started(events[k], events[i]);
		for (size_t k = i; k < all && !done; k++)
			if (!story_probe(t->s, events[k]) && alike_started(events[k], events[i]))
				list[n++] = events[k];
		if (done)
			continue;
		items++;
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
	if (event_told(f->events[0]) && attr_samples(&a))
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
	for (size_t i = 0; i < t->nfamilies && i < TOLD_MANY && mine.len; i++) {
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
			samples += event_records(f->events[k], PERF_RECORD_SAMPLE);
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
	bool any = false, probes = false, tasks = false, freq = false, unread = false;
	size_t n = 0;
	struct prose *p = t->p;

	if (!t->nfamilies)
		return;
	prose_head(p, "When a sample is taken");
	for (size_t i = 0; i < t->nfamilies && i < TOLD_MANY; i++) {
		const struct event *e = t->families[i].events[0];
		struct attr_words a = story_words(t->s, e);
		enum event_source s = attr_source(&a);

		unread |= e->unread;
		if (!event_told(e) || !attr_samples(&a))
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
		prose_adds(p, unread ? "No event whose attr could be read takes samples." :
			   story_found(t->s, NULL) ?
			   "No event that was opened while the trace ran takes samples." :
			   "Never: every event here only counts (sample_period is 0), or "
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
