// SPDX-License-Identifier: LGPL-2.1-or-later
/* What each call changes. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "abi/ioctl.h"
#include "abi/layout.h"
#include "abi/pass.h"
#include "abi/read_format.h"
#include "lib/buf.h"
#include "lib/die.h"
#include "lib/hash.h"
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
#define MSG_CLOEXEC 0x40000000	/* MSG_CMSG_CLOEXEC */

static uint64_t pointer(const struct call *c, unsigned int i)
{
	return c->arch->word == 4 ? (uint32_t)c->args[i] : c->args[i];
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
	key = hash_text(HASH_START, buf_str(&name));
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

static uint64_t attr_get(const struct event *e, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, e->attr, e->attr_len);
}

/* The attr as the call passed it, as much as is kept. */
static size_t keep_attr(const struct call *c, uint8_t kept[EVENT_ATTR_MAX])
{
	size_t len;
	const uint8_t *attr = call_bytes(c, AT_ENTER, pointer(c, 0), EVENT_ATTR_MAX, &len);

	if (attr)
		memcpy(kept, attr, len);
	return len;
}

static void set_start(struct event *e)
{
	if (attr_get(e, ATTR_ENABLE_ON_EXEC))
		e->start = START_EXEC;
	else if (!attr_get(e, ATTR_DISABLED))
		e->start = START_OPEN;
	e->enabled = !attr_get(e, ATTR_DISABLED);
}

/* A member counts only while its leader does. */
static void follow_leader(struct event *e)
{
	if (e->leader && e->start == START_OPEN && e->leader->start != START_OPEN) {
		e->start = START_LEADER;
		e->enabled = e->leader->enabled;
	}
}

/* group_fd leads the group, or with FD_OUTPUT lends its ring. */
static void join(struct event *e, const struct task *t, const struct call *c)
{
	struct event *other = fdtab_event(t->files, call_int(c, 3));

	if (!other)
		return;
	if (e->flags & PERF_FLAG_FD_OUTPUT)
		event_redirect(e, other);
	if (!(e->flags & PERF_FLAG_FD_NO_GROUP))
		e->leader = event_ref(other->leader ? other->leader : other);
}

static void opened(struct model *m, struct task *t, const struct call *c)
{
	struct event *e = event_new(m);

	e->attr_len = keep_attr(c, e->attr);
	e->read_format = attr_get(e, ATTR_READ_FORMAT);
	e->format_known = true;
	e->pid = call_int(c, 1);
	e->cpu = call_int(c, 2);
	e->flags = c->args[4];
	e->opener = c->tid;
	e->fd = (int)c->ret;
	e->name = name_event(m, e, e->attr, e->attr_len);
	set_start(e);
	join(e, t, c);
	follow_leader(e);
	fdtab_set(t->files, e->fd, file_new(e), e->flags & PERF_FLAG_FD_CLOEXEC);
	mark_measured(m, c, e);
	if (t->info)
		t->info->opens++;
}

