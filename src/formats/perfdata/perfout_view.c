// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/layout.h"
#include "core/host/build_id.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "formats/perfdata/perfout_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

#define NS 1000000000ULL

enum {
	HELD_MOST = 1 << 20, /* bytes of records, and */
	HELD_NS = 500000000, /* time, that the events of a trace have to open */
	PENDING_MOST = 1 << 18, /* bytes, and */
	PENDING_NS = 50000000, /* time whose records a kill may lose */
};

enum { UNREAD = 1, READ = 2 }; /* values of map rings; NULL is no value */

static struct perfout_view *self(struct view *v)
{
	return (struct perfout_view *)v; /* view is its first member */
}

/* Rounds ------------------------------------------------------------------- */

static void perfout_set_ring(struct perfout_view *v, const struct ring *r, uintptr_t state)
{
	map_set(&v->rings_of_round, r->number, (void *)state);
}

/* Return whether each ring that is still mapped was read in this round; forget the others. */
static bool perfout_all_read(struct perfout_view *v)
{
	struct map_slot *slot;
	size_t at = 0;
	bool all = true;

	while ((slot = map_next(&v->rings_of_round, &at))) {
		const struct ring *r = model_ring(v->model, (unsigned int)slot->key);

		if (r && r->mappings && r->event) {
			all &= slot->value == (void *)READ;
			continue;
		}
		map_del(&v->rings_of_round, slot->key);
		at = (size_t)(slot - v->rings_of_round.slots); /* map_del() may move a slot here */
	}
	return all;
}

/* A record of perf: a header (struct perf_event_header) alone. */
static const struct {
	uint32_t type;
	uint16_t misc, size;
} finished_round = { PERF_RECORD_FINISHED_ROUND, 0, RECORD_HEAD };

/* Note that calls until ns are known, and that the rings may be read for one of them. */
static void perfout_know_calls(struct perfout_view *v, uint64_t ns)
{
	v->calls_complete_ns = v->calls_complete_ns > ns ? v->calls_complete_ns : ns;
	v->idle_reads_ns[0] = v->idle_reads_ns[1] = 0;
}

/*
 * Note that all rings were read.  Each read for a call has that before or after it.  So if no call
 * is between three reads, the second one was not for a call: the engine had none to report that
 * was older than the first one.
 */
static void perfout_know_read(struct perfout_view *v, uint64_t ns)
{
	if (v->calls_complete_ns < v->idle_reads_ns[1])
		v->calls_complete_ns = v->idle_reads_ns[1];
	v->idle_reads_ns[1] = v->idle_reads_ns[0];
	v->idle_reads_ns[0] = ns;
}

/*
 * End a round when every ring was read since the last one ended, also those that were mapped until
 * then, of which the BPF engine reports later: what is read later is then newer than what was read
 * in the round before, which lets perf sort and forget that.
 */
static void perfout_end_round(struct perfout_view *v, uint64_t ns)
{
	struct map_slot *slot;
	size_t at = 0;

	if (!perfout_all_read(v))
		return;
	perfout_know_read(v, ns);
	if (v->round_has_records && v->calls_complete_ns >= v->round_end_ns) {
		perfout_record(v, NULL, (const uint8_t *)&finished_round, sizeof(finished_round));
		v->round_before_ns = v->round_ns;
		v->round_ns = v->greatest_record_ns;
		v->round_end_ns = ns;
		v->round_has_records = false;
	}
	while ((slot = map_next(&v->rings_of_round, &at)))
		slot->value = (void *)UNREAD;
}

/* Tasks -------------------------------------------------------------------- */

static void perfout_on_born(struct view *view, const struct activity *a)
{
	const struct activity_task *b = &a->task;
	struct perfout_view *v = self(view);
	const char *program = v->facts.command ? v->facts.command[0] : NULL;

	map_del(&v->perf_tasks, (uint64_t)b->tid);
	map_del(&v->commands, (uint64_t)b->tid);
	if (!b->attached && map_get(&v->threads, (uint64_t)b->tid))
		perfout_begin_task(v, b->tid); /* another had the id */
	perfout_know_thread(v, b->tid, b->pid);
	if (!b->parent && !b->attached && program) /* its exec is not reported */
		perfout_know_program(v, b->tid, program);
	else if (b->shares_memory && map_get(&v->perf_tasks, (uint64_t)b->parent))
		map_set(&v->perf_tasks, (uint64_t)b->tid, v);
}

