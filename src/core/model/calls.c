// SPDX-License-Identifier: LGPL-2.1-or-later
/* The effect of each call on the model. */
#include "core/model/calls.h"

#include <stdlib.h>
#include <string.h>

#include "core/abi/bpf.h"
#include "core/abi/ioctl.h"
#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "xlat/constants.h"

static void duplicate(struct task *t, const struct call *c, bool cloexec)
{
	struct file *f = fdtab_file(t->files, call_int(c, 0));

	if (c->ret == call_int(c, 0))
		return; /* dup2 onto itself changes nothing */
	if (f)
		fdtab_set(t->files, (int)c->ret, f, cloexec);
	else
		fdtab_close(t->files, (int)c->ret); /* no longer a descriptor of an event */
}

static void enable(struct event *e, bool on, enum event_start how)
{
	e->enabled = on;
	if (on && e->start == START_NEVER)
		e->start = how;
}

/* Enable or disable an event, with PERF_IOC_FLAG_GROUP all events of its group. */
static void event_control(struct model *m, struct event *e, const struct call *c, bool on)
{
	struct event *leader = e->leader ? e->leader : e, *member;
	unsigned int number = 0;

	e->controls++;
	enable(e, on, START_IOCTL);
	if (!(c->args[2] & PERF_IOC_FLAG_GROUP))
		return;
	while ((member = group_next(m, leader, &number)))
		enable(member, on, START_IOCTL);
}

static void set_program(struct model *m, struct event *e, const struct call *c, int fd,
			enum event_bpf how)
{
	const struct bpf_program *p = m->names->program ? m->names->program(m->names, c, fd) : NULL;

	e->bpf = how;
	e->program = p ? *p : (struct bpf_program){ 0 };
}

static void after_ioctl(struct model *m, struct task *t, const struct call *c)
{
	const struct ioctl_desc *d = ioctl_of(c);
	struct event *e = fdtab_event(t->files, call_int(c, 0));
	uint32_t request = (uint32_t)c->args[1];
	const uint8_t *bytes;
	size_t len;

	if (request == ABI_FIOCLEX || request == ABI_FIONCLEX) {
		fdtab_set_cloexec(t->files, call_int(c, 0), request == ABI_FIOCLEX);
		return;
	}
	if (!d || !e)
		return;
	switch (d->request) {
	case PERF_EVENT_IOC_REFRESH:
		e->refreshed = true;
		event_control(m, e, c, true);
		break;
	case PERF_EVENT_IOC_ENABLE:
		event_control(m, e, c, true);
		break;
	case PERF_EVENT_IOC_DISABLE:
		event_control(m, e, c, false);
		break;
	case PERF_EVENT_IOC_RESET:
		e->controls++;
		break;
	case PERF_EVENT_IOC_SET_OUTPUT:
		event_redirect(e, fdtab_event(t->files, call_int(c, 2)));
		break;
	case PERF_EVENT_IOC_SET_FILTER:
		bytes = call_bytes(c, AT_SYSCALL_ENTER, call_word(c, 2), SIZE_MAX, &len);
		if (bytes && memchr(bytes, '\0', len)) {
			free(e->filter);
			e->filter = xstrdup((const char *)bytes);
		}
		break;
	case PERF_EVENT_IOC_SET_BPF:
		set_program(m, e, c, call_int(c, 2), BPF_SET);
		break;
	case PERF_EVENT_IOC_ID:
		bytes = call_bytes(c, AT_SYSCALL_EXIT, call_word(c, 2), 8, &len);
		if (bytes && len == 8)
			model_set_id(m, e, load_uint(bytes, 8));
		break;
	}
}

/* Follow a link: closing it detaches the program, unless it was pinned. */
static void after_bpf(struct model *m, struct task *t, const struct call *c)
{
	struct bpf_command b;
	struct file *f;
	struct event *e;

	if (!bpf_command(c, &b))
		return;
	f = fdtab_file(t->files, b.fd);
	e = f ? f->event : NULL;
	if (b.cmd == ABI_BPF_LINK_CREATE && e) {
		set_program(m, e, c, b.program, BPF_LINKED);
		f = file_new(NULL);
		f->link = event_ref(e);
		event_linked(e, 1);
		fdtab_set(t->files, (int)c->ret, f, true);
	} else if (b.cmd == ABI_BPF_OBJ_PIN && f) {
		f->pinned = true;
	}
}

