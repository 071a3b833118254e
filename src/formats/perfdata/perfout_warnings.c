// SPDX-License-Identifier: LGPL-2.1-or-later
/* Warnings at the end of what a perf.data file lacks. */
#include <stdio.h>

#include "core/model/event_name.h"
#include "formats/perfdata/perfout_internal.h"

enum { NAMED_MOST = 3 };

#define PERF_CLOCK (1ULL << 32) /* no value of clockid, which has 32 bits */

/* Events of a kind: whose samples a BPF program gets, whose ring buffer was not seen, that count. */
struct ringless {
	struct map attrs; /* those that were seen: equal attrs share their bytes */
	char *names[NAMED_MOST];
	size_t n, more;
	uint32_t program;
	bool programs; /* and others */
	struct buf text;
};

static void ringless_add(struct ringless *r, const struct perfout_view *v, const struct event *e)
{
	struct buf name = { 0 };
	size_t i = 0;

	r->programs |= r->program && r->program != e->program.id;
	r->program = r->program ? r->program : e->program.id;
	if (map_set(&r->attrs, (uintptr_t)e->attr, r))
		return;
	if (e->probed)
		event_name_probed(e->attr, e->attr_len, v->names, e->probed, &name);
	else
		event_name_perf(e->attr, e->attr_len, v->names, &name);
	while (i < r->n && strcmp(r->names[i], buf_str(&name)))
		i++;
	if (i == NAMED_MOST)
		r->more++;
	else if (i == r->n)
		r->names[r->n++] = xstrdup(buf_str(&name));
	buf_free(&name);
}

/* Return the names, which live until r is freed. */
static const char *ringless_names(struct ringless *r)
{
	for (size_t i = 0; i < r->n; i++)
		buf_addf(&r->text, "%s%s", i ? ", " : "", r->names[i]);
	if (r->more)
		buf_addf(&r->text, " and %zu more", r->more);
	return buf_str(&r->text);
}

/* Warn of the events that are not in the file, with what has their samples or counts. */
static void perfout_warn_ringless(const struct perfout_view *v)
{
	struct ringless kinds[3] = { { .program = 0 } }, *bpf = kinds, *counts = kinds + 1;
	struct ringless *samples = kinds + 2;
	struct event *const *events;
	size_t n = model_events(v->model, &events);
	char program[32] = "a BPF program";

	for (size_t i = 0; i < n; i++)
		if (events[i] && event_attr_known(events[i]) && !event_is_probe(events[i]) &&
		    !map_get(&v->members, events[i]->number))
			ringless_add(events[i]->bpf != BPF_NONE		     ? bpf :
				     event_attr(events[i], ATTR_SAMPLE_PERIOD) ? samples : counts,
				     v, events[i]);
	if (bpf->program)
		snprintf(program, sizeof(program), "BPF program %u", bpf->program);
	if (samples->n)
		warn("the samples of %s are not in the perf.data file: the trace does not have the "
		     "mapping of a ring buffer for them", ringless_names(samples));
	if (counts->n)
		warn("no ring buffer, so not in the perf.data file: %s, which only count; --summary "
		     "shows the counts", ringless_names(counts));
	if (bpf->n)
		warn("no ring buffer, so not in the perf.data file: %s, whose samples %s%s; perf "
		     "record of such events writes them", ringless_names(bpf), program,
		     bpf->programs ? " and others get" : " gets");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		for (size_t k = 0; k < kinds[i].n; k++)
			free(kinds[i].names[k]);
		map_free(&kinds[i].attrs);
		buf_free(&kinds[i].text);
	}
}

/* Warn of the events whose samples have no task. */
static void perfout_warn_taskless(const struct perfout_view *v)
{
	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *p = v->events[i];

		if (!p->sample_lacks_task || p->left_out)
			continue;
		/* what BPF programs wrote with bpf_perf_event_output() */
		if (perfout_attr_of(p, ATTR_TYPE) == PERF_TYPE_SOFTWARE &&
		    perfout_attr_of(p, ATTR_CONFIG) == PERF_COUNT_SW_BPF_OUTPUT)
			warn("samples of %s are data of BPF programs, without a task: perf report "
			     "-D shows their bytes", p->name);
		else
			warn("samples of %s have no PERF_SAMPLE_TID, and the event may measure "
			     "several tasks: perf cannot name their processes", p->name);
	}
}

/* Return the clock that an event chose, or PERF_CLOCK. */
static uint64_t perfout_clock_of(const struct perfout_event *e)
{
	return perfout_attr_of(e, ATTR_USE_CLOCKID) ? perfout_attr_of(e, ATTR_CLOCKID) : PERF_CLOCK;
}

static const char *perfout_clock_name(uint64_t clock)
{
	const char *name = xlat_name(&xlat_clockid, clock);

	return clock == PERF_CLOCK ? "perf's own clock" : name ? name : "another clock";
}

/* Warn of events whose records have times of different clocks. */
static void perfout_warn_clocks(const struct perfout_view *v)
{
	const struct perfout_event *a = NULL;

	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *b = v->events[i];

		if (b->left_out || !b->has_timed_record)
			continue;
		if (a && perfout_clock_of(a) != perfout_clock_of(b)) {
			warn("the times of %s are of %s, but those of %s of %s: perf sorts all "
			     "records by time, so names and mappings of samples are wrong; use one "
			     "clock for all events", a->name,
			     perfout_clock_name(perfout_clock_of(a)), b->name,
			     perfout_clock_name(perfout_clock_of(b)));
			return;
		}
		a = b;
	}
}

void perfout_warn_losses(const struct perfout_view *v)
{
	/* if all of the session is known, events that have no records */
	if (!v->out->cut_short && !v->nevents)
		warn("the perf.data file has no events: no ring buffer was mapped");
	else if (!v->out->cut_short && !v->live && !v->first_held_ns && !v->missed_bytes)
		warn("the perf.data file has no records: the dump has none; one that is made with "
		     "--records has them");
	if (!v->out->cut_short)
		perfout_warn_ringless(v);
	if (v->live && v->rings_never_read.len)
		warn("the perf.data file lacks the records of %zu ring buffers, which were "
		     "unmapped before they could be read; --engine=ptrace stops the program for "
		     "that", v->rings_never_read.len);
	perfout_warn_taskless(v);
	perfout_warn_clocks(v);
	if (v->missed_bytes)
		warn("the perf.data file lacks %llu bytes of records, which were overwritten "
		     "before they were read; --look-every=MS reads the ring buffers more often",
		     (unsigned long long)v->missed_bytes);
	if (v->missed_aux_bytes)
		warn("the perf.data file lacks %llu bytes of AUX areas, which were overwritten "
		     "before they were read or exceed the limit; see --look-every and "
		     "--aux-limit",
		     (unsigned long long)v->missed_aux_bytes);
	if (v->records_too_long)
		warn("the perf.data file lacks %llu records that are too long with an id",
		     (unsigned long long)v->records_too_long);
	if (v->counts_unnamed)
		warn("the samples in the perf.data file lack %llu counts of events that are not in "
		     "it", (unsigned long long)v->counts_unnamed);
}
