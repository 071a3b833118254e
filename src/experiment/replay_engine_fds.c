// SPDX-License-Identifier: LGPL-2.1-or-later
/* The counterparts of a dump's descriptors and processes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/program.h"
#include "experiment/replay_engine_internal.h"

static uint64_t replay_fd_key(pid_t pid, int fd)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)fd;
}

void replay_engine_fd_add(struct replay_engine *r, const struct call *c, int fd, int own)
{
	struct event *e = model_event(r->model, c->tid, fd);
	struct replayed_fd *h;

	if (!e || own < 0) {
		if (own >= 0)
			own_call_close(r->own_calls, own);
		return;
	}
	h = xcalloc(1, sizeof(*h));
	h->event = e->number;
	h->key = replay_fd_key(c->pid, fd);
	h->own = own;
	h->next = map_get(&r->by_event, h->event);
	map_set(&r->by_event, h->event, h);
	map_set(&r->by_fd, h->key, h);
}

void replay_engine_fd_drop(struct replay_engine *r, struct replayed_fd *h)
{
	struct replayed_fd *first = map_get(&r->by_event, h->event), **at = &first;

	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	if (first)
		map_set(&r->by_event, h->event, first);
	else
		map_del(&r->by_event, h->event);
	if (map_get(&r->by_fd, h->key) == h)
		map_del(&r->by_fd, h->key);
	free(h);
}

struct replayed_fd *replay_engine_fd_exact(const struct replay_engine *r,
					   const struct call *c, int fd)
{
	struct event *e = model_event(r->model, c->tid, fd);
	struct replayed_fd *h = e ? map_get(&r->by_fd, replay_fd_key(c->pid, fd)) : NULL;

	return h && h->event == e->number && !h->closing ? h : NULL;
}

int replay_engine_own_fd(const struct replay_engine *r, const struct call *c, int fd,
			 const char **why)
{
	struct event *e = model_event(r->model, c->tid, fd);
	struct replayed_fd *h = replay_engine_fd_exact(r, c, fd);

	*why = NULL;
	if (!h && e)
		h = map_get(&r->by_event, e->number); /* inherited by fork */
	if (h)
		return h->own;
	if (e)
		*why = e->found ? "events opened before the dump began" :
		       "events that are not open here";
	else if (fd >= 0 && !(c->failed && (c->ret == EBADF || c->desc->class == CLASS_OPEN)))
		*why = "descriptors that are no events";
	else
		/* a number that is not an open descriptor: fd, if possible */
		return fd < 0 || fcntl(fd, F_GETFD) < 0 ? fd : INT_MAX;
	return -1;
}

void replay_engine_close_fds(struct replay_engine *r, bool all)
{
	uint64_t *ended = xcalloc(r->by_event.len + 1, sizeof(*ended));
	size_t n = 0;

	map_each(slot, &r->by_event) {
		struct event *e = model_event_number(r->model, (unsigned int)slot->key);
		struct replayed_fd *h = slot->value;

		if (all || ((!e || e->closed) && !h->closing))
			ended[n++] = slot->key;
	}
	for (size_t i = 0; i < n; i++) {
		struct replayed_fd *h;

		while ((h = map_get(&r->by_event, ended[i])) && (all || !h->closing)) {
			own_call_close(r->own_calls, h->own);
			replay_engine_fd_drop(r, h);
		}
	}
	free(ended);
}

/* The number is the same on every architecture; older C libraries lack it. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static void stand_in_end(pid_t child)
{
	kill(child, SIGKILL);
	child_wait(child);
}

/* Fork a child; it is ready when the pipe has no writer left. */
static pid_t stand_in_start(void)
{
	pid_t parent = getpid(), child;
	int ends[2], error;
	char none;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	child = fork();
	error = errno;
	if (!child) {
		/* close all descriptors, which would keep events open, and sleep until killed */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		dup2(ends[1], 0);
		/* close_range(2) requires Linux 5.9 */
		if (syscall(SYS_close_range, 1, ~0U, 0))
			for (int fd = (int)sysconf(_SC_OPEN_MAX); fd > 0; fd--)
				close(fd);
		close(0);
		for (;;)
			pause();
	}
	close(ends[1]);
	while (child > 0 && read(ends[0], &none, 1) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return child < 0 ? -error : child;
}

pid_t stand_in_for(struct stand_ins *s, pid_t pid)
{
	pid_t child = (pid_t)(intptr_t)map_get(&s->children, (uint64_t)pid);

	if (child)
		return child;
	if (s->children.len >= STAND_INS_MAX)
		return -EAGAIN;
	child = stand_in_start();
	if (child > 0)
		map_set(&s->children, (uint64_t)pid, (void *)(intptr_t)child);
	return child;
}

pid_t stand_in_nobody(struct stand_ins *s)
{
	pid_t child;

	if (s->nobody && kill(s->nobody, 0) && errno == ESRCH)
		return s->nobody;
	child = stand_in_start();
	if (child < 0)
		return child;
	stand_in_end(child);
	return s->nobody = child;
}

void stand_ins_end(struct stand_ins *s)
{
	map_each(slot, &s->children)
		stand_in_end((pid_t)(intptr_t)slot->value);
	map_free(&s->children);
}
