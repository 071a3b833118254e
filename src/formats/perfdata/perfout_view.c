// SPDX-License-Identifier: LGPL-2.1-or-later
#include <unistd.h>

#include "core/host/proc_image.h"
#include "formats/perfdata/perfout_internal.h"

enum {
	HELD_MOST = 1 << 20, /* bytes of records, and */
	HELD_NS = 500000000, /* time, that the events of a trace have to open */
	PENDING_MOST = 1 << 18, /* bytes, and */
	PENDING_NS = 50000000, /* time whose records a kill may lose */
};

enum { UNREAD = 1, READ = 2 }; /* values of map rings; NULL is no value */

/* Rounds ------------------------------------------------------------------- */

/* Return whether each ring that is still mapped was read in this round; forget the others. */
static bool perfout_all_read(struct perfout_view *v)
{
	bool all = true;

	map_each(slot, &v->rings_of_round) {
		const struct ring *r = model_ring(v->model, (unsigned int)slot->key);

		if (r && r->mappings && r->event)
			all &= slot->value == (void *)READ;
		else
			map_del(&v->rings_of_round, slot->key);
	}
	return all;
}

/* Note that calls until ns are known, and that the rings may be read for one of them. */
static void perfout_note_calls(struct perfout_view *v, uint64_t ns)
{
	v->calls_complete_ns = v->calls_complete_ns > ns ? v->calls_complete_ns : ns;
	v->idle_reads_ns[0] = v->idle_reads_ns[1] = 0;
}

/*
 * End a round when every ring was read since the last one ended, also those that were mapped until
 * then, of which the BPF engine reports later: what is read later is then newer than what was read
 * in the round before, which lets perf sort and forget that.
 */
static void perfout_end_round(struct perfout_view *v, uint64_t ns)
{
	if (!perfout_all_read(v))
		return;
	/*
	 * Each read for a call has that before or after it.  So if no call is between three reads
	 * of all rings, the second one was not for a call: the engine had none to report that was
	 * older than the first one.
	 */
	if (v->calls_complete_ns < v->idle_reads_ns[1])
		v->calls_complete_ns = v->idle_reads_ns[1];
	v->idle_reads_ns[1] = v->idle_reads_ns[0];
	v->idle_reads_ns[0] = ns;
	if (v->round_has_records && v->calls_complete_ns >= v->round_end_ns) {
		perfout_record(v, NULL, (const uint8_t *)&finished_round, sizeof(finished_round));
		v->sorted_until_ns = v->sorted_next_ns;
		v->sorted_next_ns = v->greatest_record_ns;
		v->round_end_ns = ns;
		v->round_has_records = false;
	}
	map_each(slot, &v->rings_of_round)
		slot->value = (void *)UNREAD;
}

/* Tasks -------------------------------------------------------------------- */

/* Note that the task runs a program of that name or path, which may be perf. */
static void perfout_note_program(struct perfout_view *v, pid_t tid, const char *exe)
{
	/* also what a script of that name executes is perf */
	if (perfout_names_perf(exe))
		map_set(&v->perf_tasks, (uint64_t)tid, v);
}

static void perfout_on_born(struct view *view, const struct activity *a)
{
	const struct activity_task *b = &a->task;
	struct perfout_view *v = view_self(view);
	const char *program = v->facts.command ? v->facts.command[0] : NULL;

	map_del(&v->perf_tasks, (uint64_t)b->tid);
	map_del(&v->commands, (uint64_t)b->tid);
	if (!b->attached && map_get(&v->threads, (uint64_t)b->tid))
		perfout_begin_task(v, b->tid); /* another had the id */
	perfout_note_thread(v, b->tid, b->pid);
	if (!b->parent && !b->attached && program) /* its exec is not reported */
		perfout_note_program(v, b->tid, program);
	else if (b->shares_memory && map_get(&v->perf_tasks, (uint64_t)b->parent))
		map_set(&v->perf_tasks, (uint64_t)b->tid, v);
}

