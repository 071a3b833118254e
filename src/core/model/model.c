// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/host/proc.h"
#include "core/lib/die.h"
#include "core/model/state.h"

struct model *model_new(const struct names *names, bool keep)
{
	struct model *m = xcalloc(1, sizeof(*m));

	m->names = names;
	m->keep = keep;
	m->opened.cpus = names->cpus;
	return m;
}

void model_keep_few(struct model *m)
{
	m->few = true;
}

struct task *model_task(const struct model *m, pid_t tid)
{
	return map_get(&m->tasks, (uint64_t)tid);
}

static void model_task_free(struct task *t)
{
	/* the space last: an event ends with its last mapping */
	fdtab_unref(t->files);
	space_unref(t->space);
	event_unref(t->about);
	free(t);
}

void model_free(struct model *m)
{
	if (!m)
		return;
	map_each(slot, &m->tasks)
		model_task_free(slot->value);
	for (size_t i = 0; i < m->unheld.n; i++)
		event_unref(m->unheld.items[i]);
	free(m->unheld.items);
	for (size_t i = 0; i < m->detached.n; i++)
		model_task_free(m->detached.items[i]);
	free(m->detached.items);
	for (size_t i = 0; i < m->tasks_seen.n; i++) {
		struct task_info *info = m->tasks_seen.items[i];

		for (size_t k = 0; k < info->npolled; k++)
			ring_unref(info->polled[k]);
		free(info->polled);
		free(info);
	}
	for (size_t i = 0; i < m->rings.n; i++)
		ring_unref(m->rings.items[i]);
	model_forget_messages(m, UINT64_MAX);
	for (size_t i = 0; i < m->events.n; i++)
		if (m->events.items[i])
			event_redirect(m->events.items[i], NULL);
	for (size_t i = 0; i < m->events.n; i++)
		event_unref(m->events.items[i]);
	free(m->tasks_seen.items);
	free(m->rings.items);
	free(m->events.items);
	for (size_t i = 0; i < m->nattempts; i++) {
		attr_forget(m, m->attempts[i].attr);
		free(m->attempts[i].probed);
		free(m->attempts[i].because);
	}
	free(m->attempts);
	map_free(&m->attrs);
	map_free(&m->tasks);
	map_free(&m->by_id);
	map_free(&m->event_numbers);
	map_free(&m->ring_numbers);
	map_free(&m->name_counts);
	free(m);
}

/* Tasks ---------------------------------------------------------------- */

void model_born(struct model *m, const struct activity_task *b)
{
	struct task *t = xcalloc(1, sizeof(*t)), *from = model_task(m, b->parent);
	struct task *stale = map_set(&m->tasks, (uint64_t)b->tid, t);

	t->tid = b->tid;
	t->pid = b->pid;
	if (m->keep) {
		t->info = xcalloc(1, sizeof(*t->info));
		t->info->tid = b->tid;
		t->info->pid = b->pid;
		if (from && from->info)
			memcpy(t->info->comm, from->info->comm, sizeof(t->info->comm));
		list_add(&m->tasks_seen, t->info);
	}
	t->measured = from && from->measured;
	if (from && b->shares_files) {
		t->files = from->files;
		t->files->refs++;
	} else {
		t->files = from ? fdtab_copy(from->files) : fdtab_new();
	}
	/* rings are not inherited: the kernel maps them VM_DONTCOPY */
	if (from && b->shares_memory) {
		t->space = from->space;
		t->space->refs++;
	} else {
		t->space = space_new();
	}
	if (stale) /* its exit was missed; a damaged dump may name it as its own parent */
		model_task_free(stale);
}

void model_comm(struct model *m, pid_t tid, const char *comm)
{
	struct task *t = model_task(m, tid);

	if (t && t->info)
		snprintf(t->info->comm, sizeof(t->info->comm), "%s", comm);
}

void model_gone(struct model *m, pid_t tid, bool detached)
{
	struct task *t = map_del(&m->tasks, (uint64_t)tid);

	if (t && detached)
		list_add(&m->detached, t);
	else if (t)
		model_task_free(t);
}

