// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drive/measured.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>

#include "host/proc_image.h"
#include "lib/clock.h"
#include "lib/die.h"
#include "lib/map.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"

enum { PIECE = 128 };	/* mappings */

struct measured {
	struct session *session;
	struct map known;	/* processes that were reported */
	bool kernel, all;	/* so were the kernel, and all processes */
};

struct measured *measured_new(struct session *s)
{
	struct measured *m = xcalloc(1, sizeof(*m));

	m->session = s;
	return m;
}

void measured_free(struct measured *m)
{
	if (!m)
		return;
	map_free(&m->known);
	free(m);
}

/* Report a process that was read, in pieces that fit into a line of a dump, and free it. */
static void measured_report(struct measured *m, struct proc_image *p)
{
	struct proc_image piece = *p;
	size_t at = 0;

	do {
		piece.maps = p->maps + at;
		piece.nmaps = p->nmaps - at < PIECE ? p->nmaps - at : PIECE;
		session_measured(m->session, clock_ns(), &piece);
		piece.nthreads = 0;
		at += piece.nmaps;
	} while (at < p->nmaps);
	proc_image_free(p);
}

static void measured_kernel(struct measured *m)
{
	struct proc_image p;

	if (m->kernel)
		return;
	m->kernel = true;
	if (proc_image_read_kernel(&p))
		measured_report(m, &p);
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

static void measured_all(struct measured *m)
{
	DIR *dir = m->all ? NULL : opendir("/proc");
	struct dirent *d;

	m->all = true;
	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)*d->d_name))
			measured_process(m, (pid_t)atoi(d->d_name), false);
	if (dir)
		closedir(dir);
}

static void measured_event(void *ctx, struct event *e)
{
	struct measured *m = ctx;

	if (event_is_bare(e))
		return;
	measured_kernel(m);
	if (e->flags & PERF_FLAG_PID_CGROUP || e->pid < 0)
		measured_all(m);
	else
		measured_process(m, e->pid ? e->pid : e->opener,
				 event_attr(e, ATTR_DISABLED) &&
				 event_attr(e, ATTR_ENABLE_ON_EXEC));
}

void measured_call(struct measured *m, const struct call *c)
{
	model_each_recorded(m->session->model, c, measured_event, m);
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