static void perfout_on_execed(struct view *view, const struct activity *a)
{
	const struct activity_exec *x = &a->exec;
	struct perfout_view *v = view_self(view);

	perfout_note_calls(v, 0);
	perfout_begin_task(v, x->tid);
	map_del(&v->commands, (uint64_t)x->tid);
	if (x->exe)
		perfout_note_program(v, x->tid, x->exe);
}

static void perfout_on_command(struct view *view, const struct activity *a)
{
	const struct activity_command *c = &a->command;
	struct perfout_view *v = view_self(view);

	map_set(&v->perf_tasks, (uint64_t)c->tid, v);
	map_set(&v->commands, (uint64_t)c->tid, v);
	perfout_note_command(v, c->tid, c->words);
}

/* Events ------------------------------------------------------------------- */

/* Note an event and the ring buffer that it writes to. */
static void perfout_note_event(void *ctx, struct event *e)
{
	const struct perfout_member *m = perfout_member(ctx, e);
	const struct ring *r = event_writes_to(e)->buffer[0];
	struct perfout_view *v = ctx;

	if (!m || m->event->left_out)
		return;
	v->has_all_tasks |= event_has_all_tasks(e);
	if (r && !map_get(&v->rings_of_round, r->number))
		map_set(&v->rings_of_round, r->number, (void *)UNREAD);
	/* our own are all read, and that they are empty is not told */
	if (r && !map_set(&v->rings_seen, r->number, v) && e->opener != getpid())
		map_set(&v->rings_never_read, r->number, v);
}

static void perfout_on_gone(struct view *view, const struct activity *a)
{
	(void)a;
	perfout_note_calls(view_self(view), 0);
}

static void perfout_on_enter(struct view *view, const struct call *c)
{
	perfout_note_calls(view_self(view), c->enter_ns);
}

static void perfout_on_exit(struct view *view, const struct call *c)
{
	struct perfout_view *v = view_self(view);

	perfout_note_calls(v, c->exit_ns);
	model_each_recorded(v->model, c, perfout_note_event, v);
}

static void perfout_on_found_ring(struct view *view, const struct activity *a)
{
	struct perfout_view *v = view_self(view);

	if (!a->found_ring.ring->aux)
		model_each_writer(v->model, a->found_ring.ring, perfout_note_event, v);
}

static void perfout_on_learnt_id(struct view *view, const struct activity *a)
{
	struct perfout_view *v = view_self(view);

	if (map_get(&v->members, a->id.event->number))
		perfout_member(v, a->id.event);
}

/* Records ------------------------------------------------------------------ */

static void perfout_on_record(struct view *view, const struct activity *a)
{
	const struct activity_record *r = &a->record;
	struct perfout_view *v = view_self(view);
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
		if (!v->first_sample_ns || id.time < v->first_sample_ns)
			v->first_sample_ns = id.time;
		if (id.time > v->last_sample_ns)
			v->last_sample_ns = id.time;
	}
	if (!v->first_held_ns)
		v->first_held_ns = r->ns;
	now = perfout_mend(v, r, id.type, m->event, copies);
	if (now.len > RECORD_MOST)
		v->records_too_long++;
	else
		perfout_record(v, m, now.bytes, now.len);
	buf_free(&copies[0]);
	buf_free(&copies[1]);
}

static void perfout_on_build_id(struct view *view, const struct activity *a)
{
	const struct activity_build_id *b = &a->build_id;
	struct perfout_view *v = view_self(view);

	bool in_records = false; /* so perf record does not copy files to perf's cache */

	for (size_t i = 0; i < v->nevents; i++)
		in_records |= !v->events[i]->format.no_build_id;
	/* a vDSO with an id is sought in that cache only */
	if (strcmp(b->path, BUILD_ID_VDSO) || !in_records)
		perfout_add_build_id(v, b->path, b->id, b->size);
}

static void perfout_on_aux(struct view *view, const struct activity *a)
{
	struct perfout_view *v = view_self(view);

	perfout_aux(v, &a->aux);
	if (v->ids_decided && v->out->pending.len > PENDING_MOST)
		perfout_flush(v, PERFOUT_PART);
}