/* Enable or disable all events that the process opened (perf_event_task_enable). */
static void after_prctl(struct model *m, const struct call *c)
{
	bool on = call_int(c, 0) == ABI_PR_TASK_PERF_EVENTS_ENABLE;

	if (!on && call_int(c, 0) != ABI_PR_TASK_PERF_EVENTS_DISABLE)
		return;
	for (size_t i = 0; i < m->events.n; i++) {
		struct event *e = m->events.items[i];

		if (!e || e->opener != c->tid || e->closed)
			continue;
		enable(e, on, START_PRCTL);
	}
}

static void after_epoll_ctl(struct task *t, const struct call *c)
{
	struct file *ep = fdtab_file(t->files, call_int(c, 0));
	uint64_t fd = (uint32_t)c->args[2];

	if (call_int(c, 1) == ABI_EPOLL_CTL_ADD && fdtab_event(t->files, (int)fd)) {
		if (!ep && call_int(c, 0) < 0)
			return;
		if (!ep) { /* created before the process had any event */
			ep = file_new(NULL);
			fdtab_set(t->files, call_int(c, 0), ep, false);
		}
		map_set(&ep->watched, fd, ep);
	} else if (call_int(c, 1) == ABI_EPOLL_CTL_DEL && ep) {
		map_del(&ep->watched, fd);
	}
}

/* Round a length up as the kernel does. */
static uint64_t whole_pages(const struct model *m, uint64_t len)
{
	uint64_t page = m->names->page_size;

	return page ? (len + page - 1) / page * page : len;
}

/*
 * Add a mapping.  An event has one buffer, or shares that of the event that it writes to,
 * until its last mapping is gone (perf_mmap() and perf_mmap_close()).
 */
static void mapped(struct model *m, struct task *t, struct event *e,
		   const struct call *c)
{
	uint64_t start = (uint64_t)c->ret, end = start + whole_pages(m, call_word(c, 1));
	bool aux = call_word(c, 5) != 0;
	struct ring *first = event_ring(e, aux), *r;

	/* the kernel gives a buffer of another size only after something covered this one */
	if (first && first->end - first->start != end - start) {
		space_remove(t->space, first->start, first->end);
		first = event_ring(e, aux);
	}
	e->maps++;
	r = ring_map(m, t, e, first, start, end, aux);
	r->overwrite = !(c->args[2] & ABI_PROT_WRITE);
	if (!first)
		e->buffer[aux] = r;
	if (!first && !aux)
		e->ring.overwrite = r->overwrite;
}

static void after_memory(struct model *m, struct task *t, const struct call *c)
{
	bool moves = c->desc->id == CALL_MREMAP;
	uint64_t from = call_word(c, 0), start, end;
	struct ring *r = moves ? space_find(t->space, from, from + call_word(c, 1)) : NULL;
	struct event *e = (c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2) &&
			  !(c->args[3] & ABI_MAP_ANONYMOUS) ?
			  fdtab_event(t->files, call_int(c, 4)) : NULL;

	if (model_covers(c, moves, &start, &end))
		space_remove(t->space, start, end);
	/* to ask for the same length at the same place changes nothing, also for a part */
	if (r && ((uint64_t)c->ret != from || whole_pages(m, call_word(c, 2)) <
					      whole_pages(m, call_word(c, 1)))) {
		r->start = (uint64_t)c->ret;
		r->end = r->start + whole_pages(m, call_word(c, 2));
	}
	if (e)
		mapped(m, t, e, c);
}

static void mark_leaving(struct task *t, const struct call *c, bool leaving)
{
	uint64_t start, end;

	for (unsigned int i = 0; model_covers(c, i, &start, &end); i++)
		space_leave(t->space, start, end, leaving);
}

/*
 * Note which rings have unread records as a call begins that unmaps them: pevtrace read them just
 * before.  If the call has failed, they are unread no more.
 */
