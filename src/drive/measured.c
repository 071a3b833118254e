// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drive/measured.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
#include "host/proc.h"
#include "host/proc_image_bpf.h"
#include "lib/clock.h"
#include "lib/die.h"
#include "lib/map.h"
#include "lib/maps.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

enum {
	PIECE = 128,		/* mappings */
	AGAIN_NS = 20000000,	/* between two reads of a process */
};

/* A process whose mappings no event records: what it had mapped when it was last read. */
struct measured_maps {
	struct maps maps;
	pid_t here;		/* one of its tasks, or 0: not known */
	uint64_t next_ns;	/* it is not read before */
};

/* Tasks as events see them that were opened in one PID namespace: these ids are in records. */
struct measured_space {
	struct pidns ns;
	struct map known;	/* our ids of tasks that were reported */
	struct map maps;	/* id of a task -> struct measured_maps */
	bool all;		/* all processes were reported */
};

struct measured {
	struct session *session;
	struct measured_space **spaces; /* the first is ours */
	size_t nspaces;
	struct map openers;	/* task -> struct measured_space */
	struct proc_image kernel; /* read at the start */
	bool kernel_read, kernel_reported;
	bool again;		/* all processes are to be read again before the events run */
};

static struct measured_space *measured_space_of(struct measured *m, const struct pidns *ns)
{
	for (size_t i = 0; i < m->nspaces; i++)
		if (m->spaces[i]->ns.inode == ns->inode)
			return m->spaces[i];
	m->spaces = xrealloc(m->spaces, (m->nspaces + 1) * sizeof(struct measured_space *));
	m->spaces[m->nspaces] = xcalloc(1, sizeof(struct measured_space));
	m->spaces[m->nspaces]->ns = *ns;
	return m->spaces[m->nspaces++];
}

/* Return whose ids the records of an event have, or get (perfout_insert_tid()). */
static struct measured_space *measured_space_of_event(struct measured *m, const struct event *e)
{
	struct measured_space *space = map_get(&m->openers, (uint64_t)e->opener);
	struct pidns ns;

	if (event_single_task(e) > 0 && !(event_attr(e, ATTR_SAMPLE_TYPE) & PERF_SAMPLE_TID))
		return m->spaces[0];
	if (!space) {
		ns = proc_pidns(e->opener);
		space = measured_space_of(m, &ns);
		map_set(&m->openers, (uint64_t)e->opener, space);
	}
	return space;
}

struct measured *measured_new(struct session *s, bool kernel_now)
{
	struct measured *m = xcalloc(1, sizeof(*m));

	m->session = s;
	measured_space_of(m, &(struct pidns){ 0 });
	m->kernel_read = kernel_now && proc_image_read_kernel(&m->kernel);
	if (m->kernel_read)
		proc_image_add_trampolines(&m->kernel);
	return m;
}

static struct measured_maps *measured_maps_of(struct measured_space *space, pid_t tid)
{
	struct measured_maps *known = map_get(&space->maps, (uint64_t)tid);

	if (!known) {
		known = xcalloc(1, sizeof(*known));
		map_set(&space->maps, (uint64_t)tid, known);
	}
	return known;
}

static void measured_maps_free(struct measured_maps *known)
{
	if (known)
		maps_free(&known->maps);
	free(known);
}

void measured_free(struct measured *m)
{
	struct map_slot *slot;
	size_t at;

	if (!m)
		return;
	for (size_t i = 0; i < m->nspaces; i++) {
		at = 0;
		while ((slot = map_next(&m->spaces[i]->maps, &at)))
			measured_maps_free(slot->value);
		map_free(&m->spaces[i]->maps);
		map_free(&m->spaces[i]->known);
		free(m->spaces[i]);
	}
	if (m->kernel_read)
		proc_image_free(&m->kernel);
	map_free(&m->openers);
	free(m->spaces);
	free(m);
}

