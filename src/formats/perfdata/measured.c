// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "formats/perfdata/measured.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/host/proc.h"
#include "core/host/proc_image.h"
#include "core/host/sysfile.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/map.h"
#include "core/lib/maps.h"

enum {
	AGAIN_NS = 20000000,	/* between two reads of a process, at least */
	SWEPT_LEAST = 256,	/* processes */
	PIECE = 128,		/* mappings */
	PAUSE_NS = 100000000,	/* at most: other code may be mapped where code was, names change */
};

/* Tasks as events see them that were opened in one PID namespace: these ids are in records. */
struct measured_space {
	struct pidns ns;
	struct map known;	/* our ids of tasks that were reported */
	struct map tasks;	/* process -> struct measured_task; or a thread, if samples have none */
	size_t swept;		/* as many were left when those that ended were last forgotten */
	bool all;		/* all processes were reported */
	bool used;		/* records have its ids */
};

struct measured {
	struct session *session;
	struct measured_space **spaces; /* the first is ours */
	size_t nspaces;
	struct map openers;	/* task -> struct measured_space */
	struct proc_image kernel; /* read at the start */
	bool kernel_read, kernel_reported;
	bool namespaces;	/* an event records them */
	bool cgroups;		/* they were reported */
	bool again;		/* all processes are to be read again before the events run */
};

/* What no event of a ring buffer records: none has mmap or mmap2, or none has comm. */
enum { LACKS_MAPPINGS = 1, LACKS_NAMES = 2 };

struct measured_name {
	struct proc_image_thread thread; /* no name: it had ended */
	pid_t here;		/* in our PID namespace, or 0: not known */
	bool sampled;		/* a sample of it was seen */
};

/* A process as it was when it was last read. */
struct measured_task {
	struct maps maps;	/* if no event records them */
	struct map names;	/* thread -> struct measured_name */
	pid_t here;		/* one of its tasks, or 0: not known */
	uint64_t program;	/* that it ran (proc_program()) */
	uint64_t next_ns;	/* it is not read before */
	uint64_t last_ns;	/* then it is read for any sample */
	uint64_t pause_ns;	/* until that; longer while nothing is new */
	bool reads_maps;
	bool names_births;	/* no event records names */
	char comm[sizeof(((struct proc_image_thread *)0)->comm)]; /* if it could not be read */
};

/* Namespaces and reports ----------------------------------------------------- */

/* Return the tasks as they are in that namespace. */
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

/* Report a process that was read at ns, in pieces that fit into a line of a dump. */
static void measured_report(struct measured *m, uint64_t ns, const struct proc_image *p)
{
	struct proc_image piece = *p;
	size_t at = 0;

	do {
		piece.maps = p->maps ? p->maps + at : NULL;
		piece.nmaps = p->nmaps - at < PIECE ? p->nmaps - at : PIECE;
		session_feed(m->session, &(struct activity){
			ACTIVITY_MEASURED, .measured = { piece, ns },
		});
		piece.nthreads = 0;
		piece.nfunctions = 0;
		piece.records.len = 0;
		at += piece.nmaps;
	} while (at < p->nmaps);
}

/* Processes ------------------------------------------------------------------ */

static void measured_task_clear(struct measured_task *t)
{
	maps_free(&t->maps);
	map_free_values(&t->names);
}

static struct measured_task *measured_task_of(struct measured_space *space, pid_t tid)
{
	struct measured_task *t = map_get(&space->tasks, (uint64_t)tid);
	struct map left = { 0 };

	if (t)
		return t;
	/* forget the processes that have ended, as only those that are traced say so */
	if (space->tasks.len > 2 * space->swept + SWEPT_LEAST) {
		map_each(slot, &space->tasks) {
			t = slot->value;
			if (t->here && proc_group_of(t->here, NULL)) {
				map_set(&left, slot->key, t);
				continue;
			}
			measured_task_clear(t);
			free(t);
		}
		map_free(&space->tasks);
		space->tasks = left;
		space->swept = left.len;
	}
	t = xcalloc(1, sizeof(*t));
	map_set(&space->tasks, (uint64_t)tid, t);
	return t;
}

