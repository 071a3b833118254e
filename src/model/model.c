// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/proc.h"
#include "lib/die.h"
#include "model/event_name.h"
#include "model/state.h"

struct model *model_new(const struct names *names)
{
	struct model *m = xcalloc(1, sizeof(*m));

	m->names = names;
	return m;
}

/* Rings ---------------------------------------------------------------- */

struct space *space_new(void)
{
	struct space *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	return s;
}

static void space_unref(struct space *s)
{
	if (--s->refs)
		return;
	free(s->rings);
	free(s);
}

void space_add(struct space *s, uint64_t start, uint64_t end)
{
	s->rings = xrealloc(s->rings, (s->nrings + 1) * sizeof(*s->rings));
	s->rings[s->nrings++] = (struct ring){ start, end };
}

bool space_touches(const struct space *s, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < s->nrings; i++)
		if (s->rings[i].start < end && start < s->rings[i].end)
			return true;
	return false;
}

void space_remove(struct space *s, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nrings; i++)
		if (s->rings[i].start >= end || start >= s->rings[i].end)
			s->rings[kept++] = s->rings[i];
	s->nrings = kept;
}

/* Tasks ---------------------------------------------------------------- */

struct task *model_task(const struct model *m, pid_t tid)
{
	return map_get(&m->tasks, (uint64_t)tid);
}

static void task_free(struct task *t)
{
	fdtab_unref(t->files);
	space_unref(t->space);
	free(t);
}

void model_free(struct model *m)
{
	struct map_slot *slot;
	size_t at = 0;

	if (!m)
		return;
	while ((slot = map_next(&m->tasks, &at)))
		task_free(slot->value);
	map_free(&m->tasks);
	map_free(&m->name_counts);
	free(m);
}

void model_born(struct model *m, pid_t tid, pid_t pid, pid_t parent,
		bool shares_files, bool shares_memory)
{
	struct task *t = xcalloc(1, sizeof(*t)), *from = model_task(m, parent);
	struct task *stale = map_set(&m->tasks, (uint64_t)tid, t);

	if (stale) /* the number was used before and its end not seen */
		task_free(stale);
	t->pid = pid;
	if (!from) {
		t->files = fdtab_new();
		t->space = space_new();
		return;
	}
	t->measured = from->measured;
	t->files = shares_files ? fdtab_ref(from->files) : fdtab_copy(from->files);
	/* rings are not inherited: the kernel maps them VM_DONTCOPY */
	t->space = shares_memory ? from->space : space_new();
	if (shares_memory)
		t->space->refs++;
}

void model_gone(struct model *m, pid_t tid)
{
	struct task *t = map_del(&m->tasks, (uint64_t)tid);

	if (t)
		task_free(t);
}

void model_execed(struct model *m, pid_t tid, pid_t former)
{
	struct task *t = model_task(m, former);

	if (!t)
		return;
	if (former != tid) {
		struct task *leader;

		map_del(&m->tasks, (uint64_t)former);
		leader = map_set(&m->tasks, (uint64_t)tid, t);
		if (leader)
			task_free(leader);
	}
	task_own_files(t);
	fdtab_close_on_exec(t->files);
	space_unref(t->space);
	t->space = space_new();
}

void task_own_files(struct task *t)
{
	struct fdtab *copy;

	if (t->files->refs == 1)
		return;
	copy = fdtab_copy(t->files);
	fdtab_unref(t->files);
	t->files = copy;
}

bool model_holds(const struct model *m, pid_t tid)
{
	const struct task *t = model_task(m, tid);

	return t && (t->files->events || t->space->nrings);
}

bool model_involved(const struct model *m, pid_t tid)
{
	const struct task *t = model_task(m, tid);

	return t && (t->measured || model_holds(m, tid));
}

const struct event *model_event(const struct model *m, pid_t tid, int fd)
{
	const struct task *t = model_task(m, tid);

	return t ? fdtab_event(t->files, fd) : NULL;
}

/* What was there before us ---------------------------------------------- */

struct adoption {
	struct model *m;
	struct task *task;
	pid_t tid;
	int epfd;
};

static void adopt_event(struct adoption *a, int fd, bool cloexec)
{
	struct event *e = xcalloc(1, sizeof(*e));
	struct file *f = file_new(e);
	char name[64];

	e->number = ++a->m->events;
	e->found = true;
	snprintf(name, sizeof(name), "event %u, opened before", e->number);
	e->name = xstrdup(name);
	fdtab_set(a->task->files, fd, f, cloexec);
}

static void adopt_fd(void *ctx, int fd, bool cloexec, const char *link)
{
	struct adoption *a = ctx;

	if (!strcmp(link, PROC_EVENT_LINK))
		adopt_event(a, fd, cloexec);
	else if (!strcmp(link, PROC_EPOLL_LINK))
		fdtab_set(a->task->files, fd, file_new(NULL), cloexec);
}

static void adopt_watched(void *ctx, int fd)
{
	struct adoption *a = ctx;
	struct file *ep = fdtab_file(a->task->files, a->epfd);

	if (fdtab_event(a->task->files, fd))
		map_set(&ep->watched, (uint64_t)fd, ep);
}

static void adopt_epoll(void *ctx, int fd, bool cloexec, const char *link)
{
	struct adoption *a = ctx;

	(void)cloexec;
	if (strcmp(link, PROC_EPOLL_LINK) || !fdtab_file(a->task->files, fd))
		return;
	a->epfd = fd;
	proc_each_watched(a->tid, fd, adopt_watched, a);
}

static void adopt_ring(void *ctx, uint64_t start, uint64_t end)
{
	struct adoption *a = ctx;

	space_add(a->task->space, start, end);
}

void model_adopt(struct model *m, pid_t tid)
{
	struct adoption a = { .m = m, .task = model_task(m, tid), .tid = tid };

	if (!a.task)
		return;
	proc_each_fd(tid, adopt_fd, &a);
	proc_each_fd(tid, adopt_epoll, &a);
	proc_each_map(tid, PROC_EVENT_LINK, adopt_ring, &a);
}