/* Report a process that was read, in pieces that fit into a line of a dump, and free it. */
static void measured_report(struct measured *m, uint64_t ns, struct proc_image *p)
{
	struct proc_image piece = *p;
	size_t at = 0;

	do {
		piece.maps = p->maps ? p->maps + at : NULL;
		piece.nmaps = p->nmaps - at < PIECE ? p->nmaps - at : PIECE;
		session_measured(m->session, ns, &piece);
		piece.nthreads = 0;
		piece.nfunctions = 0;
		at += piece.nmaps;
	} while (at < p->nmaps);
	proc_image_free(p);
}

static void measured_kernel(struct measured *m)
{
	if (m->kernel_reported)
		return;
	m->kernel_reported = true;
	if (m->kernel_read || proc_image_read_kernel(&m->kernel)) {
		proc_image_update_functions(&m->kernel);
		measured_report(m, clock_ns(), &m->kernel);
	}
	m->kernel_read = false;
}

/* only_names: no event runs before the next exec, which replaces all mappings. */
static void measured_process(struct measured *m, struct measured_space *space, pid_t tid,
			     bool only_names)
{
	struct proc_image p;
	pid_t parent, pid;

	if (map_set(&space->known, (uint64_t)tid, m))
		return;
	pid = proc_group_of(tid, &parent);
	if (!pid || (pid != tid && map_set(&space->known, (uint64_t)pid, m)))
		return;
	if (!proc_image_read(pid, !only_names, &space->ns, &p))
		proc_image_free(&p);
	else
		measured_report(m, clock_ns(), &p);
}

/* Report all processes that were not reported. */
static void measured_all(struct measured *m, struct measured_space *space)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)*d->d_name))
			measured_process(m, space, (pid_t)atoi(d->d_name), false);
	if (dir)
		closedir(dir);
}

static bool records_mappings(const struct event *e)
{
	return event_attr(e, ATTR_MMAP) || event_attr(e, ATTR_MMAP2);
}

static void measured_record_writer(void *ctx, struct event *e)
{
	*(bool *)ctx |= records_mappings(e);
}

/* Return whether an event that writes to the same ring buffer records mappings. */
static bool mappings_recorded(struct measured *m, const struct ring *r)
{
	bool recorded = false;

	if (r)
		model_each_writer(m->session->model, r, measured_record_writer, &recorded);
	return recorded;
}

static void measured_event(void *ctx, struct event *e)
{
	struct measured *m = ctx;
	struct measured_space *space;
	pid_t tid, pid;

	if (event_is_bare(e))
		return;
	measured_kernel(m);
	space = measured_space_of_event(m, e);
	if (e->flags & PERF_FLAG_PID_CGROUP || e->pid < 0) {
		if (!space->all)
			measured_all(m, space);
		m->again |= !space->all;
		space->all = true;
		return;
	}
	tid = e->pid ? e->pid : e->opener;
	measured_process(m, space, tid, event_attr(e, ATTR_DISABLED) &&
			 event_attr(e, ATTR_ENABLE_ON_EXEC));
	pid = proc_pid_in(&space->ns, tid);
	if (pid && !mappings_recorded(m, event_writes_to(e)->buffer[0]))
		measured_maps_of(space, pid)->here = tid;
}

void measured_call(struct measured *m, const struct call *c)
{
	model_each_recorded(m->session->model, c, measured_event, m);
	if (!m->again || !(c->desc->class == CLASS_POLL || (c->desc->id == CALL_IOCTL &&
			   (uint32_t)c->args[1] == PERF_EVENT_IOC_ENABLE)))
		return;
	/* processes that were created before all rings were mapped are in no record */
	m->again = false;
	for (size_t i = 0; i < m->nspaces; i++)
		if (m->spaces[i]->all)
			measured_all(m, m->spaces[i]);
}

static void measured_ring(void *ctx, const struct ring *r)
{
	struct measured *m = ctx;

	if (!r->aux)
		model_each_writer(m->session->model, r, measured_event, m);
}

void measured_task(struct measured *m, pid_t tid)
{
	model_each_mapping(m->session->model, tid, measured_ring, m);
}

/* Samples without records of mappings ------------------------------------------ */

