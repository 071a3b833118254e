// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "engine/rings/events.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/read_format.h"
#include "core/host/proc.h"
#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "engine/rings/borrow.h"

/* The list ------------------------------------------------------------------------------ */

static struct events_event *events_new(struct events *e)
{
	struct events_event *v = xcalloc(1, sizeof(*v));

	APPEND(e->list, e->n) = v;
	return v;
}

static void events_add_holder(struct events_event *v, const struct events_holder *h)
{
	/* each thread of a process has its mappings */
	for (size_t i = 0; h->reference == EVENTS_MAPPING && i < v->nholders; i++)
		if (v->holders[i].reference == EVENTS_MAPPING && v->holders[i].pid == h->pid &&
		    v->holders[i].start == h->start)
			return;
	APPEND(v->holders, v->nholders) = *h;
}

/* Return the event with that id, which is new if none has it. */
static struct events_event *events_by_id(struct events *e, uint64_t id)
{
	struct events_event *v = map_get(&e->by_id, id);

	if (v)
		return v;
	v = events_new(e);
	v->facts.id = id;
	v->identified = true;
	map_set(&e->by_id, id, v);
	return v;
}

static void events_empty(struct events *e)
{
	for (size_t i = 0; i < e->n; i++) {
		free(e->list[i]->holders);
		free(e->list[i]);
	}
	e->n = e->hidden = 0;
	e->unread = false;
	map_free(&e->by_id);
	e->by_id = (struct map){ 0 };
}

/* Counts through borrowed descriptors ----------------------------------------------------- */

enum { READ_MAX = 64 * 1024 };

enum { NOWHERE = READ_MAX };

/* An event whose count is looked for in a read. */
struct wanted {
	struct events_event *event;
	size_t index;	/* of its value, to find it without ids; NOWHERE: not known */
};

static void keep_value(void *ctx, const struct read_value *v)
{
	const struct wanted *w = ctx;
	struct events_event *to = w->event;

	if (v->has_id ? v->id == to->facts.id : v->index == w->index) {
		to->counted = true;
		to->facts.count = v->value;
	}
	if (v->index || !v->timed)
		return;
	to->timed = true;
	to->facts.enabled_ns = v->enabled;
	to->facts.running_ns = v->running;
}

/*
 * Find the count if all formats with (PERF_FORMAT_ID) or without ids (0) that fit agree on it;
 * return whether any fits.
 */
static bool guess_count(struct events_event *v, uint64_t ids, const uint64_t *words, size_t len)
{
	struct events_event found = { 0 };
	bool fits = false, agree = true;

	for (uint64_t format = 0; format < 32; format++) {
		size_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
		size_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
		uint64_t n = format & PERF_FORMAT_GROUP ? words[0] : 1;
		size_t head = times + !!(format & PERF_FORMAT_GROUP);
		struct events_event g = { .facts.id = v->facts.id };
		struct wanted w = { &g, n == 1 ? 0 : NOWHERE };

		if ((format & PERF_FORMAT_ID) != ids || !n || n > len ||
		    len != (head + n * each) * sizeof(*words))
			continue;
		read_format_each((const uint8_t *)words, len, format, keep_value, &w);
		if ((format & PERF_FORMAT_ID && !g.counted) ||
		    (g.timed && g.facts.running_ns > g.facts.enabled_ns))
			continue;
		agree &= g.counted && (!fits || found.facts.count == g.facts.count);
		fits = true;
		found = g;
	}
	if (fits && agree) {
		v->counted = true;
		v->facts.count = found.facts.count;
	}
	return fits;
}

/*
 * Read the count of an event through a descriptor, whose file offset plays no part.  A read with
 * PERF_FORMAT_GROUP is that of the whole group, whichever member it is of.
 */
static void count_from(const struct events *e, struct events_event *v, int fd)
{
	const struct events_facts *f = &v->facts;
	uint64_t format = layout_get(&layout_perf_event_attr, ATTR_READ_FORMAT, f->attr, f->attr_len);
	struct wanted w = { v, 0 };
	uint64_t *words = xmalloc(READ_MAX);
	ssize_t n = read(fd, words, READ_MAX);
	size_t place = 0, members = 0;

	/* the leader is read, then the others as they joined (perf_group_attach()), thus by id */
	for (size_t i = 0; n > 0 && format & PERF_FORMAT_GROUP && i < e->n; i++) {
		const struct events_facts *other = &e->list[i]->facts;

		members += other->leader == f->leader;
		place += other->leader == f->leader && other->id < f->id;
	}
	if (n > 0 && format & PERF_FORMAT_GROUP) /* the list may lack some of them */
		w.index = members == words[0] ? place : NOWHERE;
	if (n > 0 && f->attr_len)
		read_format_each((uint8_t *)words, (size_t)n, format, keep_value, &w);
	else if (n > 0 && !guess_count(v, PERF_FORMAT_ID, words, (size_t)n))
		guess_count(v, 0, words, (size_t)n); /* a matching id is no coincidence */
	free(words);
}