static void measured_lacks_not(void *ctx, struct event *e)
{
	unsigned int *lacks = ctx;

	if (event_attr(e, ATTR_MMAP) || event_attr(e, ATTR_MMAP2))
		*lacks &= ~LACKS_MAPPINGS;
	if (event_attr(e, ATTR_COMM))
		*lacks &= ~LACKS_NAMES;
}

/* Return what no event that writes to the ring buffer records. */
static unsigned int measured_lacks(struct measured *m, const struct ring *r)
{
	unsigned int lacks = LACKS_MAPPINGS | LACKS_NAMES;

	model_each_writer(m->session->model, r, measured_lacks_not, &lacks);
	return lacks;
}

/* Reading -------------------------------------------------------------------- */

/* Keep the mappings that are new; return whether any is where another was. */
static bool keep_new_maps(struct measured_task *t, struct proc_image *p)
{
	bool replaces = false;
	size_t kept = 0;

	for_each(now, p->maps, p->nmaps) {
		/* not the path: the file may be deleted, and another have its path */
		uint64_t file = now->inode ?
			hash_word(hash_word(HASH_START, now->inode),
				  (uint64_t)now->major << 32 | now->minor) :
			hash_text(HASH_START, now->path);
		struct mapping *before = maps_find(&t->maps, now->start);
		bool same = before && before->file == file &&
			    before->pgoff - before->start == now->pgoff - now->start;

		if (same && before->end == now->end) {
			free(now->path);
			continue;
		}
		replaces |= before && !same;
		maps_add(&t->maps, now->start, now->end, now->pgoff, now->path);
		before = maps_find(&t->maps, now->start);
		if (before)
			before->file = file;
		p->maps[kept++] = *now;
	}
	p->nmaps = kept;
	return replaces;
}

static struct measured_name *measured_name_of(struct measured_task *t, pid_t tid)
{
	struct measured_name *n = map_get(&t->names, (uint64_t)tid);

	if (!n) {
		n = xcalloc(1, sizeof(*n));
		n->thread.tid = tid;
		map_set(&t->names, (uint64_t)tid, n);
	}
	return n;
}

/* Keep the leader and the threads that are new or have new names; return whether any has. */
static bool keep_new_names(struct measured_task *t, struct proc_image *p, bool *replaces)
{
	bool changed = false;
	size_t kept = 0;

	for (size_t i = 0; i < p->nthreads; i++) {
		struct measured_name *n = measured_name_of(t, p->threads[i].tid);
		bool same = !strcmp(n->thread.comm, p->threads[i].comm);

		changed |= !same;
		*replaces |= !same && *n->thread.comm;
		n->thread = p->threads[i];
		if (!i || !same)
			p->threads[kept++] = p->threads[i];
	}
	p->nthreads = kept;
	return changed;
}

/*
 * Read a process and report what is new, for a sample of time_ns, or 0: for none.  What was not
 * there before holds from its start on.  tid: as records have it
 */
static void measured_again(struct measured *m, struct measured_space *space, uint64_t ns,
			   uint64_t time_ns, pid_t tid, struct measured_task *t)
{
	bool changed = false, replaces;
	struct proc_image p;
	uint64_t program;
	pid_t pid;

	t->here = proc_pid_from(&space->ns, tid, t->here);
	pid = t->here ? proc_group_of(t->here, NULL) : 0;
	t->next_ns = pid ? ns + AGAIN_NS : UINT64_MAX;
	if (!pid || !proc_image_read(pid, t->reads_maps, &space->ns, &p)) {
		t->last_ns = UINT64_MAX;
		return;
	}
	program = proc_program(pid);
	t->program = t->program ? t->program : program;
	/* of the exec of another program, the engine will tell */
	if (program == t->program || !model_involved(m->session->model, pid)) {
		replaces = keep_new_maps(t, &p);
		changed = keep_new_names(t, &p, &replaces) || p.nmaps;
		if (replaces)
			p.time_ns = time_ns;
		if (changed)
			measured_report(m, ns, &p);
	}
	t->pause_ns = changed ? AGAIN_NS : 2 * t->pause_ns < PAUSE_NS ? 2 * t->pause_ns : PAUSE_NS;
	t->last_ns = ns + t->pause_ns;
	proc_image_free(&p);
}

/*
 * Note that e measures the process, a task of which is here, and report it, or its names only, at the
 * first time.  Return false, and do nothing, if mappings and names are recorded.
 */
