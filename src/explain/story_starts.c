// SPDX-License-Identifier: LGPL-2.1-or-later
/* How events are enabled, and when they sample. */
#include <stdlib.h>

#include "core/abi/bpf.h"
#include "core/lib/die.h"
#include "explain/attr_prose.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

static enum event_source source_of(const struct story_text *t, const struct event *e)
{
	struct open_attr a = story_attr(t->s, e);

	return event_attr_known(e) ? open_attr_source(&a) : SOURCE_OTHER;
}

static bool is_probe_source(enum event_source s)
{
	return s == SOURCE_TRACEPOINT || s == SOURCE_KPROBE || s == SOURCE_UPROBE;
}

static void story_add_program(const struct event *e, struct prose *p)
{
	struct buf text = { 0 };

	bpf_program_text(&e->program, &text);
	prose_name(p, buf_str(&text));
	buf_free(&text);
}

bool story_program_runs(const struct story_text *t, const struct event *e, struct prose *p)
{
	if (!e->bpf || !is_probe_source(source_of(t, e)))
		return false;
	if (p)
		story_add_program(e, p);
	return true;
}

/*
 * Say when the program runs and what its result decides: trace_call_bpf() and
 * perf_trace_run_bpf_submit() of tracepoints, __uprobe_perf_func() and kprobe_perf_func() of
 * probes, bpf_overflow_handler() of other events.
 */
static void program_effect(const struct story_text *t, const struct event *e)
{
	enum event_source s = source_of(t, e);
	struct open_attr a = story_attr(t->s, e);
	struct prose *p = t->p;

	if (!event_attr_known(e)) {
		prose_adds(p, " What it returns decides whether a hit is counted or a sample is "
			      "written.");
	} else if (s == SOURCE_TRACEPOINT) {
		prose_adds(p, " The program runs at each hit of the tracepoint on every CPU and in every "
			      "task, whatever cpu and pid the event has, even while the event is "
			      "disabled. If it returns 0, no event on this tracepoint counts or "
			      "samples the hit.");
	} else if (is_probe_source(s)) {
		prose_adds(p, " The program runs at each hit of the probe on every CPU, whatever cpu the "
			      "event has, even while the event is disabled");
		prose_adds(p, s == SOURCE_KPROBE ? ", and in every task" :
			      e->pid == -1 ? "" : "; pid limits it to one process");
		prose_adds(p, ". If it returns 0, the event neither counts nor samples the hit.");
	} else if (open_attr_samples(&a)) {
		prose_adds(p, " The program runs at the end of each period. If it returns 0, no sample is "
			      "written; the count remains the same.");
	} else {
		prose_adds(p, " The program never runs, because the event does not sample.");
	}
}

static bool programmed_alike(const struct story_text *t, const struct event *a,
			     const struct event *b)
{
	return b->bpf && a->bpf == b->bpf && a->program.id == b->program.id &&
	       source_of(t, a) == source_of(t, b);
}

/* Return whether program_effect() is the same. */
static bool effect_alike(const struct story_text *t, const struct event *a, const struct event *b)
{
	struct open_attr x = story_attr(t->s, a), y = story_attr(t->s, b);

	return b->bpf && source_of(t, a) == source_of(t, b) && (a->pid == -1) == (b->pid == -1) &&
	       open_attr_samples(&x) == open_attr_samples(&y);
}

/* Collect the events like list[i]; return 0 if an earlier one is like it, else how many. */
static size_t program_group(const struct story_text *t, const struct event **list, size_t n,
			    size_t i, const struct event **some,
			    bool (*alike)(const struct story_text *t, const struct event *a,
					  const struct event *b))
{
	size_t m = 0;

	for (size_t k = 0; k < n && list[i]->bpf; k++)
		if (alike(t, list[i], list[k])) {
			if (k < i)
				return 0;
			some[m++] = list[k];
		}
	return m;
}

/* Begin a sentence about m of n events: " It", " They", " fds 5 and 6". */
static void write_subject(const struct event **some, size_t m, size_t n, struct prose *p)
{
	prose_adds(p, m < n ? " " : n == 1 ? " It" : " They");
	if (m < n)
		story_fds(some, m, p);
}