void model_execed(struct model *m, pid_t tid, pid_t former)
{
	struct task *t = model_task(m, former);
	struct event *e;
	size_t at = 0;

	if (!t)
		return;
	if (former != tid) {
		struct task *leader;

		map_del(&m->tasks, (uint64_t)former);
		leader = map_set(&m->tasks, (uint64_t)tid, t);
		t->tid = tid;
		if (leader)
			model_task_free(leader);
	}
	/* enable_on_exec */
	while ((e = model_next_event(m, &at)))
		if (e->start == START_EXEC && e->pid == tid)
			e->enabled = true;
	task_own_files(t);
	fdtab_change(t->files, 0, ~0U, CLOSE_ON_EXEC);
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

/* Queries --------------------------------------------------------------- */

bool model_holds(const struct model *m, pid_t tid)
{
	const struct task *t = model_task(m, tid);

	return t && (t->files->events || t->space->nrings);
}

bool model_passing(const struct model *m)
{
	return m->passing;
}

bool model_involved(const struct model *m, pid_t tid)
{
	const struct task *t = model_task(m, tid);

	return t && (t->measured || model_holds(m, tid));
}

void model_closed(struct model *m, pid_t tid, int fd)
{
	struct task *t = model_task(m, tid);

	if (t)
		fdtab_close(t->files, fd);
}

struct event *model_event(const struct model *m, pid_t tid, int fd)
{
	const struct task *t = model_task(m, tid);

	return t ? fdtab_event(t->files, fd) : NULL;
}

struct event *model_linked(const struct model *m, pid_t tid, int fd)
{
	const struct task *t = model_task(m, tid);

	return t ? fdtab_linked(t->files, fd) : NULL;
}

struct event *model_opened(const struct model *m, const struct call *c)
{
	/* an injected descriptor number may be that of an older event */
	if (c->desc->class != CLASS_OPEN || c->failed || c->no_event || c->inject.injected)
		return NULL;
	return model_event(m, c->tid, (int)c->ret);
}

struct event *model_named(const struct model *m, pid_t tid, int fd)
{
	const struct task *t = model_task(m, tid);

	return t && t->about && (t->about_fd == fd || t->about_fd == FOUND_CLOSING) ? t->about :
	       model_event(m, tid, fd);
}

struct event *model_about(const struct model *m, const struct call *c, int *fd)
{
	bool maps = (c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2) &&
		    !(c->args[3] & ABI_MAP_ANONYMOUS);

	*fd = call_int(c, maps ? 4 : 0);
	return maps || c->desc->class == CLASS_IOCTL || c->desc->class == CLASS_READ ||
	       c->desc->class == CLASS_DESC ? model_event(m, c->tid, *fd) : NULL;
}

struct event *model_subject(const struct model *m, const struct call *c)
{
	struct event *e = model_opened(m, c);

	for (unsigned int i = 0; i < c->desc->nargs && !e; i++)
		if (c->desc->args[i].kind == ARG_FD)
			e = model_event(m, c->tid, call_int(c, i));
	return e;
}

struct event *model_event_by_id(const struct model *m, uint64_t id)
{
	return map_get(&m->by_id, id);
}

void model_set_id(struct model *m, struct event *e, uint64_t id)
{
	if (!id || e->id == id)
		return;
	if (map_get(&m->by_id, e->id) == e)
		map_del(&m->by_id, e->id); /* an untrue dump may change an id */
	e->id = id;
	map_set(&m->by_id, id, e);
}

int model_fd_of(const struct model *m, pid_t tid, const struct event *e)
{
	const struct task *t = model_task(m, tid);

	/* the descriptor from the open is usually still valid */
	if (t && fdtab_event(t->files, e->fd) == e)
		return e->fd;
	return t ? fdtab_find(t->files, e) : -1;
}

/* Return whether one of the first n mappings in that range is of the buffer. */
static bool mapped_before(const struct space *s, size_t n, uint64_t start, uint64_t end,
			  const struct ring *buffer)
{
	for (size_t i = 0; i < n; i++)
		if (ring_first(s->rings[i]) == buffer && !s->rings[i]->leaving &&
		    ring_overlaps(s->rings[i], start, end))
			return true;
	return false;
}

void model_each_ring(struct model *m, pid_t tid, uint64_t start, uint64_t end,
		     void (*hook)(void *ctx, struct ring *r), void *ctx)
{
	const struct task *t = model_task(m, tid);

	if (!end)
		end = UINT64_MAX;
	for (size_t i = 0; t && i < t->space->nrings; i++) {
		struct ring *r = t->space->rings[i], *first = ring_first(r);

		/* only buffers that are mapped again are searched for */
		if (!r->aux && !r->leaving && ring_overlaps(r, start, end) &&
		    (first->mappings == 1 || !mapped_before(t->space, i, start, end, first)))
			hook(ctx, r);
	}
}

void model_each_holder(struct model *m,
		       void (*hook)(void *ctx, pid_t tid, pid_t pid), void *ctx)
{
	/* prefer the thread group leader while it exists */
	map_each(slot, &m->tasks) {
		const struct task *t = slot->value;

		if (t->tid == t->pid && t->space->nrings)
			hook(ctx, t->tid, t->pid);
	}
}

void model_each_task(const struct model *m,
		     void (*hook)(void *ctx, pid_t tid, pid_t pid, struct event *about, int fd),
		     void *ctx)
{
	map_each(slot, &m->tasks) {
		const struct task *t = slot->value;

		hook(ctx, t->tid, t->pid, t->about, t->about_fd);
	}
}

void model_each_unidentified(struct model *m,
			     void (*hook)(void *ctx, pid_t pid, pid_t tid, int fd, struct event *e),
			     void *ctx)
{
	struct event *e;
	bool cloexec;
	int fd;

	map_each(slot, &m->tasks) {
		const struct task *t = slot->value;

		for (size_t i = 0; (e = fdtab_next_event(t->files, &i, &fd, &cloexec));)
			if (!e->id)
				hook(ctx, t->pid, t->tid, fd, e);
	}
}

void model_each_fd(struct model *m, pid_t tid,
		   void (*hook)(void *ctx, int fd, bool cloexec, struct event *e),
		   void *ctx)
{
	const struct task *t = model_task(m, tid);
	struct event *e;
	bool cloexec;
	int fd;

	for (size_t at = 0; t && (e = fdtab_next_event(t->files, &at, &fd, &cloexec));)
		hook(ctx, fd, cloexec, e);
}

struct ring *model_mapping(const struct model *m, pid_t tid, size_t i)
{
	const struct task *t = model_task(m, tid);

	return t && i < t->space->nrings ? t->space->rings[i] : NULL;
}

void model_each_writer(struct model *m, const struct ring *r,
		       void (*hook)(void *ctx, struct event *e), void *ctx)
{
	(void)m;
	if (!r->event->output)
		hook(ctx, r->event);
	for (size_t i = 0; i < r->event->nsources; i++)
		hook(ctx, r->event->sources[i]);
}

void model_each_recorded(struct model *m, const struct call *c,
			 void (*hook)(void *ctx, struct event *e), void *ctx)
{
	struct event *e;
	struct ring *r;

	if (c->failed)
		return;
	if (c->desc->class == CLASS_MEMORY) {
		r = model_ring_at(m, c->tid, (uint64_t)c->ret, (uint64_t)c->ret + 1);
		if (r && !r->aux)
			model_each_writer(m, r, hook, ctx);
	} else if (c->desc->id == CALL_IOCTL && (uint32_t)c->args[1] == PERF_EVENT_IOC_SET_OUTPUT) {
		e = model_event(m, c->tid, call_int(c, 0));
		if (e && event_writes_to(e)->buffer[0])
			hook(ctx, e);
	}
}

void model_recorded(struct ring *r, struct event *e, const uint8_t *bytes, size_t len)
{
	uint32_t type = len >= 4 ? (uint32_t)load_uint(bytes, 4) : 0;
	struct ring_totals *to = &r->event->ring;
	uint64_t n = 0;

	r->records++;
	if (type != PERF_RECORD_LOST && type != PERF_RECORD_LOST_SAMPLES) {
		to->records++;
		to->bytes += len;
	}
	if (!e->records)
		e->records = xcalloc(EVENT_RECORD_TYPES, sizeof(*e->records));
	e->records[type < EVENT_RECORD_TYPES ? type : 0]++;
	if (type == PERF_RECORD_LOST && len >= 24) {
		to->lost_reported += n = load_uint(bytes + 16, 8);
		to->bursts++;
		to->burst = n > to->burst ? n : to->burst;
	} else if (type == PERF_RECORD_LOST_SAMPLES && len >= 16) {
		e->samples_lost += n = load_uint(bytes + 8, 8);
	}
	e->lost_reported += n;
}

/* Take from a ring's first page what is unread, and what was overwritten. */
static void ring_take_page(struct ring *r, const struct activity_look *a)
{
	const struct layout *l = &layout_perf_event_mmap_page;
	uint64_t head = layout_get(l, PERF_EVENT_MMAP_PAGE_DATA_HEAD, a->page, a->page_len);
	uint64_t tail = layout_get(l, PERF_EVENT_MMAP_PAGE_DATA_TAIL, a->page, a->page_len);
	struct ring_totals *to = &r->event->ring;
	uint64_t unread;

	if (event_attr(r->event, ATTR_WRITE_BACKWARD))
		head = -head;
	if (r->overwrite)
		unread = to->size && head > to->size ? head - to->size : 0;
	else
		unread = head - tail > to->size ? 0 : head - tail;
	if (r->overwrite && unread > r->unread)
		to->overwritten += unread - r->unread;
	r->unread = unread;
	r->looked_ns = a->ns;
	r->ends_unread = false;
}

void model_looked(const struct activity_look *a)
{
	struct ring *r = a->ring;

	r->event->ring.partly |= a->error || a->torn;
	r->event->ring.missed += a->missed;
	if (a->error) {
		r->blind++;
		r->blind_error = a->error;
		return;
	}
	r->looks++;
	r->missed += a->missed;
	r->torn += a->torn;
	if (a->page_len)
		ring_take_page(r, a);
}

struct ring *model_ring(const struct model *m, unsigned int number)
{
	return map_get(&m->ring_numbers, number);
}

struct ring *model_mapping_at(const struct model *m, pid_t tid, uint64_t start, uint64_t end)
{
	const struct task *t = model_task(m, tid);

	return t ? space_find(t->space, start, end) : NULL;
}

struct ring *model_ring_at(const struct model *m, pid_t tid, uint64_t start, uint64_t end)
{
	struct ring *r = model_mapping_at(m, tid, start, end);

	return r ? ring_first(r) : NULL;
}

struct event *model_event_number(const struct model *m, unsigned int number)
{
	return map_get(&m->event_numbers, number);
}

size_t model_events(const struct model *m, struct event *const **list)
{
	*list = (struct event *const *)m->events.items;
	return m->events.n;
}

uint32_t model_page_size(const struct model *m)
{
	return m->names->page_size;
}

uint32_t model_release(const struct model *m)
{
	return m->names->release;
}

static bool needs_counter(const struct event *e)
{
	uint64_t type = event_attr(e, ATTR_TYPE);

	return type != PERF_TYPE_SOFTWARE && type != PERF_TYPE_TRACEPOINT &&
	       type != PERF_TYPE_BREAKPOINT;
}

bool model_takes_turns(const struct model *m, const struct event *e)
{
	const struct event *leader = e->leader ? e->leader : e;
	bool counter = needs_counter(leader) || needs_counter(e);

	/* few events are multiplexed, and there may be many */
	if (!event_multiplexed(e))
		return false;
	for (size_t i = 0; i < m->events.n && !counter; i++) {
		const struct event *member = m->events.items[i];

		counter = member && member->leader == leader && needs_counter(member);
	}
	return counter;
}

size_t model_rings(const struct model *m, struct ring *const **list)
{
	*list = (struct ring *const *)m->rings.items;
	return m->rings.n;
}

size_t model_attempts(const struct model *m, const struct attempt **list)
{
	*list = m->attempts;
	return m->nattempts;
}

size_t model_tasks(const struct model *m, struct task_info *const **list)
{
	*list = (struct task_info *const *)m->tasks_seen.items;
	return m->tasks_seen.n;
}

/* State from before attach ------------------------------------------------ */

struct adoption {
	struct model *m;
	struct task *task;
	pid_t tid;
	bool all;
	bool epolls;		/* some were found */
	model_id_of *id_of;
	model_ring_event *of;
	void *ctx;
};

static struct event *found_new(struct model *m, const struct task *t, int fd)
{
	struct event *e = event_new(m, NULL, 0);
	char name[64];

	e->found = true;
	e->cpu = -1;
	e->opener = t->pid;
	e->fd = fd;
	snprintf(name, sizeof(name), "event %u, opened before attach", e->number);
	e->name = xstrdup(name);
	return e;
}

struct event *model_found(struct model *m, pid_t tid, int fd, bool cloexec, struct event *e)
{
	struct task *t = model_task(m, tid);

	if (!t)
		return NULL;
	e = e ? e : found_new(m, t, fd);
	if (fd == FOUND_MAPPED) { /* until its ring is found */
		list_add(&m->unheld, event_ref(e));
	} else if (fd == FOUND_CLOSING) {
		event_unref(t->about);
		t->about = event_ref(e);
		t->about_fd = fd;
	} else {
		fdtab_set(t->files, fd, file_new(e), cloexec);
	}
	return e;
}

static void adopt_fd(void *ctx, int fd, const char *link)
{
	struct adoption *a = ctx;
	bool event = !strcmp(link, PROC_EVENT_LINK), cloexec;

	if (!event && strcmp(link, PROC_EPOLL_LINK))
		return;
	cloexec = proc_fd_cloexec(a->tid, fd);
	if (cloexec && !a->all)
		return;
	if (!event) {
		a->epolls = true;
		fdtab_set(a->task->files, fd, file_new(NULL), cloexec);
	} else if (!fdtab_event(a->task->files, fd)) {
		uint64_t id = a->id_of(a->task->pid, a->tid, fd);
		struct event *e = id ? model_event_by_id(a->m, id) : NULL;

		e = model_found(a->m, a->tid, fd, cloexec, e);
		if (e)
			model_set_id(a->m, e, id);
	}
}

static void adopt_epoll(void *ctx, int fd, const char *link)
{
	struct adoption *a = ctx;
	struct file *ep = fdtab_file(a->task->files, fd);
	char name[32];
	int watched;

	if (strcmp(link, PROC_EPOLL_LINK) || !ep)
		return;
	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	for (struct lines l = proc_lines(a->tid, name); proc_next_watched(&l, &watched);)
		if (fdtab_event(a->task->files, watched))
			map_set(&ep->watched, (uint64_t)watched, ep);
}

struct ring *model_found_ring(struct model *m, const struct activity_found_ring *f)
{
	struct task *t = model_task(m, f->tid);
	struct event *e = f->event, *other;
	bool aux = !e || f->aux, cloexec; /* an AUX area is not read */
	struct ring *r;
	int fd;

	for (size_t at = 0; t && !f->event &&
	     (other = fdtab_next_event(t->files, &at, &fd, &cloexec));)
		if (other->found && (!e || other->number < e->number))
			e = other;
	if (!t || !e)
		return NULL;
	r = ring_map(m, t, e, event_known(e) ? e->buffer[aux] : NULL, f->start, f->end, aux);
	if (event_known(e) && !e->buffer[aux])
		e->buffer[aux] = r;
	return r;
}

static void adopt_ring(void *ctx, uint64_t start, uint64_t end)
{
	struct adoption *a = ctx;
	struct activity_found_ring f = { .tid = a->tid, .start = start, .end = end, .aux = true };

	if (a->of)
		f.event = a->of(a->ctx, a->task->pid, start, &f.aux);
	model_found_ring(a->m, &f);
}

void model_adopt(struct model *m, pid_t tid, bool all, model_id_of *id_of)
{
	struct adoption a = {
		.m = m, .task = model_task(m, tid), .tid = tid, .all = all, .id_of = id_of,
	};

	if (!a.task)
		return;
	proc_each_fd(tid, adopt_fd, &a);
	if (a.epolls)
		proc_each_fd(tid, adopt_epoll, &a);
}

void model_adopt_rings(struct model *m, pid_t tid, model_ring_event *of, void *ctx)
{
	struct adoption a = {
		.m = m, .task = model_task(m, tid), .tid = tid, .of = of, .ctx = ctx,
	};

	if (a.task)
		proc_each_map(tid, PROC_EVENT_LINK, adopt_ring, &a);
}