static void perfout_on_execed(struct view *view, const struct activity *a)
{
	const struct activity_exec *x = &a->exec;
	struct perfout_view *v = self(view);

	perfout_know_calls(v, 0);
	perfout_begin_task(v, x->tid);
	map_del(&v->commands, (uint64_t)x->tid);
	if (x->exe)
		perfout_know_program(v, x->tid, x->exe);
}

static void perfout_on_command(struct view *view, const struct activity *a)
{
	const struct activity_command *c = &a->command;
	struct perfout_view *v = self(view);

	map_set(&v->perf_tasks, (uint64_t)c->tid, v);
	map_set(&v->commands, (uint64_t)c->tid, v);
	perfout_know_command(v, c->tid, c->words);
}

/* Events ------------------------------------------------------------------- */

/* Know an event and the ring buffer that it writes to. */
static void perfout_know_event(void *ctx, struct event *e)
{
	const struct perfout_member *m = perfout_member(ctx, e);
	const struct ring *r = event_writes_to(e)->buffer[0];
	struct perfout_view *v = ctx;

	if (!m || m->event->left_out)
		return;
	v->has_all_tasks |= event_has_all_tasks(e);
	if (r && !map_get(&v->rings_of_round, r->number))
		perfout_set_ring(v, r, UNREAD);
	/* our own are all read, and that they are empty is not told */
	if (r && !map_set(&v->rings_seen, r->number, v) && e->opener != getpid())
		map_set(&v->rings_never_read, r->number, v);
}

static void perfout_on_gone(struct view *view, const struct activity *a)
{
	(void)a;
	perfout_know_calls(self(view), 0);
}

static void perfout_on_enter(struct view *view, const struct call *c)
{
	perfout_know_calls(self(view), c->enter_ns);
}

static void perfout_on_exit(struct view *view, const struct call *c)
{
	perfout_know_calls(self(view), c->exit_ns);
	model_each_recorded(self(view)->model, c, perfout_know_event, self(view));
}

static void perfout_on_found_ring(struct view *view, const struct activity *a)
{
	if (!a->found_ring.ring->aux)
		model_each_writer(self(view)->model, a->found_ring.ring, perfout_know_event,
				  self(view));
}

static void perfout_on_learnt_id(struct view *view, const struct activity *a)
{
	if (map_get(&self(view)->members, a->id.event->number))
		perfout_member(self(view), a->id.event);
}

/* Records ------------------------------------------------------------------ */

/*
 * Return a record as perf can read it: without a stale bit that makes perf abort, with its task and
 * with ids at counts; or r itself.  copies: room for the bytes.
 */
static struct activity_record perfout_mend(struct perfout_view *v, const struct activity_record *r,
				       uint32_t type, struct perfout_event *e, struct buf copies[2])
{
	const struct field *f = layout_perf_event_header.fields;
	uint64_t misc = layout_get(&layout_perf_event_header, PERF_EVENT_HEADER_MISC, r->bytes,
				   r->len);
	bool stale = type == PERF_RECORD_MMAP2 && r->format->no_build_id &&
		     misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	struct activity_record now = *r;
	struct buf *copy = &copies[0];

	if (!perfout_insert_tid(v, r, e, type, copy) && stale)
		buf_add(copy, r->bytes, r->len);
	if (copy->len) {
		now.bytes = (const uint8_t *)copy->data;
		now.len = copy->len;
	}
	if (stale)
		field_set(&f[PERF_EVENT_HEADER_MISC], misc & ~PERF_RECORD_MISC_MMAP_BUILD_ID,
			  (uint8_t *)copy->data);
	if (perfout_add_read_ids(v, r->event, e, now.bytes, now.len, &copies[1]))
		copy = &copies[1];
	if (copy->len) {
		now.bytes = (const uint8_t *)copy->data;
		now.len = copy->len;
		field_set(&f[PERF_EVENT_HEADER_SIZE], copy->len, (uint8_t *)copy->data);
	}
	return now;
}

static void perfout_on_record(struct view *view, const struct activity *a)
{
	const struct activity_record *r = &a->record;
	struct perfout_view *v = self(view);
	struct perfout_member *m;
	struct buf copies[2] = { { 0 }, { 0 } };
	struct activity_record now;
	struct record_id id;

	m = perfout_member(v, r->event);
	if (!m || !record_identify(r->bytes, r->len, r->format, &id) || id.size != r->len ||
	    id.type >= PERF_RECORD_HEADER_ATTR)
		return;
	if (id.has_id)
		perfout_add_id(v, m->event, id.id);
	if (id.has_time) {
		m->event->has_timed_record = true;
		v->last_record_ns = id.time;
		if (v->greatest_record_ns < id.time)
			v->greatest_record_ns = id.time;
	}
	if (id.has_time && id.type == PERF_RECORD_SAMPLE) {
		v->first_ns = v->first_ns && v->first_ns < id.time ? v->first_ns : id.time;
		v->last_ns = v->last_ns > id.time ? v->last_ns : id.time;
	}
	if (!v->held_ns)
		v->held_ns = r->ns;
	now = perfout_mend(v, r, id.type, m->event, copies);
	if (now.len > RECORD_MOST)
		v->too_long++;
	else
		perfout_record(v, m, now.bytes, now.len);
	buf_free(&copies[0]);
	buf_free(&copies[1]);
}