static bool measured_note(struct measured *m, struct measured_space *space, const struct event *e,
			  pid_t here, bool only_names)
{
	const struct ring *r = event_writes_to(e)->buffer[0];
	unsigned int lacks = r ? measured_lacks(m, r) : 0;
	pid_t pid = lacks ? proc_pid_in(&space->ns, proc_group_of(here, NULL)) : 0;
	struct measured_task *t;

	if (!pid)
		return false;
	t = measured_task_of(space, pid);
	t->names_births |= lacks & LACKS_NAMES;
	if (!t->here) {
		t->here = here;
		t->reads_maps = lacks & LACKS_MAPPINGS && !only_names;
		measured_again(m, space, clock_ns(), 0, pid, t);
	}
	t->reads_maps |= lacks & LACKS_MAPPINGS;
	return true;
}

/* Samples -------------------------------------------------------------------- */

/* The code of a sample, in the mappings of its process. */
struct code_search {
	const struct measured_task *task;
	bool missed;
};

static const char *measured_code(void *ctx, int32_t pid, uint64_t ip, unsigned int cpumode,
				 bool after_call)
{
	struct code_search *search = ctx;

	(void)pid, (void)after_call;
	if (cpumode == PERF_RECORD_MISC_USER && !maps_find(&search->task->maps, ip))
		search->missed = true;
	return NULL;
}

/*
 * Report the name of the thread of a sample at the time of its first one: the record of its fork, with
 * which perf gives it its parent's name, is before that, but may be after another's.  A thread that
 * ended before it was read gets the name of its process, which it had at first.
 */
static void measured_sampled(struct measured *m, uint64_t ns, const struct record_id *id,
			     struct measured_task *t)
{
	struct measured_name *n = measured_name_of(t, id->tid);
	const struct measured_name *leader = map_get(&t->names, (uint64_t)id->pid);
	struct proc_image p = {
		.pid = id->pid, .here = t->here, .threads = &n->thread, .nthreads = 1,
		.time_ns = id->time,
	};
	char comm[sizeof(n->thread.comm)];

	if (!*n->thread.comm && leader && *leader->thread.comm) {
		memcpy(n->thread.comm, leader->thread.comm, sizeof(n->thread.comm));
		p.time_ns = 0;
	}
	if (n->sampled)
		return;
	n->sampled = true;
	if (n->here && proc_comm(n->here, comm, sizeof(comm)))
		strcpy(n->thread.comm, comm);
	if (*n->thread.comm && id->has_time)
		measured_report(m, ns, &p);
}

void measured_record(struct measured *m, uint64_t ns, const struct activity_record *r)
{
	struct code_search search = { 0 };
	const struct record_hooks hooks = { .ctx = &search, .symbol = measured_code };
	struct sink sink = { .ops = &sink_null_ops };
	struct measured_space *space;
	struct measured_task *t;
	struct record_id id;
	unsigned int lacks;
	bool named;
	pid_t tid;

	if (!record_identify(r->bytes, r->len, r->format, &id) || id.type != PERF_RECORD_SAMPLE)
		return;
	lacks = measured_lacks(m, r->ring);
	tid = id.has_tid ? id.pid : r->sure ? event_single_task(r->event) : -1;
	if (!lacks || tid <= 0)
		return;
	space = measured_space_of_event(m, r->event);
	search.task = t = measured_task_of(space, tid);
	t->reads_maps |= lacks & LACKS_MAPPINGS;
	t->names_births |= lacks & LACKS_NAMES;
	named = !(lacks & LACKS_NAMES) || !id.has_tid || map_get(&t->names, (uint64_t)id.tid);
	if (lacks & LACKS_MAPPINGS)
		record_emit(r->bytes, r->len, r->format, NULL, &sink, &hooks);
	if ((!named || search.missed || ns >= t->last_ns) && ns >= t->next_ns) {
		measured_again(m, space, ns, id.has_time ? id.time : 0, tid, t);
		named = true; /* or it has ended */
	}
	/* a namespace would be searched for it */
	if (!named && !space->ns.level)
		named = proc_group_of(id.tid, NULL) <= 0;
	if (named && lacks & LACKS_NAMES && id.has_tid)
		measured_sampled(m, ns, &id, t);
}

/* Tasks ---------------------------------------------------------------------- */

