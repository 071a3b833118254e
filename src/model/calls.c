// SPDX-License-Identifier: LGPL-2.1-or-later
/* How each call bears on the state. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "abi/layout.h"
#include "lib/buf.h"
#include "lib/die.h"
#include "model/event_name.h"
#include "model/state.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Kernel ABI that no table of ours prints, from the uapi headers. */
#define EPOLL_ADD 1
#define EPOLL_DEL 2
#define RANGE_UNSHARE 2
#define RANGE_CLOEXEC 4
#define UNSHARE_FILES 0x400
#define CMD_FIOCLEX 0x5451
#define CMD_FIONCLEX 0x5450
#define PERF_IOCTL_TYPE 0x2400

static uint64_t pointer(const struct call *c, unsigned int i)
{
	return c->arch->word == 4 ? (uint32_t)c->args[i] : c->args[i];
}

/* Whether a call is about perf ------------------------------------------ */

static bool polls_event(const struct task *t, const struct call *c)
{
	size_t len;
	const uint8_t *p = call_bytes(c, AT_ENTER, pointer(c, 0), SIZE_MAX, &len);

	for (; p && len >= 8; p += 8, len -= 8)
		if (fdtab_event(t->files,
				(int)layout_get(&layout_pollfd, POLLFD_FD, p, 8)))
			return true;
	return false;
}

static bool selects_event(const struct task *t, const struct call *c)
{
	for (unsigned int set = 1; set <= 3; set++) {
		size_t len;
		const uint8_t *p = call_bytes(c, AT_ENTER, pointer(c, set),
					      SIZE_MAX, &len);

		for (size_t fd = 0; p && fd < 8 * len; fd++)
			if (p[fd / 8] >> fd % 8 & 1 && fdtab_event(t->files, (int)fd))
				return true;
	}
	return false;
}

static bool is_event(const struct task *t, const struct call *c, unsigned int i)
{
	return fdtab_event(t->files, call_int(c, i));
}

static bool touches_ring(const struct task *t, const struct call *c)
{
	uint64_t start = pointer(c, 0);

	return space_touches(t->space, start, start + pointer(c, 1));
}

static bool concerns_desc(const struct task *t, const struct call *c)
{
	switch (c->desc->id) {
	case CALL_CLOSE_RANGE:
		return c->args[2] & RANGE_UNSHARE ||
		       fdtab_event_in_range(t->files, (uint32_t)c->args[0],
					    (uint32_t)c->args[1]);
	case CALL_DUP2:
	case CALL_DUP3:
		return is_event(t, c, 0) || is_event(t, c, 1);
	default:
		return is_event(t, c, 0);
	}
}

static bool concerns_poll(const struct task *t, const struct call *c)
{
	switch (c->desc->id) {
	case CALL_POLL:
	case CALL_PPOLL:
	case CALL_PPOLL_TIME64:
		return polls_event(t, c);
	case CALL_EPOLL_CREATE:
	case CALL_EPOLL_CREATE1:
		return false;
	case CALL_EPOLL_CTL:
		return is_event(t, c, 2);
	case CALL_EPOLL_WAIT:
	case CALL_EPOLL_PWAIT:
	case CALL_EPOLL_PWAIT2:
		return fdtab_watches_event(t->files, call_int(c, 0));
	default:
		return selects_event(t, c);
	}
}

static bool concerns_memory(const struct task *t, const struct call *c)
{
	if (c->desc->id == CALL_MUNMAP || c->desc->id == CALL_MREMAP)
		return touches_ring(t, c);
	return is_event(t, c, 4);
}

static bool is_perf_prctl(const struct call *c)
{
	return c->args[0] == PR_TASK_PERF_EVENTS_DISABLE ||
	       c->args[0] == PR_TASK_PERF_EVENTS_ENABLE;
}

bool model_concerns(struct model *m, const struct call *c)
{
	const struct task *t = model_task(m, c->tid);

	if (!t)
		return c->desc->class == CLASS_OPEN;
	switch (c->desc->class) {
	case CLASS_OPEN:
		return true;
	case CLASS_IOCTL:
		return (c->args[1] & 0xff00) == PERF_IOCTL_TYPE || is_event(t, c, 0);
	case CLASS_MEMORY:
		return concerns_memory(t, c);
	case CLASS_POLL:
		return concerns_poll(t, c);
	case CLASS_READ:
		return is_event(t, c, 0);
	case CLASS_DESC:
		return concerns_desc(t, c);
	case CLASS_PROCESS:
		return c->desc->id == CALL_PRCTL ? is_perf_prctl(c) :
						   model_involved(m, c->tid);
	}
	return true;
}

bool model_needs(enum call_id id)
{
	switch (call_descs[id].class) {
	case CLASS_OPEN:
	case CLASS_MEMORY:
	case CLASS_DESC:
	case CLASS_IOCTL:
		return true;
	default:
		return id == CALL_EPOLL_CTL || id == CALL_UNSHARE;
	}
}

/* What a call changes ---------------------------------------------------- */

static uint64_t hash_name(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3ULL;
	return h;
}

/* "cpu-clock:u cpu0", and from the second of that name on " #2". */
static char *name_event(struct model *m, const struct event *e,
			const uint8_t *attr, size_t len)
{
	struct buf name = { 0 };
	uint64_t key;
	uintptr_t count;

	event_name(attr, len, m->names, &name);
	if (e->cpu >= 0)
		buf_addf(&name, " cpu%d", e->cpu);
	key = hash_name(buf_str(&name));
	count = (uintptr_t)map_get(&m->name_counts, key) + 1;
	map_set(&m->name_counts, key, (void *)count);
	if (count > 1)
		buf_addf(&name, " #%zu", (size_t)count);
	return name.data;
}