/* Return a copy of the first descriptor of the event that can be borrowed, or -1. */
static int events_borrow(const struct events_event *v)
{
	for_each(h, v->holders, v->nholders) {
		uint64_t id;
		int fd;

		if (h->reference != EVENTS_DESCRIPTOR)
			continue;
		fd = borrow_fd((pid_t)h->pid, (pid_t)h->tid, (int)h->number);
		/* the descriptor may have been closed and its number used again */
		if (fd >= 0 && proc_fd_is(getpid(), fd, PROC_EVENT_LINK) > 0) {
			id = event_id_of(fd);
			if (!id || id == v->facts.id)
				return fd;
		}
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/*
 * Return whether the kernel's stored count may be older than what a read returns: while it
 * runs, if others inherited it, or if its CPU's clock goes on.
 */
static bool is_stale(const struct events_event *v)
{
	const struct events_facts *f = &v->facts;

	return f->oncpu >= 0 || (f->state >= 0 && !f->target) ||
	       layout_get(&layout_perf_event_attr, ATTR_INHERIT, f->attr, f->attr_len);
}

/* From BPF -------------------------------------------------------------------------------- */

static void add_record(void *ctx, const struct events_record *r)
{
	struct events *e = ctx;
	struct events_event *v = events_by_id(e, r->facts.id);
	struct events_holder h = {
		.reference = r->reference, .pid = r->pid, .tid = r->tid, .number = r->number,
		.start = r->start, .page = r->page,
	};

	memcpy(h.comm, r->comm, EVENTS_COMM);
	events_add_holder(v, &h);
	v->facts = r->facts;
	v->counted = v->timed = true;
}

/* From /proc ------------------------------------------------------------------------------ */

struct proc_walk {
	struct events *e;
	struct events_holder holder;
};

static void add_descriptor(void *ctx, int number, const char *link)
{
	struct proc_walk *w = ctx;
	struct events_holder *h = &w->holder;
	struct events_event *v;
	uint64_t id;
	int fd;

	if (strcmp(link, PROC_EVENT_LINK))
		return;
	h->number = (uint32_t)number;
	fd = borrow_fd((pid_t)h->pid, (pid_t)h->tid, number);
	id = fd < 0 ? 0 : event_id_of(fd);
	v = id ? events_by_id(w->e, id) : events_new(w->e);
	events_add_holder(v, h);
	if (fd < 0)
		return;
	if (v->identified && !v->counted)
		count_from(w->e, v, fd);
	close(fd);
}

static void read_proc(struct events *e)
{
	DIR *d = proc_is_ours() ? sysfile_dir(AT_FDCWD, "/proc") : NULL, *fds;
	const char *name;
	char path[32];

	e->unread = !d;
	while (d && (name = sysfile_next(d))) {
		struct proc_walk w = { .e = e };

		if (*name < '1' || *name > '9')
			continue;
		/* its threads normally share its descriptors */
		w.holder.pid = w.holder.tid = (uint32_t)atoi(name);
		snprintf(path, sizeof(path), "/proc/%u/fd", w.holder.pid);
		fds = opendir(path);
		if (!fds) {
			e->hidden += errno == EACCES || errno == EPERM;
			continue;
		}
		closedir(fds);
		proc_comm((pid_t)w.holder.pid, w.holder.comm, sizeof(w.holder.comm));
		proc_each_fd((pid_t)w.holder.pid, add_descriptor, &w);
	}
	if (d)
		closedir(d);
}

/* All ------------------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
	const struct events_event *const *x = a, *const *y = b;
	uint64_t l = (*x)->facts.id, r = (*y)->facts.id;

	return l < r ? -1 : l > r;
}

void events_open(struct events *e)
{
	*e = (struct events){ 0 };
	e->programs = events_programs_load(&e->why);
}

void events_read(struct events *e)
{
	events_empty(e);
	e->bpf = e->programs && events_programs_run(e->programs, &e->links, add_record, e);
	if (e->programs && !e->bpf && !e->why.len)
		buf_addf(&e->why, "cannot read BPF iterators: %s", strerror(errno));
	for (size_t i = 0; e->bpf && i < e->n; i++) {
		struct events_event *v = e->list[i];
		/* the times of an enabled event go on, even where its task does not run */
		bool old = is_stale(v), enabled = v->facts.state >= 0;
		int fd = old || enabled ? events_borrow(v) : -1;

		v->stale = old && fd < 0;
		v->old_times = !old && enabled && fd < 0;
		if (fd < 0)
			continue;
		v->timed = false;
		count_from(e, v, fd);
		v->old_times = !v->timed;
		v->timed = true;
		close(fd);
	}
	if (!e->bpf) {
		events_empty(e);
		read_proc(e);
	}
	if (e->n)
		qsort(e->list, e->n, sizeof(*e->list), compare_ids);
}

void events_close(struct events *e)
{
	events_empty(e);
	free(e->list);
	buf_free(&e->why);
	events_programs_free(e->programs);
}

size_t events_attr(const struct events_event *v, uint8_t *out)
{
	static const struct layout *const l = &layout_perf_event_attr;
	size_t len = v->facts.attr_len;

	memcpy(out, v->facts.attr, len);
	if (!len)
		return 0;
	field_set(&l->fields[ATTR_TYPE], v->facts.type, out);
	/* the kernel sets it in every attr */
	if (!(layout_get(l, ATTR_SAMPLE_TYPE, out, len) & PERF_SAMPLE_CALLCHAIN))
		field_set(&l->fields[ATTR_SAMPLE_MAX_STACK], 0, out);
	return len;
}