/*
 * Read a process anew that is born or has executed another program.  comm: its name then, if known,
 * which it is given at its next exec or end if it cannot be read any more.
 */
static void measured_renew(struct measured *m, struct measured_space *space, pid_t here,
			   const struct measured_task *like, const char *comm)
{
	const struct measured_task fresh = {
		.here = here, .reads_maps = like->reads_maps, .names_births = like->names_births,
	};
	pid_t tid = proc_pid_in(&space->ns, here);
	struct measured_task *t = measured_task_of(space, tid);

	measured_task_clear(t);
	*t = fresh;
	measured_again(m, space, clock_ns(), 0, tid, t);
	if (tid > 0 && t->names_births && !t->names.len)
		snprintf(t->comm, sizeof(t->comm), "%s", comm);
}

static struct measured_task *measured_task_here(const struct measured_space *space, pid_t here)
{
	return space->tasks.len ? map_get(&space->tasks, (uint64_t)proc_pid_in(&space->ns, here)) :
				  NULL;
}

/* Report a thread with the name of its process, which it has at first. */
static void measured_thread_born(struct measured *m, struct measured_space *space,
				 const struct activity_task *b)
{
	struct measured_task *t = measured_task_here(space, b->pid);
	pid_t pid = proc_pid_in(&space->ns, b->pid);
	const struct measured_name *leader = t ? map_get(&t->names, (uint64_t)pid) : NULL;
	struct measured_name *n;

	if (!leader || !t->names_births)
		return;
	n = measured_name_of(t, proc_pid_in(&space->ns, b->tid));
	memcpy(n->thread.comm, leader->thread.comm, sizeof(n->thread.comm));
	n->here = b->tid;
	n->sampled = false;
	measured_report(m, clock_ns(), &(struct proc_image){
		.pid = pid, .here = b->pid, .nthreads = 2,
		.threads = (struct proc_image_thread[]){ leader->thread, n->thread },
	});
}

void measured_born(struct measured *m, const struct activity_task *b, const char *comm)
{
	for (size_t i = 0; i < m->nspaces; i++) {
		const struct measured_task *parent = measured_task_here(m->spaces[i], b->parent);

		map_del(&m->spaces[i]->known, (uint64_t)b->tid); /* another had the id */
		if (b->tid != b->pid)
			measured_thread_born(m, m->spaces[i], b);
		else if (parent)
			measured_renew(m, m->spaces[i], b->tid, parent, comm);
	}
}

bool measured_leave(struct measured *m, pid_t pid)
{
	bool left = false;

	for (size_t i = 0; i < m->nspaces; i++) {
		struct measured_task *t = measured_task_here(m->spaces[i], pid);

		if (t)
			t->next_ns = UINT64_MAX;
		left |= t != NULL;
	}
	return left;
}

void measured_execed(struct measured *m, pid_t pid, const char *comm)
{
	for (size_t i = 0; i < m->nspaces; i++) {
		struct measured_task *t = measured_task_here(m->spaces[i], pid);

		if (t)
			measured_renew(m, m->spaces[i], pid, t, comm);
	}
}

void measured_gone(struct measured *m, pid_t tid)
{
	for (size_t i = 0; i < m->nspaces; i++) {
		struct measured_task *t = measured_task_here(m->spaces[i], tid);
		struct proc_image_thread thread = { 0 };

		/* the name of a process that could not be read, from its start on */
		if (!t || !*t->comm || t->names.len)
			continue;
		thread.tid = proc_pid_in(&m->spaces[i]->ns, tid);
		memcpy(thread.comm, t->comm, sizeof(thread.comm));
		*t->comm = '\0';
		measured_report(m, clock_ns(), &(struct proc_image){
			.pid = thread.tid, .here = tid, .threads = &thread, .nthreads = 1,
		});
	}
}

/* Events ----------------------------------------------------------------------- */

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
		map_each(slot, &m->spaces[i]->tasks)
			measured_task_clear(slot->value);
		map_free_values(&m->spaces[i]->tasks);
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

void measured_task(struct measured *m, pid_t tid)
{
	struct ring *r;

	for (size_t i = 0; (r = model_mapping(m->session->model, tid, i)); i++)
		if (!r->aux)
			model_each_writer(m->session->model, r, measured_event, m);
}