/* Output ------------------------------------------------------------------- */

/* Begin to write records; the events so far decide how. */
static void perfout_begin_writing(struct perfout_view *v)
{
	if (v->ids_decided || !v->nevents)
		return;
	perfout_decide(v);
	if (v->out->pipe) {
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
	uint64_t too_long = v->records_too_long;
	bool with_ids = v->with_ids;

	if (v->out->pipe || !v->nevents)
		return;
	perfout_decide(v);
	if (v->aux_areas.len)
		perfout_describe_aux(v);
	perfout_release(v);
	perfout_flush(v, PERFOUT_DRAFT);
	for (size_t i = 0; i < v->nevents; i++)
		v->events[i]->left_out = v->events[i]->lacks_task_and_time;
	v->ids_decided = false;
	v->with_ids = with_ids;
	v->aux_described = false;
	v->records_too_long = too_long;
	v->draft_len = v->held.len;
}

static void perfout_on_idle(struct view *view, uint64_t ns)
{
	struct perfout_view *v = view_self(view);

	if (v->live && v->first_held_ns && ns > v->first_held_ns + HELD_NS)
		perfout_begin_writing(v);
	if (!v->live || ns <= v->flushed_ns + PENDING_NS)
		return;
	if (v->ids_decided && v->out->pending.len)
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
	struct perfout_view *v = view_self(view);
	struct perfout_member *m = perfout_member(v, l->ring->event);

	perfout_note_clock(v, l);
	model_each_writer(v->model, l->ring, perfout_note_event, v);
	if (m && !l->error && l->missed) {
		v->missed_bytes += l->missed;
		perfout_lost(v, m, PERF_RECORD_LOST, 1); /* how many is not known */
	}
	if (!l->error)
		map_del(&v->rings_never_read, l->ring->number);
	if (map_get(&v->rings_of_round, l->ring->number))
		map_set(&v->rings_of_round, l->ring->number, (void *)READ);
	perfout_end_round(v, l->ns);
	/* events that open later may let a file be rewritten, but no pipe */
	if (v->held.len > HELD_MOST && (v->live || !v->out->pipe))
		perfout_begin_writing(v);
	if (v->ids_decided && v->out->pending.len > PENDING_MOST)
		perfout_flush(v, PERFOUT_PART);
}

/* Start and end ------------------------------------------------------------ */

static void perfout_on_free(struct view *view)
{
	struct perfout_view *v = view_self(view);
	struct event *const *events;
	size_t n = model_events(v->model, &events);

	perfout_begin_writing(v);
	/* how many samples each event lost, by its last read, as perf record does at its end */
	for (size_t i = 0; i < n; i++) {
		struct perfout_member *m =
			events[i] ? map_get(&v->members, events[i]->number) : NULL;

		if (m && events[i]->lost_read)
			perfout_lost(v, m, PERF_RECORD_LOST_SAMPLES, events[i]->lost_read);
	}
	if (v->out->pipe)
		perfout_pipe_features(v, true);
	else if (!v->out->pending.len && v->out->data_end == v->out->data)
		/* a file without records looks as if perf record had not finished */
		buf_add(&v->out->pending, &finished_round, sizeof(finished_round));
	perfout_flush(v, PERFOUT_LAST);
	perfout_warn_losses(v);
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

struct view *perfout_view_new(struct perfout *o, const struct session_facts *facts, struct model *m,
			      const struct names *names, bool live)
{
	struct perfout_view *v = xcalloc(1, sizeof(*v));

	v->view.ops = &ops;
	v->out = o;
	v->facts = *facts;
	v->facts.nodename = facts->nodename ? xstrdup(facts->nodename) : NULL;
	v->facts.release = facts->release ? xstrdup(facts->release) : NULL;
	v->facts.machine = facts->machine ? xstrdup(facts->machine) : NULL;
	v->model = m;
	v->names = names;
	v->live = live;
	perfout_note_command(v, 0, facts->command);
	return &v->view;
}
