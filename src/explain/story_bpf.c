// SPDX-License-Identifier: LGPL-2.1-or-later
/* The BPF programs of events: when they run, and what they decide. */
#include <stdlib.h>

#include "core/abi/bpf.h"
#include "core/lib/die.h"
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

static void program_write(const struct story_text *t, const struct event **some, size_t m,
			  size_t n)
{
	const struct event *e = some[0];
	struct prose *p = t->p;

	if (m == n) {
		prose_adds(p, n == 1 ? " It" : " They");
	} else {
		prose_adds(p, " ");
		story_fds(some, m, p);
	}
	prose_adds(p, e->bpf == BPF_FOUND ? " had " : m == 1 ? " was given " : " were given ");
	story_add_program(e, p);
	if (e->bpf == BPF_FOUND) {
		prose_adds(p, " already.");
		return;
	}
	prose_addf(p, " by %s", e->bpf == BPF_SET ? "PERF_EVENT_IOC_SET_BPF" : "BPF_LINK_CREATE");
	prose_adds(p, e->bpf == BPF_DETACHED ? ", until its link was closed." : ".");
}

void story_programs_of(const struct story_text *t, const struct event **list, size_t n)
{
	const struct event **some = xmalloc(n * sizeof(*some));

	for (size_t i = 0; i < n; i++) {
		size_t m = program_group(t, list, n, i, some, programmed_alike);

		if (m)
			program_write(t, some, m, n);
	}
	for (size_t i = 0; i < n; i++)
		if (program_group(t, list, n, i, some, effect_alike))
			program_effect(t, list[i]);
	free(some);
}