static void perfout_on_measured(struct view *view, const struct activity *a)
{
	perfout_measured(self(view), &a->measured.image);
}

/* Return whether records have build ids, so that perf record does not copy files to perf's cache. */
static bool perfout_has_build_ids(const struct perfout_view *v)
{
	for (size_t i = 0; i < v->nevents; i++)
		if (!v->events[i]->format.no_build_id)
			return true;
	return false;
}

static void perfout_on_build_id(struct view *view, const struct activity *a)
{
	const struct activity_build_id *b = &a->build_id;
	struct perfout_view *v = self(view);

	/* a vDSO with an id is sought in that cache only */
	if (strcmp(b->path, BUILD_ID_VDSO) || !perfout_has_build_ids(v))
		perfout_add_build_id(v, b->path, b->id, b->size);
}

static void perfout_on_aux(struct view *view, const struct activity *a)
{
	struct perfout_view *v = self(view);

	perfout_aux(v, a->aux.ns, &a->aux);
	if (v->ids_decided && perfout_pending(v->out) > PENDING_MOST)
		perfout_flush(v, PERFOUT_PART);
}

/* Output ------------------------------------------------------------------- */

/* Begin to write records; the events so far decide how. */
static void perfout_begin_writing(struct perfout_view *v)
{
	if (v->ids_decided || !v->nevents)
		return;
	perfout_decide(v);
	if (perfout_is_pipe(v->out)) {
		for (size_t i = 0; i < v->nevents; i++)
			perfout_pipe_event(v, v->events[i]);
		perfout_pipe_features(v, false);
	}
	if (v->aux_areas.len)
		perfout_describe_aux(v);
	perfout_release(v);
	buf_free(&v->held);
}

/*
 * Write the records that are held as if no event opened later, for the case that pevtrace is
 * killed: how they are written is decided again.
 */
static void perfout_draft(struct perfout_view *v)
{
	uint64_t too_long = v->too_long;
	bool with_ids = v->with_ids;

	if (perfout_is_pipe(v->out) || !v->nevents)
		return;
	perfout_decide(v);
	if (v->aux_areas.len)
		perfout_describe_aux(v);
	perfout_release(v);
	perfout_flush(v, PERFOUT_DRAFT);
	perfout_undecide(v);
	v->with_ids = with_ids;
	v->aux_described = false;
	v->too_long = too_long;
	v->draft_len = v->held.len;
}

static void perfout_on_idle(struct view *view, uint64_t ns)
{
	struct perfout_view *v = self(view);

	if (v->live && v->held_ns && ns > v->held_ns + HELD_NS)
		perfout_begin_writing(v);
	if (!v->live || ns <= v->flushed_ns + PENDING_NS)
		return;
	if (v->ids_decided && perfout_pending(v->out))
		perfout_flush(v, PERFOUT_PART);
	else if (!v->ids_decided && v->held.len > v->draft_len)
		perfout_draft(v);
	else
		return;
	v->flushed_ns = ns;
}

static void perfout_on_looked(struct view *view, const struct activity *a)
{
	const struct activity_look *l = &a->look;
	struct perfout_view *v = self(view);
	struct perfout_member *m = perfout_member(v, l->ring->event);

	perfout_know_time(v, l);
	model_each_writer(v->model, l->ring, perfout_know_event, v);
	if (m && !l->error && l->missed) {
		v->missed += l->missed;
		perfout_lost(v, m);
	}
	if (!l->error)
		map_del(&v->rings_never_read, l->ring->number);
	if (map_get(&v->rings_of_round, l->ring->number))
		perfout_set_ring(v, l->ring, READ);
	perfout_end_round(v, l->ns);
	/* events that open later may let a file be rewritten, but no pipe */
	if (v->held.len > HELD_MOST && (v->live || !perfout_is_pipe(v->out)))
		perfout_begin_writing(v);
	if (v->ids_decided && perfout_pending(v->out) > PENDING_MOST)
		perfout_flush(v, PERFOUT_PART);
}

/* Start and end ------------------------------------------------------------ */