void story_programs_of(const struct story_text *t, const struct event **list, size_t n)
{
	const struct event **some = xmalloc(n * sizeof(*some));
	struct prose *p = t->p;

	for (size_t i = 0; i < n; i++) {
		size_t m = program_group(t, list, n, i, some, programmed_alike);
		bool found = list[i]->bpf == BPF_FOUND, set = list[i]->bpf == BPF_SET;

		if (!m)
			continue;
		write_subject(some, m, n, p);
		prose_adds(p, found ? " had " : m == 1 ? " was given " : " were given ");
		story_add_program(list[i], p);
		if (!found)
			prose_addf(p, " by %s", set ? "PERF_EVENT_IOC_SET_BPF" : "BPF_LINK_CREATE");
		prose_adds(p, found ? " already." : list[i]->bpf == BPF_DETACHED ?
			      ", until its link was closed." : ".");
	}
	for (size_t i = 0; i < n; i++)
		if (program_group(t, list, n, i, some, effect_alike))
			program_effect(t, list[i]);
	free(some);
}

/* How events are enabled --------------------------------------------------------------- */

enum { RESUMED = 0 };	/* no request: PERF_EVENT_IOC_PAUSE_OUTPUT with 0 */

/* Count the ioctls of one kind that succeeded on the events. */
static uint64_t requests_of(const struct story_text *t, const struct event **list, size_t n,
			    uint32_t request)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < n; k++) {
		const struct seen_event *seen = story_event(t->s, list[k]);

		for (size_t i = 0; seen && i < ioctl_ndescs && i < STORY_IOCTLS; i++)
			sum += ioctl_descs[i].request == request ? seen->ioctls[i] : 0;
		if (seen && request == RESUMED)
			sum += seen->resumes;
	}
	return sum;
}

