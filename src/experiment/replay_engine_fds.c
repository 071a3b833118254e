// SPDX-License-Identifier: LGPL-2.1-or-later
/* The counterparts of a dump's descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

#include "core/lib/die.h"
#include "experiment/replay_engine_internal.h"
#include "xlat/tables.h"

static const char before[] = "events opened before the dump began";
static const char absent[] = "events that are not open here";

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

/* Return a number that is not an open descriptor: fd, if possible. */
static int no_fd(int fd)
{
	return fd < 0 || fcntl(fd, F_GETFD) < 0 ? fd : INT_MAX;
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
		*why = e->found ? before : absent;
	else if (fd >= 0 && !(c->failed && (c->ret == EBADF || c->desc->class == CLASS_OPEN)))
		*why = "descriptors that are no events";
	else
		return no_fd(fd);
	return -1;
}

void replay_engine_close_fds(struct replay_engine *r, bool all)
{
	uint64_t *ended = xcalloc(r->by_event.len + 1, sizeof(*ended));
	struct map_slot *slot;
	size_t at = 0, n = 0;

	while ((slot = map_next(&r->by_event, &at))) {
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