static void note_left(struct task *t, const struct call *c, uint64_t since_ns)
{
	uint64_t start, end;

	for (unsigned int i = 0; model_covers(c, i, &start, &end); i++)
		space_note_left(t->space, start, end, since_ns);
	if (c->desc->id == CALL_EXIT_GROUP || c->desc->id == CALL_EXECVE ||
	    c->desc->id == CALL_EXECVEAT)
		space_note_left(t->space, 0, UINT64_MAX, since_ns);
}

void model_enter(struct model *m, const struct call *c)
{
	struct task *t = model_task(m, c->tid);
	const struct event *e;

	m->now_ns = c->enter_ns;
	/* the kernel does not execute an injected call */
	if (!t || call_is_fake(c))
		return;
	if (t->about && t->about_fd == FOUND_CLOSING) {
		t->about_fd = call_int(c, 0);
	} else {
		event_unref(t->about);
		t->about = model_about(m, c, &t->about_fd);
		if (t->about)
			event_ref(t->about);
	}
	note_left(t, c, c->enter_ns);
	if (c->desc->id == CALL_CLOSE) {
		/* now: another thread may open an event with the same number before it returns */
		e = fdtab_event(t->files, call_int(c, 0));
		/* else that has happened already */
		if (!e || (e == t->about && e->opened_ns <= c->enter_ns))
			fdtab_close(t->files, call_int(c, 0));
	} else if (c->desc->class == CLASS_MEMORY) {
		mark_leaving(t, c, true);
	} else if (c->desc->id == CALL_SENDMSG) {
		model_sent(m, t, c); /* it may be received before this call returns */
	} else if (c->desc->class == CLASS_POLL && c->desc->id != CALL_EPOLL_CTL &&
		   model_concerns(m, c)) {
		model_wait_begins(t, c);
	}
}

static void after_desc(struct task *t, const struct call *c)
{
	switch (c->desc->id) {
	case CALL_DUP:
	case CALL_DUP2:
		duplicate(t, c, false);
		break;
	case CALL_DUP3:
		duplicate(t, c, c->args[2] & ABI_O_CLOEXEC);
		break;
	case CALL_FCNTL:
	case CALL_FCNTL64:
		if (call_int(c, 1) == ABI_F_SETFD)
			fdtab_set_cloexec(t->files, call_int(c, 0), c->args[2] & ABI_FD_CLOEXEC);
		else if (call_int(c, 1) == ABI_F_DUPFD || call_int(c, 1) == ABI_F_DUPFD_CLOEXEC)
			duplicate(t, c, call_int(c, 1) == ABI_F_DUPFD_CLOEXEC);
		break;
	case CALL_CLOSE_RANGE:
		if (c->args[2] & ABI_CLOSE_RANGE_UNSHARE)
			task_own_files(t);
		fdtab_change(t->files, (uint32_t)c->args[0], (uint32_t)c->args[1],
			     c->args[2] & ABI_CLOSE_RANGE_CLOEXEC ? SET_CLOEXEC : CLOSE_ALL);
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
			model_after_open(m, t, c);
		break;
	case CLASS_IOCTL:
		after_ioctl(m, t, c);
		break;
	case CLASS_BPF:
		after_bpf(m, t, c);
		break;
	case CLASS_MEMORY:
		after_memory(m, t, c);
		break;
	case CLASS_POLL:
		if (c->desc->id == CALL_EPOLL_CTL)
			after_epoll_ctl(t, c);
		break;
	case CLASS_READ:
		model_after_read(m, t, c);
		break;
	case CLASS_DESC:
		after_desc(t, c);
		break;
	case CLASS_PASS:
		if (c->desc->id == CALL_RECVMSG)
			model_received(m, t, c);
		break;
	case CLASS_PROCESS:
		if (c->desc->id == CALL_UNSHARE && c->args[0] & ABI_CLONE_FILES)
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
	event_unref(t->about);
	t->about = NULL;
	/* an injected success has no effect in the kernel */
	if (!c->failed && call_is_fake(c))
		return;
	if (c->desc->class == CLASS_MEMORY)
		mark_leaving(t, c, false);
	if (c->failed)
		note_left(t, c, UINT64_MAX);
	if (!c->failed)
		after_success(m, t, c);
	else if (c->desc->class == CLASS_OPEN)
		model_open_failed(m, t, c);
}