/* Write how many samples each event lost, by its last read, as perf record does at its end. */
static void perfout_write_lost(struct perfout_view *v)
{
	struct event *const *events;
	size_t n = model_events(v->model, &events);

	for (size_t i = 0; i < n; i++) {
		struct perfout_member *m =
			events[i] ? map_get(&v->members, events[i]->number) : NULL;

		if (m && events[i]->lost_read)
			perfout_lost_samples(v, m, events[i]->lost_read);
	}
}

/* Warn of events that have no records, if all of the session is known. */
static void perfout_tell_absent(const struct perfout_view *v)
{
	if (perfout_is_cut_short(v->out))
		return;
	if (!v->nevents)
		warn("the perf.data file has no events: no ring buffer was mapped");
	else if (!v->live && !v->held_ns && !v->missed)
		warn("the perf.data file has no records: the dump has none; one that is made with "
		     "--records has them");
	perfout_tell_ringless(v);
}

static void perfout_tell_losses(const struct perfout_view *v)
{
	perfout_tell_absent(v);
	if (v->live && v->rings_never_read.len)
		warn("the perf.data file lacks the records of %zu ring buffers, which were "
		     "unmapped before they could be read; --engine=ptrace stops the program for "
		     "that", v->rings_never_read.len);
	perfout_tell_taskless(v);
	perfout_tell_clocks(v);
	if (v->missed)
		warn("the perf.data file lacks %llu bytes of records, which were overwritten "
		     "before "
		     "they were read; --look-every=MS reads the ring buffers more often",
		     (unsigned long long)v->missed);
	if (v->aux_missed)
		warn("the perf.data file lacks %llu bytes of AUX areas, which were overwritten "
		     "before they were read or exceed the limit; see --look-every and "
		     "--aux-limit",
		     (unsigned long long)v->aux_missed);
	if (v->too_long)
		warn("the perf.data file lacks %llu records that are too long with an id",
		     (unsigned long long)v->too_long);
	if (v->unnamed)
		warn("the samples in the perf.data file lack %llu counts of events that are not in "
		     "it", (unsigned long long)v->unnamed);
}

static void perfout_on_free(struct view *view)
{
	struct perfout_view *v = self(view);

	perfout_begin_writing(v);
	perfout_write_lost(v);
	if (perfout_is_pipe(v->out))
		perfout_pipe_features(v, true);
	else if (perfout_is_empty(v->out)) /* as if perf record had not finished */
		perfout_add(v->out, &finished_round, sizeof(finished_round));
	perfout_flush(v, PERFOUT_LAST);
	perfout_tell_losses(v);
	buf_free(&v->build_ids);
	map_free(&v->rings_of_round);
	map_free(&v->rings_seen);
	map_free(&v->rings_never_read);
	map_free(&v->aux_areas);
	map_free(&v->tree_processes);
	map_free_values(&v->execs);
	map_free(&v->described_pids);
	buf_free(&v->held);
	perfout_free_events(v);
	free((char *)v->facts.nodename);
	free((char *)v->facts.release);
	free((char *)v->facts.machine);
	free(v);
}

static const struct view_ops ops = {
	.on[ACTIVITY_TASK] = perfout_on_born,
	.on[ACTIVITY_EXEC] = perfout_on_execed,
	.on[ACTIVITY_GONE] = perfout_on_gone,
	.on[ACTIVITY_COMMAND] = perfout_on_command,
	.enter = perfout_on_enter,
	.exit = perfout_on_exit,
	.on[ACTIVITY_FOUND_RING] = perfout_on_found_ring,
	.on[ACTIVITY_ID] = perfout_on_learnt_id,
	.on[ACTIVITY_MEASURED] = perfout_on_measured,
	.on[ACTIVITY_BUILD_ID] = perfout_on_build_id,
	.on[ACTIVITY_RECORD] = perfout_on_record,
	.on[ACTIVITY_LOOK] = perfout_on_looked,
	.on[ACTIVITY_AUX] = perfout_on_aux,
	.idle = perfout_on_idle,
	.free = perfout_on_free,
};

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

struct view *perfout_view_new(struct perfout *o, const struct session_facts *facts, struct model *m,
			      const struct names *names, bool live)
{
	struct perfout_view *v = xcalloc(1, sizeof(*v));

	v->view.ops = &ops;
	v->out = o;
	v->facts = *facts;
	v->facts.nodename = copy(facts->nodename);
	v->facts.release = copy(facts->release);
	v->facts.machine = copy(facts->machine);
	v->model = m;
	v->names = names;
	v->live = live;
	perfout_know_command(v, 0, facts->command);
	return &v->view;
}