static void failed_to_open(struct model *m, struct task *t, const struct call *c)
{
	struct attempt *a;

	if (!m->keep)
		return;
	m->attempts = xrealloc(m->attempts, (m->nattempts + 1) * sizeof(*a));
	a = &m->attempts[m->nattempts++];
	*a = (struct attempt){
		.tid = c->tid, .error = (int)c->ret, .injected = c->tamper.injected,
		.pid = call_int(c, 1), .cpu = call_int(c, 2), .group_fd = call_int(c, 3),
		.flags = c->args[4], .events = m->nevents,
	};
	a->attr_len = keep_attr(c, a->attr);
	if (t->info)
		t->info->failures++;
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

static void enable(struct event *e, bool on, enum event_start how)
{
	e->enabled = on;
	if (on && e->start == START_NEVER)
		e->start = how;
}

/*
 * Where members of a group can begin in the list of all events: behind their
 * leader.  What came long before is not looked through at each call.
 */
static size_t group_begins(const struct event *leader)
{
	return leader->number - 1;
}

/* PERF_IOC_FLAG_GROUP: every member of the group that the event leads. */
static void control(struct model *m, struct event *e, const struct call *c, bool on)
{
	struct event *leader = e->leader ? e->leader : e;

	e->controls++;
	enable(e, on, START_IOCTL);
	if (!(c->args[2] & PERF_IOC_FLAG_GROUP))
		return;
	for (size_t i = group_begins(leader); i < m->events.n; i++) {
		struct event *member = m->events.items[i];

		if (member == leader || member->leader == leader)
			enable(member, on, START_IOCTL);
	}
}

static void set_filter(struct event *e, const struct call *c)
{
	size_t len;
	const uint8_t *text = call_bytes(c, AT_ENTER, pointer(c, 2), SIZE_MAX, &len);

	if (!text || !memchr(text, '\0', len))
		return;
	free(e->filter);
	e->filter = xstrdup((const char *)text);
}

static void perf_ioctl(struct model *m, struct task *t, struct event *e,
		       const struct ioctl_desc *d, const struct call *c)
{
	size_t len;
	const uint8_t *id;

	switch (d->request) {
	case PERF_EVENT_IOC_ENABLE:
	case PERF_EVENT_IOC_REFRESH:
		control(m, e, c, true);
		break;
	case PERF_EVENT_IOC_DISABLE:
		control(m, e, c, false);
		break;
	case PERF_EVENT_IOC_RESET:
		e->controls++;
		break;
	case PERF_EVENT_IOC_SET_OUTPUT:
		event_redirect(e, fdtab_event(t->files, call_int(c, 2)));
		break;
	case PERF_EVENT_IOC_SET_FILTER:
		set_filter(e, c);
		break;
	case PERF_EVENT_IOC_ID:
		id = call_bytes(c, AT_EXIT, pointer(c, 2), 8, &len);
		if (id && len == 8)
			model_set_id(m, e, load_uint(id, 8));
		break;
	}
}

static void after_ioctl(struct model *m, struct task *t, const struct call *c)
{
	const struct ioctl_desc *d = ioctl_of(c);
	struct event *e = fdtab_event(t->files, call_int(c, 0));

	if (c->args[1] == CMD_FIOCLEX || c->args[1] == CMD_FIONCLEX)
		fdtab_set_cloexec(t->files, call_int(c, 0), c->args[1] == CMD_FIOCLEX);
	else if (d && e)
		perf_ioctl(m, t, e, d, c);
}

/* All events that the process opened, siblings too (perf_event_task_enable). */
static void after_prctl(struct model *m, const struct call *c)
{
	bool on = c->args[0] == PR_TASK_PERF_EVENTS_ENABLE;

	if (!on && c->args[0] != PR_TASK_PERF_EVENTS_DISABLE)
		return;
	for (size_t i = 0; i < m->events.n; i++) {
		struct event *e = m->events.items[i];

		if (e->opener == c->tid && !e->closed)
			enable(e, on, START_PRCTL);
	}
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

	if (call_int(c, 1) == EPOLL_ADD && fdtab_event(t->files, (int)fd)) {
		if (!ep && call_int(c, 0) < 0)
			return;
		if (!ep) { /* made before the process held any event */
			ep = file_new(NULL);
			fdtab_set(t->files, call_int(c, 0), ep, false);
		}
		map_set(&ep->watched, fd, ep);
	} else if (call_int(c, 1) == EPOLL_DEL && ep) {
		map_del(&ep->watched, fd);
	}
}

static void mapped(struct model *m, struct task *t, struct event *e,
		   const struct call *c)
{
	struct ring *r = ring_new(m, e);

	r->pid = t->pid;
	r->start = (uint64_t)c->ret;
	r->end = r->start + pointer(c, 1);
	r->aux = pointer(c, 5) != 0;
	r->overwrite = !(c->args[2] & PROT_WRITE);
	e->maps++;
	space_add(t->space, r);
}

static void after_mremap(struct task *t, const struct call *c)
{
	uint64_t start = pointer(c, 0);
	struct ring *r = space_find(t->space, start, start + pointer(c, 1));

	if (!r)
		return;
	r->start = (uint64_t)c->ret;
	r->end = r->start + pointer(c, 2);
}

static void after_memory(struct model *m, struct task *t, const struct call *c)
{
	uint64_t start = pointer(c, 0);
	struct event *e;

	switch (c->desc->id) {
	case CALL_MUNMAP:
		space_remove(t->space, start, start + pointer(c, 1));
		break;
	case CALL_MREMAP:
		after_mremap(t, c);
		break;
	default:
		e = fdtab_event(t->files, call_int(c, 4));
		if (e)
			mapped(m, t, e, c);
	}
}

/* Reading and waiting ---------------------------------------------------- */

struct reading {
	struct model *m;
	struct event *leader;
	bool group;
};

/* The member of a group that a value belongs to: by id, else by its place. */
static struct event *member(const struct reading *r, const struct read_value *v)
{
	size_t place = 0;

	if (!r->group)
		return r->leader;
	if (v->has_id)
		return model_event_by_id(r->m, v->id);
	for (size_t i = group_begins(r->leader); i < r->m->events.n; i++) {
		struct event *e = r->m->events.items[i];

		if ((e == r->leader || e->leader == r->leader) && !e->closed &&
		    place++ == v->index)
			return e;
	}
	return NULL;
}

static void take_value(void *ctx, const struct read_value *v)
{
	const struct reading *r = ctx;
	struct event *e = member(r, v);

	if (!e)
		return;
	e->count = (struct event_count){
		.known = true, .timed = v->timed, .value = v->value,
		.enabled = v->enabled, .running = v->running,
	};
	if (v->has_lost)
		e->lost_read = v->lost;
	if (v->has_id && !r->group)
		model_set_id(r->m, e, v->id);
}

static void after_read(struct model *m, struct task *t, const struct call *c)
{
	struct event *e = fdtab_event(t->files, call_int(c, 0));
	struct reading r = { .m = m };
	const uint8_t *p;
	size_t len;

	if (!e)
		return;
	e->reads++;
	if (t->info)
		t->info->reads++;
	p = call_bytes(c, AT_EXIT, pointer(c, 1), SIZE_MAX, &len);
	r.group = e->read_format & PERF_FORMAT_GROUP;
	r.leader = r.group && e->leader ? e->leader : e;
	if (p && e->format_known)
		read_format_each(p, len, e->read_format, take_value, &r);
}

static void note_polled(struct task *t, struct ring *r)
{
	r->polls++;
	if (!t->info)
		return;
	for (size_t i = 0; i < t->info->npolled; i++)
		if (t->info->polled[i] == r)
			return;
	t->info->polled = xrealloc(t->info->polled,
				   (t->info->npolled + 1) * sizeof(struct ring *));
	t->info->polled[t->info->npolled++] = ring_ref(r);
}

/* Waiting for an event is waiting for the ring that its records go to. */
static void polls(void *ctx, struct task *t, int fd)
{
	struct event *e = fdtab_event(t->files, fd);

	(void)ctx;
	if (!e)
		return;
	if (e->output)
		e = e->output;
	for (size_t i = 0; i < t->space->nrings; i++)
		if (t->space->rings[i]->event == e && !t->space->rings[i]->aux)
			note_polled(t, t->space->rings[i]);
}

/* Calls hook for each descriptor that the call waits for. */
static void each_waited(struct task *t, const struct call *c,
			void (*hook)(void *ctx, struct task *t, int fd), void *ctx)
{
	struct file *ep;
	struct map_slot *slot;
	const uint8_t *p;
	size_t len, at = 0;

	switch (c->desc->id) {
	case CALL_POLL:
	case CALL_PPOLL:
	case CALL_PPOLL_TIME64:
		p = call_bytes(c, AT_ENTER, pointer(c, 0), SIZE_MAX, &len);
		for (; p && len >= 8; p += 8, len -= 8)
			hook(ctx, t, (int)layout_get(&layout_pollfd, POLLFD_FD, p, 8));
		break;
	case CALL_EPOLL_WAIT:
	case CALL_EPOLL_PWAIT:
	case CALL_EPOLL_PWAIT2:
		ep = fdtab_file(t->files, call_int(c, 0));
		while (ep && (slot = map_next(&ep->watched, &at)))
			hook(ctx, t, (int)slot->key);
		break;
	default:
		p = call_bytes(c, AT_ENTER, pointer(c, 1), SIZE_MAX, &len);
		for (size_t fd = 0; p && fd < 8 * len; fd++)
			if (p[fd / 8] >> fd % 8 & 1)
				hook(ctx, t, (int)fd);
	}
}

/* At its beginning: it may never return. */
static void begins_to_wait(struct task *t, const struct call *c)
{
	if (t->info)
		t->info->polls++;
	each_waited(t, c, polls, NULL);
}

/* What to call with each event that is waited for. */
struct waited {
	void (*hook)(void *ctx, struct event *e);
	void *ctx;
};

static void tell_waited(void *ctx, struct task *t, int fd)
{
	const struct waited *w = ctx;
	struct event *e = fdtab_event(t->files, fd);

	if (e)
		w->hook(w->ctx, e);
}

void model_each_waited(const struct model *m, const struct call *c,
		       void (*hook)(void *ctx, struct event *e), void *ctx)
{
	struct task *t = model_task(m, c->tid);
	struct waited w = { hook, ctx };

	if (t && c->desc->class == CLASS_POLL && c->desc->id != CALL_EPOLL_CTL)
		each_waited(t, c, tell_waited, &w);
}

/* Descriptors through sockets -------------------------------------------- */

static void sent(struct model *m, struct task *t, const struct call *c)
{
	struct message *msg, **last = &m->passing;
	int fds[CALL_MAX_PASSED];
	size_t n = call_passed_fds(c, AT_ENTER, fds), events = 0;

	for (size_t i = 0; i < n; i++)
		events += fdtab_event(t->files, fds[i]) != NULL;
	if (!events)
		return;
	msg = xcalloc(1, sizeof(*msg));
	msg->n = n;
	msg->files = xcalloc(n, sizeof(struct file *));
	for (size_t i = 0; i < n; i++)
		if (fdtab_event(t->files, fds[i]))
			msg->files[i] = file_ref(fdtab_file(t->files, fds[i]));
	while (*last)
		last = &(*last)->next;
	*last = msg;
}

/* The oldest message under way with as many descriptors is taken for this one. */
static void received(struct model *m, struct task *t, const struct call *c)
{
	struct message **at = &m->passing, *msg;
	int fds[CALL_MAX_PASSED];
	size_t n = call_passed_fds(c, AT_EXIT, fds);

	while (*at && (*at)->n != n)
		at = &(*at)->next;
	msg = *at;
	if (!n || !msg)
		return;
	*at = msg->next;
	for (size_t i = 0; i < n; i++) {
		if (!msg->files[i])
			continue;
		fdtab_set(t->files, fds[i], msg->files[i], c->args[2] & MSG_CLOEXEC);
		file_unref(msg->files[i]);
	}
	free(msg->files);
	free(msg);
}

/*
 * A descriptor that is being closed is gone from the start: its number can be
 * another thread's new event before the close's own return is seen.
 */
void model_enter(struct model *m, const struct call *c)
{
	struct task *t = model_task(m, c->tid);

	m->now_ns = c->enter_ns;
	/* the kernel does not get what is answered in its place */
	if (!t || c->tamper.injected)
		return;
	if (c->desc->id == CALL_CLOSE)
		fdtab_close(t->files, call_int(c, 0));
	else if (c->desc->id == CALL_SENDMSG)
		sent(m, t, c); /* it may arrive before we see this return */
	else if (c->desc->class == CLASS_POLL && c->desc->id != CALL_EPOLL_CTL &&
		 model_concerns(m, c))
		begins_to_wait(t, c);
}

static void after_desc(struct task *t, const struct call *c)
{
	switch (c->desc->id) {
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
	case CALL_CLOSE_RANGE:
		after_close_range(t, c);
		break;
	default:
		break;
	}
}

static void after_success(struct model *m, struct task *t, const struct call *c)
{
	switch (c->desc->class) {
	case CLASS_OPEN:
		if (!c->no_event)
			opened(m, t, c);
		break;
	case CLASS_IOCTL:
		after_ioctl(m, t, c);
		break;
	case CLASS_MEMORY:
		after_memory(m, t, c);
		break;
	case CLASS_POLL:
		if (c->desc->id == CALL_EPOLL_CTL)
			after_epoll_ctl(t, c);
		break;
	case CLASS_READ:
		after_read(m, t, c);
		break;
	case CLASS_DESC:
		after_desc(t, c);
		break;
	case CLASS_PASS:
		if (c->desc->id == CALL_RECVMSG)
			received(m, t, c);
		break;
	case CLASS_PROCESS:
		if (c->desc->id == CALL_UNSHARE && c->args[0] & UNSHARE_FILES)
			task_own_files(t);
		else if (c->desc->id == CALL_PRCTL)
			after_prctl(m, c);
		break;
	}
}

void model_exit(struct model *m, const struct call *c)
{
	struct task *t = model_task(m, c->tid);

	if (!t || !c->returned)
		return;
	m->now_ns = c->exit_ns;
	/* the kernel knows nothing of a success that was injected */
	if (!c->failed && c->tamper.injected)
		return;
	if (!c->failed)
		after_success(m, t, c);
	else if (c->desc->class == CLASS_OPEN)
		failed_to_open(m, t, c);
}