/* The task that an event counts is of interest from now on. */
static void mark_measured(struct model *m, const struct call *c, const struct event *e)
{
	struct task *target;

	if (e->flags & PERF_FLAG_PID_CGROUP || e->pid < 0)
		return;
	target = model_task(m, e->pid ? e->pid : c->tid);
	if (target)
		target->measured = true;
}

static void opened(struct model *m, struct task *t, const struct call *c)
{
	struct event *e = xcalloc(1, sizeof(*e));
	size_t len;
	const uint8_t *attr = call_bytes(c, AT_ENTER, pointer(c, 0), SIZE_MAX, &len);

	e->number = ++m->events;
	e->pid = call_int(c, 1);
	e->cpu = call_int(c, 2);
	e->flags = c->args[4];
	e->read_format = layout_get(&layout_perf_event_attr, ATTR_READ_FORMAT, attr, len);
	e->name = name_event(m, e, attr, len);
	fdtab_set(t->files, (int)c->ret, file_new(e), e->flags & PERF_FLAG_FD_CLOEXEC);
	mark_measured(m, c, e);
}

static void duplicate(struct task *t, const struct call *c, bool cloexec)
{
	struct file *f = fdtab_file(t->files, call_int(c, 0));

	if (c->ret == call_int(c, 0))
		return; /* dup2 on itself changes nothing */
	if (f)
		fdtab_set(t->files, (int)c->ret, f, cloexec);
	else
		fdtab_close(t->files, (int)c->ret); /* something else stands there now */
}

static void after_fcntl(struct task *t, const struct call *c)
{
	switch (call_int(c, 1)) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		duplicate(t, c, call_int(c, 1) == F_DUPFD_CLOEXEC);
		break;
	case F_SETFD:
		fdtab_set_cloexec(t->files, call_int(c, 0), c->args[2] & FD_CLOEXEC);
		break;
	}
}

static void after_ioctl(struct task *t, const struct call *c)
{
	if (c->args[1] == CMD_FIOCLEX || c->args[1] == CMD_FIONCLEX)
		fdtab_set_cloexec(t->files, call_int(c, 0), c->args[1] == CMD_FIOCLEX);
}

static void after_close_range(struct task *t, const struct call *c)
{
	uint32_t first = (uint32_t)c->args[0], last = (uint32_t)c->args[1];

	if (c->args[2] & RANGE_UNSHARE)
		task_own_files(t);
	if (c->args[2] & RANGE_CLOEXEC)
		fdtab_cloexec_range(t->files, first, last);
	else
		fdtab_close_range(t->files, first, last);
}

static void after_epoll_ctl(struct task *t, const struct call *c)
{
	struct file *ep = fdtab_file(t->files, call_int(c, 0));
	uint64_t fd = (uint32_t)c->args[2];

	if (call_int(c, 1) == EPOLL_ADD && is_event(t, c, 2)) {
		if (!ep) { /* made before the process held any event */
			ep = file_new(NULL);
			fdtab_set(t->files, call_int(c, 0), ep, false);
		}
		map_set(&ep->watched, fd, ep);
	} else if (call_int(c, 1) == EPOLL_DEL && ep) {
		map_del(&ep->watched, fd);
	}
}

static void after_memory(struct task *t, const struct call *c)
{
	uint64_t start = pointer(c, 0), end = start + pointer(c, 1);
	uint64_t ret = (uint64_t)c->ret;

	switch (c->desc->id) {
	case CALL_MUNMAP:
		space_remove(t->space, start, end);
		break;
	case CALL_MREMAP:
		if (!touches_ring(t, c))
			break;
		space_remove(t->space, start, end);
		space_add(t->space, ret, ret + pointer(c, 2));
		break;
	default:
		if (is_event(t, c, 4))
			space_add(t->space, ret, ret + pointer(c, 1));
	}
}

/*
 * A descriptor that is being closed is gone from the start: its number can be
 * another thread's new event before the close's own return is seen.
 */
void model_enter(struct model *m, const struct call *c)
{
	struct task *t = model_task(m, c->tid);

	if (t && c->desc->id == CALL_CLOSE)
		fdtab_close(t->files, call_int(c, 0));
}

void model_exit(struct model *m, const struct call *c)
{
	struct task *t = model_task(m, c->tid);

	if (!t || !c->returned || c->failed)
		return;
	switch (c->desc->id) {
	case CALL_PERF_EVENT_OPEN:
		opened(m, t, c);
		break;
	case CALL_DUP:
	case CALL_DUP2:
		duplicate(t, c, false);
		break;
	case CALL_DUP3:
		duplicate(t, c, c->args[2] & O_CLOEXEC);
		break;
	case CALL_FCNTL:
	case CALL_FCNTL64:
		after_fcntl(t, c);
		break;
	case CALL_IOCTL:
		after_ioctl(t, c);
		break;
	case CALL_CLOSE_RANGE:
		after_close_range(t, c);
		break;
	case CALL_EPOLL_CTL:
		after_epoll_ctl(t, c);
		break;
	case CALL_MMAP:
	case CALL_MMAP2:
	case CALL_MUNMAP:
	case CALL_MREMAP:
		after_memory(t, c);
		break;
	case CALL_UNSHARE:
		if (c->args[0] & UNSHARE_FILES)
			task_own_files(t);
		break;
	default:
		break;
	}
}
