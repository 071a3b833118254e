// SPDX-License-Identifier: LGPL-2.1-or-later
/* BPF programs of events, and the kernel functions behind what was done. */
#include "core/abi/bpf.h"
#include "explain/attr_prose.h"
#include "explain/story_internal.h"

static enum event_source source_of(const struct story_text *t, const struct event *e)
{
	struct open_attr a = story_attr(t->s, e);

	return event_attr_known(e) ? open_attr_source(&a) : SOURCE_OTHER;
}

static bool is_probe_source(enum event_source s)
{
	return s == SOURCE_TRACEPOINT || s == SOURCE_KPROBE || s == SOURCE_UPROBE;
}

bool story_program_runs(const struct story_text *t, const struct event *e)
{
	return e->bpf && is_probe_source(source_of(t, e));
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

/* Collect the events with the program of list[i]; return how many, 0: an earlier one has it. */
static size_t program_group(const struct story_text *t, const struct event **list, size_t n,
			    size_t i, const struct event **some)
{
	size_t m = 0;

	for (size_t k = 0; k < n && list[i]->bpf; k++)
		if (list[k]->bpf == list[i]->bpf && list[k]->program.id == list[i]->program.id &&
		    source_of(t, list[k]) == source_of(t, list[i])) {
			if (k < i)
				return 0;
			some[m++] = list[k];
		}
	return m;
}

void story_programs_of(const struct story_text *t, const struct event **list, size_t n)
{
	const struct event **some = xmalloc(n * sizeof(*some));
	struct story_text part = *t;
	struct prose *p = t->p, effects = { .out = NULL };
	struct buf name = { 0 };

	part.p = &effects;
	for (size_t i = 0; i < n; i++) {
		size_t m = program_group(t, list, n, i, some), said = effects.text.len;
		bool found = list[i]->bpf == BPF_FOUND, set = list[i]->bpf == BPF_SET;

		if (list[i]->bpf)
			program_effect(&part, list[i]);
		/* what several do is said once */
		if (effects.text.len > said &&
		    strstr(effects.text.data, effects.text.data + said) < effects.text.data + said)
			effects.text.data[effects.text.len = said] = '\0';
		if (!m)
			continue;
		prose_adds(p, m < n ? " " : n == 1 ? " It" : " They");
		if (m < n)
			story_fds(some, m, p);
		prose_adds(p, found ? " had " : m == 1 ? " was given " : " were given ");
		bpf_program_text(&list[i]->program, &name);
		prose_name(p, buf_str(&name));
		buf_reset(&name);
		if (!found)
			prose_addf(p, " by %s", set ? "PERF_EVENT_IOC_SET_BPF" : "BPF_LINK_CREATE");
		prose_adds(p, found ? " already." : list[i]->bpf == BPF_DETACHED ?
			      ", until its link was closed." : ".");
	}
	prose_adds(p, buf_str(&effects.text));
	buf_free(&effects.text);
	buf_free(&name);
	free(some);
}

/* Kernel functions -------------------------------------------------------------------- */

/* Return whether something of that kind was done to an event that is no probe. */
static bool was_done(const struct story_text *t, unsigned int kind)
{
	for (size_t i = 0; i < t->nevents; i++)
		if (!story_probe(t->s, t->events[i]) && story_times(t->s, kind, t->events[i]))
			return true;
	return false;
}

/* List all steps of the first open, and of others how their PMU initialises them. */
static void kernel_opens(const struct story_text *t)
{
	const char *steps[STORY_OPEN_STEPS], *listed[STORY_ITEMS];
	const struct attempt *last;
	size_t n = 0, k;

	for (size_t i = 0; i < t->nevents && n < STORY_ITEMS; i++) {
		struct open_attr a = story_attr(t->s, t->events[i]);

		if (story_probe(t->s, t->events[i]) || !event_attr_known(t->events[i]))
			continue;
		story_open_steps(&a, steps);
		for (k = 0; k < n && listed[k] != steps[OPEN_INIT]; k++)
			;
		if (!n)
			story_steps(t, "the first open calls these functions, the last of them when the "
				       "task or CPU is scheduled", steps, STORY_OPEN_STEPS);
		else if (k == n && steps[OPEN_INIT])
			story_steps(t, "the PMU of others is initialised by", &steps[OPEN_INIT], 1);
		if (k == n)
			listed[n++] = steps[OPEN_INIT];
	}
	if (n || !t->nattempts)
		return;
	/* only probes succeeded: the last failed open */
	last = &t->attempts[t->nattempts - 1];
	story_open_steps(&(struct open_attr){
		.names = t->s->names, .arch = t->s->arch, .attr = last->attr,
		.len = last->attr_len, .pid = last->pid, .flags = last->flags,
	}, steps);
	story_steps(t, "the last failed open calls these functions, up to the one that refuses it",
		    steps, STORY_OPEN_STEPS - 1);
}

static void kernel_samples(const struct story_text *t)
{
	const char *steps[9] = { NULL };
	bool adaptive = false, forward = false, backward = false;
	size_t n = 0;

	for (size_t i = 0; i < t->nfamilies && i < STORY_ITEMS; i++) {
		const struct event *e = t->families[i].events[0];
		struct open_attr a = story_attr(t->s, e);
		struct attr_trigger trigger = attr_trigger_of(&a);

		if (!event_attr_known(e) || !open_attr_samples(&a))
			continue;
		adaptive |= trigger.adaptive;
		backward |= event_attr(e, ATTR_WRITE_BACKWARD);
		forward |= !event_attr(e, ATTR_WRITE_BACKWARD);
		if (n < 5)
			steps[n++] = attr_trigger_sample_step(&a);
	}
	steps[n++] = adaptive ? "frequency" : NULL;
	steps[n++] = forward ? "record" : NULL;
	steps[n++] = backward ? "record_backward" : NULL;
	steps[n++] = "wakeup";
	if (forward || backward)
		story_steps(t, "a sample is taken by", steps, n);
}

void story_kernel(const struct story_text *t)
{
	bool exec = false, prctl = false, bpf = false;
	bool closed = false, polled = false, shared = false;
	bool ioctl = was_done(t, story_ioctl_kind(PERF_EVENT_IOC_ENABLE));
	bool maps = story_any_asks(t, ATTR_MMAP) || story_any_asks(t, ATTR_MMAP_DATA);

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];

		exec |= e->start == START_EXEC;
		ioctl |= e->start == START_IOCTL;
		prctl |= e->start == START_PRCTL;
		bpf |= e->bpf != BPF_NONE;
		closed |= e->closed;
		shared |= model_takes_turns(t->s->m, e);
	}
	for (size_t i = 0; i < t->ntasks; i++)
		polled |= t->tasks[i]->polls;
	kernel_opens(t);
	if (!t->nfamilies)
		return;
	if (exec || ioctl || prctl)
		story_steps(t, "events are enabled by", (const char *const[]){
			exec ? "exec" : NULL, ioctl ? "ioctl" : NULL, ioctl ? "enable" : NULL,
			prctl ? "prctl_enable" : NULL }, 4);
	if (bpf)
		story_steps(t, "BPF programs are attached by",
			    (const char *const[]){ "set_bpf" }, 1);
	kernel_samples(t);
	story_steps(t, "these calls are handled by", (const char *const[]){
		t->nrings ? "mmap" : NULL, polled ? "poll" : NULL,
		was_done(t, SEEN_READ) ? "read" : NULL, closed ? "close" : NULL }, 4);
	if (t->nrings && (maps || story_any_asks(t, ATTR_COMM) || story_any_asks(t, ATTR_TASK)))
		story_steps(t, "such records are written by", (const char *const[]){
			maps ? "side_mmap" : NULL, story_any_asks(t, ATTR_COMM) ? "side_comm" : NULL,
			story_any_asks(t, ATTR_TASK) ? "side_fork" : NULL,
			story_any_asks(t, ATTR_TASK) ? "side_exit" : NULL }, 4);
	if (shared)
		story_steps(t, "events take turns on the PMU by",
			    (const char *const[]){ "multiplex" }, 1);
}