static void start_by_exec(const struct story_text *t, const struct event *e)
{
	pid_t tid = e->pid ? e->pid : e->opener;
	const struct seen_task *task = story_task(t->s, tid);
	bool execed = task && task->execs;
	struct prose *p = t->p;

	prose_addf(p, "disabled=1, enable_on_exec=1: %s exec of ",
		   execed ? "enabled by the" : "would be enabled by an");
	story_who(t->s, tid, p);
	if (execed && task->exe) {
		prose_adds(p, " (");
		prose_name(p, task->exe);
		prose_adds(p, ")");
	}
	prose_adds(p, execed ? ". What the task did before is not counted." :
			       ", but the trace shows none.");
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
		{ PERF_EVENT_IOC_PAUSE_OUTPUT, "paused by PERF_EVENT_IOC_PAUSE_OUTPUT(1)" },
		{ RESUMED, "resumed by PERF_EVENT_IOC_PAUSE_OUTPUT(0)" },
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
			if (requests_of(t, &list[k], 1, later[i].request))
				some[m++] = list[k];
		if (m) {
			write_subject(some, m, n, p);
			prose_addf(p, " %s %s, ", m == 1 ? "was" : "were", later[i].done);
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

void story_start_of(const struct story_text *t, const struct family *f)
{
	const struct event *e = f->events[0];
	uint64_t enables = requests_of(t, f->events, f->n, PERF_EVENT_IOC_ENABLE);
	struct prose *p = t->p;
	bool one = f->n == 1;

	switch (e->start) {
	case START_EXEC:
		start_by_exec(t, e);
		break;
	case START_OPEN:
		prose_adds(p, "disabled=0: enabled at open.");
		if (enables)
			prose_adds(p, " PERF_EVENT_IOC_ENABLE had no effect.");
		break;
	case START_IOCTL:
		prose_adds(p, "disabled=1: enabled by ");
		if (enables) {
			prose_adds(p, "PERF_EVENT_IOC_ENABLE, ");
			prose_times(p, enables);
			prose_adds(p, one ? "." : " in all.");
		} else if (requests_of(t, f->events, f->n, PERF_EVENT_IOC_REFRESH)) {
			prose_adds(p, "PERF_EVENT_IOC_REFRESH.");
		} else {
			prose_adds(p, "PERF_EVENT_IOC_ENABLE on the leader, with "
				      "PERF_IOC_FLAG_GROUP.");
		}
		break;
	case START_PRCTL:
		prose_adds(p, "disabled=1: enabled by prctl(PR_TASK_PERF_EVENTS_ENABLE).");
		break;
	case START_LEADER:
		prose_adds(p, "disabled=0, in a group: ");
		prose_adds(p, one ? "counts while its leader is enabled." :
				    "each counts while its leader is enabled.");
		break;
	case START_UNKNOWN:
		prose_adds(p, e->unread ? "unknown, because the attr could not be read." :
					  "before the trace.");
		break;
	case START_NEVER:
		prose_adds(p, "disabled=1, and never enabled: nothing was counted.");
		break;
	}
	start_then(t, f->events, f->n);
}

static bool start_known(const struct story_text *t, const struct event *e)
{
	return !story_probe(t->s, e) && !e->found;
}

void story_starts(const struct story_text *t)
{
	const struct event **list;
	bool exec = false, by_ioctl = false, by_prctl = false, bpf = false;
	size_t items = 0;
	struct prose *p = t->p;

	if (!t->nfamilies)
		return;
	list = xcalloc(t->nevents, sizeof(*list));
	prose_head(p, "How events are enabled");
	for (size_t i = 0; i < t->nevents && items < STORY_ITEMS; i++) {
		const struct event *e = t->events[i], *other;
		bool done = !start_known(t, e);
		size_t n = 0;

		for (size_t k = 0; k < t->nevents && !done; k++) {
			other = t->events[k];
			if (other->opener != e->opener || other->start != e->start ||
			    !other->filter != !e->filter ||
			    (e->start == START_EXEC && other->pid != e->pid))
				continue;
			done = k < i && start_known(t, other);
			if (k >= i && !story_probe(t->s, other))
				list[n++] = other;
		}
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
		story_start_of(t, &(struct family){ list, n });
	}
	prose_end(p);
	if (exec || by_ioctl || by_prctl)
		story_steps(t, "events are enabled by", (const char *const[]){
			exec ? "exec" : NULL, by_ioctl ? "ioctl" : NULL,
			by_ioctl ? "enable" : NULL, by_prctl ? "prctl_enable" : NULL }, 4);
	if (bpf)
		story_steps(t, "BPF programs are attached by",
			    (const char *const[]){ "set_bpf" }, 1);
	free(list);
}

/* Samples ----------------------------------------------------------------------------- */

/* Set the trigger of a family; return whether it takes samples. */
static bool family_samples(const struct story_text *t, const struct family *f,
			   struct attr_trigger *trigger)
{
	struct open_attr a = story_attr(t->s, f->events[0]);

	*trigger = attr_trigger_of(&a);
	return event_attr_known(f->events[0]) && open_attr_samples(&a);
}

void story_trigger_of(const struct story_text *t, const struct family *f)
{
	struct attr_trigger trigger;

	if (!family_samples(t, f, &trigger))
		return;
	prose_adds(t->p, "Samples: ");
	attr_trigger_write(&trigger, t->p);
}

/* Write one item for all families with the trigger of the first, unless it was written. */
static void samples_trigger(const struct story_text *t, size_t first)
{
	struct attr_trigger trigger, other;
	uint64_t samples = 0;
	size_t n = 0;
	struct prose *p = t->p;

	family_samples(t, &t->families[first], &trigger);
	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++) {
		const struct family *f = &t->families[i];

		if (!family_samples(t, f, &other) || !attr_trigger_same(&trigger, &other))
			continue;
		if (i < first)
			return;
		if (!n++)
			prose_item(p);
		else
			prose_adds(p, ", ");
		story_event_fds(t->s, f->events[0], f->events, f->n, p);
		for (size_t k = 0; k < f->n; k++)
			samples += event_records(f->events[k], PERF_RECORD_SAMPLE);
	}
	prose_adds(p, ": ");
	attr_trigger_write(&trigger, p);
	if (samples)
		prose_count(p, samples, "sample was seen.", "samples were seen.");
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
	bool any = false, forward = false, backward = false;
	bool probes = false, tasks = false, adaptive = false;
	size_t n = 0;

	if (!t->nfamilies)
		return;
	prose_head(t->p, "When samples are taken");
	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++) {
		struct open_attr a = story_attr(t->s, t->families[i].events[0]);
		struct attr_trigger trigger;

		if (!family_samples(t, &t->families[i], &trigger))
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
	if (!probes) {
		/* what is often mistaken for the trigger */
		prose_para(t->p);
		prose_adds(t->p, !tasks ? "" : "A context switch takes no sample: it only puts the "
			   "task's events on the PMU or removes them. ");
		prose_adds(t->p, "No kprobe or tracepoint is involved.");
	}
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
