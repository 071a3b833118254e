// SPDX-License-Identifier: LGPL-2.1-or-later
/* Descriptors of events that come and go without an open or close that is seen. */
#include <string.h>
#include <sys/mman.h>

#include "core/abi/bpf.h"
#include "core/abi/call_decode.h"
#include "core/abi/ioctl.h"
#include "core/host/proc.h"
#include "engine/live/live.h"
#include "engine/rings/look.h"
#include "xlat/constants.h"

/* Identify an event by its id, so that a descriptor of it is recognized wherever it comes. */
static void live_identify(void *ctx, pid_t pid, pid_t tid, int fd, struct event *e)
{
	struct live *l = ctx;
	uint64_t id = look_id(pid, tid, fd);

	if (id)
		session_feed(&l->session, &(struct activity){ ACTIVITY_ID, .id = { e, id } });
}

void live_learn_sent_ids(struct live *l, const struct call *c)
{
	int fds[CALL_MAX_PASSED];
	size_t n = call_passed_fds(c, AT_SYSCALL_ENTER, fds);

	for (size_t i = 0; i < n; i++) {
		struct event *e = model_event(l->session.model, c->tid, fds[i]);

		if (e && !e->id)
			live_identify(l, c->pid, c->tid, fds[i], e);
	}
}

static bool is_event_fd(pid_t tid, int fd)
{
	char link[sizeof(PROC_EVENT_LINK) + 1];

	return proc_fd_link(tid, fd, link, sizeof(link)) && !strcmp(link, PROC_EVENT_LINK);
}

/*
 * Add a descriptor that the model does not know, if it is an event's: a known one by its id,
 * else a new one.  Return whether it is an event's.
 */
static bool live_adopt_fd(struct live *l, const struct call *c, int fd, bool cloexec)
{
	struct model *m = l->session.model;
	uint64_t id;

	if (fd < 0 || !is_event_fd(c->tid, fd))
		return false;
	id = look_id(c->pid, c->tid, fd);
	/* without an id, a message in transit is matched by order */
	if (!id && model_passing(m) && c->desc->class == CLASS_PASS)
		return true;
	if (id && !model_event_by_id(m, id))
		model_each_unidentified(m, live_identify, l);
	return live_adopt_event(l, c, fd, cloexec, id);
}

/* Return whether the i-th descriptor that a message brought is an event's. */
static bool passed_event(const struct call *c, size_t i, int fd)
{
	return c->inside && i < CALL_PASSED_IDS ? c->passed[i] : is_event_fd(c->tid, fd);
}

/*
 * Return whether it may map a ring buffer, by its size: one page and 2^n, or one for the
 * control page only.  So that most mappings of shared files cost nothing more.
 */
static bool may_map_ring(const struct live *l, const struct call *c)
{
	uint64_t page = l->names->page_size, pages = (call_word(c, 1) + page - 1) / page;

	return (c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2) &&
	       c->args[3] & MAP_SHARED && !call_word(c, 5) && pages &&
	       !((pages - 1) & (pages - 2));
}

/* Return the descriptor that the call uses as an event's, or -1. */
static int event_fd_of(const struct live *l, const struct call *c)
{
	struct bpf_command b;

	switch (c->desc->class) {
	case CLASS_IOCTL:
		return ioctl_is_perf(c->args[1]) ? call_int(c, 0) : -1;
	case CLASS_BPF:
		return bpf_command(c, &b) && b.attach_type == ABI_BPF_PERF_EVENT ? b.fd : -1;
	case CLASS_MEMORY:
		return may_map_ring(l, c) ? call_int(c, 4) : -1;
	case CLASS_READ:
		return call_int(c, 0);
	default:
		return -1;
	}
}

/* Return whether it maps the entries of an io_uring (IORING_OFF_SQES). */
static bool maps_uring(const struct call *c)
{
	static const char uring_link[] = "anon_inode:[io_uring]";
	char link[sizeof(uring_link) + 1];

	return ((c->desc->id == CALL_MMAP && call_word(c, 5) == 0x10000000) ||
		(c->desc->id == CALL_MMAP2 && call_word(c, 5) == 0x10000)) &&
	       proc_fd_link(c->tid, call_int(c, 4), link, sizeof(link)) &&
	       !strcmp(link, uring_link);
}

void live_forget_closed(struct live *l, const struct call *c)
{
	int fd = c->desc->nargs && c->desc->args[0].kind == ARG_FD ? call_int(c, 0) : -1;

	if (maps_uring(c))
		map_set(&l->uring, (uint64_t)c->pid, l);
	if (fd >= 0 && map_get(&l->uring, (uint64_t)c->pid) &&
	    model_event(l->session.model, c->tid, fd) && !is_event_fd(c->tid, fd))
		session_feed(&l->session, &(struct activity){
			ACTIVITY_CLOSED, .closed = { c->tid, fd },
		});
}

void live_adopt_used(struct live *l, const struct call *c)
{
	int fd = event_fd_of(l, c);

	if (fd >= 0 && !model_event(l->session.model, c->tid, fd))
		live_adopt_fd(l, c, fd, false);
}

bool live_adopt_received(struct live *l, struct call *c)
{
	bool waiting = map_del(&l->waiting, (uint64_t)c->tid), event = false;
	int fds[CALL_MAX_PASSED];
	size_t n = c->failed || c->inject.injected ? 0 :
		   call_passed_fds(c, AT_SYSCALL_EXIT, fds);

	for (size_t i = 0; waiting && i < n && !event; i++)
		event = passed_event(c, i, fds[i]);
	if (waiting && !event)
		return false;
	if (waiting)
		session_enter(&l->session, c);
	for (size_t i = 0; i < n; i++) {
		bool cloexec = c->args[2] & ABI_MSG_CMSG_CLOEXEC;

		if (!c->inside)
			live_adopt_fd(l, c, fds[i], cloexec);
		else if (i < CALL_PASSED_IDS && c->passed[i])
			live_adopt_event(l, c, fds[i], cloexec, c->passed[i]);
	}
	return true;
}