/* tid: as records have it */
static void measured_again(struct measured *m, struct measured_space *space, uint64_t ns, pid_t tid,
			   struct measured_maps *known)
{
	struct proc_image p;
	bool changed = false;
	pid_t parent, pid;

	known->here = proc_pid_from(&space->ns, tid, known->here);
	pid = known->here ? proc_group_of(known->here, &parent) : 0;
	known->next_ns = pid ? ns + AGAIN_NS : UINT64_MAX;
	if (!pid)
		return;
	if (proc_image_read(pid, true, &space->ns, &p))
		for (size_t i = 0; i < p.nmaps; i++) {
			const struct proc_image_map *now = &p.maps[i];
			const struct mapping *before = maps_find(&known->maps, now->start);

			if (before && before->end == now->end && before->pgoff == now->pgoff &&
			    !strcmp(before->path, now->path))
				continue;
			changed = true;
			maps_add(&known->maps, now->start, now->end, now->pgoff, now->path);
		}
	if (changed)
		measured_report(m, ns, &p);
	else
		proc_image_free(&p);
}

/* A sample whose code is looked for in the mappings of its task. */
struct code_search {
	struct measured *measured;
	struct measured_space *space;
	uint64_t ns;		/* when it was read */
	pid_t tid;		/* if the sample has none */
};

static const char *measured_code(void *ctx, int32_t pid, uint64_t ip, unsigned int cpumode,
				 bool after_call)
{
	const struct code_search *search = ctx;
	pid_t tid = pid > 0 ? pid : search->tid;
	struct measured_maps *known;

	(void)after_call;
	if (cpumode != PERF_RECORD_MISC_USER || tid <= 0)
		return NULL;
	known = measured_maps_of(search->space, tid);
	if (!maps_find(&known->maps, ip) && search->ns >= known->next_ns)
		measured_again(search->measured, search->space, search->ns, tid, known);
	return NULL;
}

void measured_record(struct measured *m, uint64_t ns, const struct view_record *r)
{
	struct code_search search = { m, measured_space_of_event(m, r->event), ns,
				      r->sure ? event_single_task(r->event) : -1 };
	const struct record_hooks hooks = { .ctx = &search, .symbol = measured_code };
	struct sink sink = { .ops = &sink_null_ops };
	struct record_id id;

	if (record_identify(r->bytes, r->len, r->format, &id) && id.type == PERF_RECORD_SAMPLE &&
	    !mappings_recorded(m, r->ring))
		record_emit(r->bytes, r->len, r->format, NULL, &sink, &hooks);
}

/* Forget what a process had mapped before; return it as it is now. */
static struct measured_maps *measured_renew(struct measured_space *space, pid_t tid)
{
	measured_maps_free(map_del(&space->maps, (uint64_t)tid));
	return measured_maps_of(space, tid);
}

void measured_born(struct measured *m, const struct birth *b)
{
	for (size_t i = 0; i < m->nspaces && b->tid == b->pid; i++) {
		struct measured_space *space = m->spaces[i];

		if (space->maps.len &&
		    map_get(&space->maps, (uint64_t)proc_pid_in(&space->ns, b->parent)))
			measured_renew(space, proc_pid_in(&space->ns, b->tid))->here = b->tid;
	}
}

bool measured_leave(struct measured *m, pid_t pid)
{
	bool left = false;

	for (size_t i = 0; i < m->nspaces; i++) {
		struct measured_space *space = m->spaces[i];
		struct measured_maps *known =
			map_get(&space->maps, (uint64_t)proc_pid_in(&space->ns, pid));

		if (known)
			known->next_ns = UINT64_MAX;
		left |= known != NULL;
	}
	return left;
}

void measured_execed(struct measured *m, pid_t pid)
{
	for (size_t i = 0; i < m->nspaces; i++) {
		struct measured_space *space = m->spaces[i];
		pid_t tid = proc_pid_in(&space->ns, pid);
		struct measured_maps *known = map_get(&space->maps, (uint64_t)tid);

		if (!known)
			continue;
		known = measured_renew(space, tid);
		known->here = pid;
		measured_again(m, space, clock_ns(), tid, known);
	}
}
