// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/perfdata/measured_internal.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>

#include "core/host/proc_image.h"
#include "core/host/sysfile.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

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

void measured_free(struct measured *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nspaces; i++) {
		measured_free_tasks(m->spaces[i]);
		map_free(&m->spaces[i]->known);
		free(m->spaces[i]);
	}
	if (m->kernel_read)
		proc_image_free(&m->kernel);
	map_free(&m->openers);
	free(m->spaces);
	free(m);
}

/* only_names: no event runs before the next exec, which replaces all mappings. */
static void measured_process(struct measured *m, struct measured_space *space, pid_t tid,
			     bool only_names)
{
	struct proc_image p;
	pid_t pid;

	if (map_set(&space->known, (uint64_t)tid, m))
		return;
	pid = proc_group_of(tid, NULL);
	if (!pid || (pid != tid && map_set(&space->known, (uint64_t)pid, m)))
		return;
	if (!proc_image_read(pid, !only_names, &space->ns, &p))
		return;
	if (m->namespaces)
		proc_image_add_namespaces(&p);
	measured_report(m, clock_ns(), &p);
	proc_image_free(&p);
}

/* Report all processes that were not reported. */
static void measured_all(struct measured *m, struct measured_space *space)
{
	DIR *dir = sysfile_dir(AT_FDCWD, "/proc");
	const char *name;

	while (dir && (name = sysfile_next(dir)))
		if (isdigit((unsigned char)*name))
			measured_process(m, space, (pid_t)atoi(name), false);
	if (dir)
		closedir(dir);
}

/*
 * Note what an event records of processes and cgroups, and report the cgroups; and the format of a
 * tracepoint, which perf.data files have also if there is no record.
 */
static void measured_attr(struct measured *m, const struct event *e)
{
	const struct names *names = &m->session->names;
	struct proc_image p = { .pid = -1, .here = -1 };

	if (event_attr(e, ATTR_TYPE) == PERF_TYPE_TRACEPOINT)
		names->format(names, event_attr(e, ATTR_CONFIG));
	m->namespaces |= event_attr(e, ATTR_NAMESPACES);
	if (!event_attr(e, ATTR_CGROUP) || m->cgroups)
		return;
	m->cgroups = true;
	proc_image_add_cgroups(&p);
	measured_report(m, clock_ns(), &p);
	proc_image_free(&p);
}

static void measured_event(void *ctx, struct event *e)
{
	struct measured *m = ctx;
	struct measured_space *space;
	size_t others = 0;
	bool only_names;
	pid_t tid;

	if (event_is_bare(e))
		return;
	if (!m->kernel_reported && (m->kernel_read || proc_image_read_kernel(&m->kernel))) {
		proc_image_update_functions(&m->kernel);
		measured_report(m, clock_ns(), &m->kernel);
		proc_image_free(&m->kernel);
		m->kernel_read = false;
	}
	m->kernel_reported = true;
	measured_attr(m, e);
	space = measured_space_of_event(m, e);
	for (size_t i = 0; i < m->nspaces; i++)
		others += m->spaces[i]->used && m->spaces[i] != space;
	if (!space->used && others == 1)
		warn("events of several PID namespaces are traced, and records have the ids that "
		     "tasks have there: perf cannot tell tasks with the same id apart in a "
		     "perf.data file of them; use --perf-data in one of the namespaces");
	space->used = true;
	if (event_has_all_tasks(e)) {
		if (!space->all)
			measured_all(m, space);
		m->again = true;
		space->all = true;
		return;
	}
	if (e->pid < 0)
		return;
	tid = e->pid ? e->pid : e->opener;
	only_names = event_attr(e, ATTR_DISABLED) && event_attr(e, ATTR_ENABLE_ON_EXEC);
	if (!measured_note(m, space, e, tid, only_names))
		measured_process(m, space, tid, only_names);
}

void measured_call(struct measured *m, const struct call *c)
{
	/* perf maps rings when all events are open, and another than the first may record namespaces */
	if (c->desc->id == CALL_PERF_EVENT_OPEN && !c->failed) {
		const struct event *e = model_event(m->session->model, c->tid, (int)c->ret);

		if (e && event_attr(e, ATTR_NAMESPACES))
			m->namespaces = true;
	}
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

static void measured_ring(void *ctx, struct ring *r)
{
	struct measured *m = ctx;

	if (!r->aux)
		model_each_writer(m->session->model, r, measured_event, m);
}

void measured_task(struct measured *m, pid_t tid)
{
	model_each_mapping(m->session->model, tid, measured_ring, m);
}
