// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drive/measured.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "abi/layout.h"
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
	uint64_t next_ns;	/* it is not read before */
};

struct measured {
	struct session *session;
	struct map known;	/* processes that were reported */
	struct map maps;	/* task -> struct measured_maps */
	struct proc_image kernel; /* read at the start */
	bool kernel_read, kernel_reported;
	bool all;		/* all processes were reported */
	bool again;		/* these are to be read again before the events run */
};

struct measured *measured_new(struct session *s, bool kernel_now)
{
	struct measured *m = xcalloc(1, sizeof(*m));

	m->session = s;
	m->kernel_read = kernel_now && proc_image_read_kernel(&m->kernel);
	if (m->kernel_read)
		proc_image_add_trampolines(&m->kernel);
	return m;
}

static struct measured_maps *measured_maps_of(struct measured *m, pid_t tid)
{
	struct measured_maps *known = map_get(&m->maps, (uint64_t)tid);

	if (!known) {
		known = xcalloc(1, sizeof(*known));
		map_set(&m->maps, (uint64_t)tid, known);
	}
	return known;
}

static void measured_maps_free(struct measured_maps *known)
{
	maps_free(&known->maps);
	free(known);
}

void measured_free(struct measured *m)
{
	struct map_slot *slot;
	size_t at = 0;

	if (!m)
		return;
	while ((slot = map_next(&m->maps, &at)))
		measured_maps_free(slot->value);
	if (m->kernel_read)
		proc_image_free(&m->kernel);
	map_free(&m->maps);
	map_free(&m->known);
	free(m);
}

/* Report a process that was read, in pieces that fit into a line of a dump, and free it. */
static void measured_report(struct measured *m, struct proc_image *p)
{
	struct proc_image piece = *p;
	size_t at = 0;

	do {
		piece.maps = p->maps ? p->maps + at : NULL;
		piece.nmaps = p->nmaps - at < PIECE ? p->nmaps - at : PIECE;
		session_measured(m->session, clock_ns(), &piece);
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
		measured_report(m, &m->kernel);
	}
	m->kernel_read = false;
}

/* only_names: no event runs before the next exec, which replaces all mappings. */
static void measured_process(struct measured *m, pid_t tid, bool only_names)
{
	struct proc_image p;
	pid_t parent, pid;

	if (map_set(&m->known, (uint64_t)tid, m))
		return;
	pid = proc_group_of(tid, &parent);
	if (!pid || (pid != tid && map_set(&m->known, (uint64_t)pid, m)))
		return;
	if (!proc_image_read(pid, !only_names, &p))
		proc_image_free(&p);
	else
		measured_report(m, &p);
}

/* Report all processes that were not reported. */
static void measured_all(struct measured *m)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)*d->d_name))
			measured_process(m, (pid_t)atoi(d->d_name), false);
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

	if (event_is_bare(e))
		return;
	measured_kernel(m);
	if (e->flags & PERF_FLAG_PID_CGROUP || e->pid < 0) {
		if (!m->all)
			measured_all(m);
		m->again |= !m->all;
		m->all = true;
	} else {
		pid_t tid = e->pid ? e->pid : e->opener;

		measured_process(m, tid, event_attr(e, ATTR_DISABLED) &&
				 event_attr(e, ATTR_ENABLE_ON_EXEC));
		if (!mappings_recorded(m, event_writes_to(e)->buffer[0]))
			measured_maps_of(m, tid);
	}
}

void measured_call(struct measured *m, const struct call *c)
{
	model_each_recorded(m->session->model, c, measured_event, m);
	/* processes that were created before all rings were mapped are in no record */
	if (m->again && (c->desc->class == CLASS_POLL || (c->desc->id == CALL_IOCTL &&
			 (uint32_t)c->args[1] == PERF_EVENT_IOC_ENABLE))) {
		m->again = false;
		measured_all(m);
	}
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

static void measured_again(struct measured *m, pid_t tid, struct measured_maps *known)
{
	struct proc_image p;
	bool changed = false;
	pid_t parent;

	known->next_ns = clock_ns() + AGAIN_NS;
	if (proc_image_read(proc_group_of(tid, &parent), true, &p))
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
		measured_report(m, &p);
	else
		proc_image_free(&p);
}

/* A sample whose code is looked for in the mappings of its task. */
struct code_search {
	struct measured *measured;
	pid_t tid;
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
	known = measured_maps_of(search->measured, tid);
	if (!maps_find(&known->maps, ip) && clock_ns() >= known->next_ns)
		measured_again(search->measured, tid, known);
	return NULL;
}

void measured_record(struct measured *m, const struct view_record *r)
{
	struct code_search search = { m, r->sure ? event_single_task(r->event) : -1 };
	const struct record_hooks hooks = { .ctx = &search, .symbol = measured_code };
	struct sink sink = { .ops = &sink_null_ops };

	struct record_id id;

	if (record_identify(r->bytes, r->len, r->format, &id) && id.type == PERF_RECORD_SAMPLE &&
	    !mappings_recorded(m, r->ring))
		record_emit(r->bytes, r->len, r->format, NULL, &sink, &hooks);
}

void measured_born(struct measured *m, const struct birth *b)
{
	if (map_get(&m->maps, (uint64_t)b->parent) && b->tid == b->pid)
		measured_maps_of(m, b->tid);
}

bool measured_leave(struct measured *m, pid_t pid)
{
	struct measured_maps *known = map_get(&m->maps, (uint64_t)pid);

	if (known)
		known->next_ns = UINT64_MAX;
	return known;
}

void measured_execed(struct measured *m, pid_t pid)
{
	struct measured_maps *known = map_del(&m->maps, (uint64_t)pid);

	if (!known)
		return;
	measured_maps_free(known);
	measured_again(m, pid, measured_maps_of(m, pid));
}
