// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include "core/abi/call_decode.h"
#include "core/lib/die.h"
#include "core/model/state.h"
#include "xlat/constants.h"

struct fd_slot {
	struct file *file;
	bool cloexec;
};

struct file *file_new(struct event *e)
{
	struct file *f = xcalloc(1, sizeof(*f));

	f->event = e ? event_ref(e) : NULL;
	return f;
}

void file_unref(struct file *f)
{
	if (--f->refs)
		return;
	if (f->link && !f->pinned)
		event_linked(f->link, -1);
	event_unref(f->link);
	event_unref(f->event);
	map_free(&f->watched);
	free(f);
}

struct fdtab *fdtab_new(void)
{
	struct fdtab *t = xcalloc(1, sizeof(*t));

	t->refs = 1;
	return t;
}

struct fdtab *fdtab_copy(const struct fdtab *t)
{
	struct fdtab *copy = fdtab_new();

	map_each(slot, &t->fds) {
		const struct fd_slot *s = slot->value;

		fdtab_set(copy, (int)slot->key, s->file, s->cloexec);
	}
	return copy;
}

struct file *fdtab_file(const struct fdtab *t, int fd)
{
	const struct fd_slot *s = fd < 0 ? NULL : map_get(&t->fds, (uint64_t)fd);

	return s ? s->file : NULL;
}

struct event *fdtab_event(const struct fdtab *t, int fd)
{
	const struct file *f = fdtab_file(t, fd);

	return f ? f->event : NULL;
}

struct event *fdtab_linked(const struct fdtab *t, int fd)
{
	const struct file *f = fdtab_file(t, fd);

	return f ? f->link : NULL;
}

static bool is_followed(const struct file *f)
{
	return f->event || f->link;
}

void fdtab_set(struct fdtab *t, int fd, struct file *f, bool cloexec)
{
	struct fd_slot *s;

	f->refs++;
	if (fd < 0) {
		file_unref(f);
		return;
	}
	s = xcalloc(1, sizeof(*s));
	if (f->event)
		event_handles(f->event, 1); /* before the close: f may be at fd already */
	fdtab_close(t, fd);
	*s = (struct fd_slot){ f, cloexec };
	map_set(&t->fds, (uint64_t)fd, s);
	t->events += is_followed(f);
}

void fdtab_set_cloexec(struct fdtab *t, int fd, bool cloexec)
{
	struct fd_slot *s = fd < 0 ? NULL : map_get(&t->fds, (uint64_t)fd);

	if (s)
		s->cloexec = cloexec;
}

void fdtab_close(struct fdtab *t, int fd)
{
	struct fd_slot *s = fd < 0 ? NULL : map_del(&t->fds, (uint64_t)fd);

	if (!s)
		return;
	t->events -= is_followed(s->file);
	if (s->file->event)
		event_handles(s->file->event, -1);
	file_unref(s->file);
	free(s);
}

void fdtab_change(struct fdtab *t, unsigned int first, unsigned int last, enum fdtab_change change)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->fds, &at))) {
		struct fd_slot *s = slot->value;

		if (slot->key < first || slot->key > last ||
		    (change == CLOSE_EVENTS && !s->file->event) ||
		    (change == CLOSE_ON_EXEC && !s->cloexec))
			continue;
		if (change == SET_CLOEXEC) {
			s->cloexec = true;
			continue;
		}
		if (change == CLOSE_EVENTS) /* the tasks have exited */
			s->file->event->ended = true;
		fdtab_close(t, (int)slot->key);
		at = (size_t)(slot - t->fds.slots); /* another one may have moved there */
	}
}

void fdtab_unref(struct fdtab *t)
{
	if (--t->refs)
		return;
	/* events first: the end of a link then detaches nothing that goes on */
	fdtab_change(t, 0, ~0U, CLOSE_EVENTS);
	fdtab_change(t, 0, ~0U, CLOSE_ALL);
	map_free(&t->fds);
	free(t);
}

bool fdtab_event_in_range(const struct fdtab *t, unsigned int first, unsigned int last)
{
	map_each(slot, &t->fds)
		if (slot->key >= first && slot->key <= last &&
		    is_followed(((struct fd_slot *)slot->value)->file))
			return true;
	return false;
}

int fdtab_find(const struct fdtab *t, const struct event *e)
{
	map_each(slot, &t->fds)
		if (((struct fd_slot *)slot->value)->file->event == e)
			return (int)slot->key;
	return -1;
}

struct event *fdtab_next_event(const struct fdtab *t, size_t *at, int *fd, bool *cloexec)
{
	struct map_slot *slot;

	while ((slot = map_next(&t->fds, at))) {
		const struct fd_slot *s = slot->value;

		*fd = (int)slot->key;
		*cloexec = s->cloexec;
		if (s->file->event)
			return s->file->event;
	}
	return NULL;
}

/* Descriptors in transit through sockets ------------------------------------- */

/* What is sent and not received soon was received unseen, or never will be. */
#define TRANSIT_NS (10 * 1000000000ULL)
enum { TRANSIT_MESSAGES = 1024 };

/* Remove the message at *at from those in transit. */
static void message_drop(struct model *m, struct message **at)
{
	struct message *msg = *at;

	*at = msg->next;
	m->npassing--;
	for (size_t i = 0; i < msg->n; i++)
		if (msg->files[i])
			file_unref(msg->files[i]);
	free(msg->files);
	free(msg);
}

void model_forget_messages(struct model *m, uint64_t now)
{
	while (m->passing && now > TRANSIT_NS && m->passing->sent_ns < now - TRANSIT_NS)
		message_drop(m, &m->passing);
}

void model_sent(struct model *m, struct task *t, const struct call *c)
{
	struct message *msg, **last = &m->passing;
	int fds[CALL_MAX_PASSED];
	size_t n = call_passed_fds(c, AT_SYSCALL_ENTER, fds), events = 0;

	for (size_t i = 0; i < n; i++)
		events += fdtab_event(t->files, fds[i]) != NULL;
	if (!events)
		return;
	if (m->npassing == TRANSIT_MESSAGES)
		message_drop(m, &m->passing);
	msg = xcalloc(1, sizeof(*msg));
	msg->sent_ns = c->enter_ns;
	msg->n = n;
	msg->files = xcalloc(n, sizeof(struct file *));
	for (size_t i = 0; i < n; i++)
		if (fdtab_event(t->files, fds[i]))
			(msg->files[i] = fdtab_file(t->files, fds[i]))->refs++;
	while (*last)
		last = &(*last)->next;
	*last = msg;
	m->npassing++;
}

/*
 * Return whether the message is the one received in fds.  The descriptors of events with a
 * known id were identified (model_found()) before; others are matched by order.
 */
static bool is_received(const struct message *msg, const struct task *t, const int *fds, size_t n)
{
	bool known = false, same = false;

	if (n > msg->n)
		return false; /* with fewer, the receiver's buffer was too short */
	for (size_t i = 0; i < msg->n; i++) {
		const struct event *e = msg->files[i] ? msg->files[i]->event : NULL;

		if (!e || !e->id)
			continue;
		known = true;
		if (i < n && fdtab_event(t->files, fds[i]) != e)
			return false;
		same |= i < n;
	}
	return known ? same : n == msg->n;
}

void model_received(struct model *m, struct task *t, const struct call *c)
{
	struct message **at = &m->passing, *msg;
	int fds[CALL_MAX_PASSED];
	size_t n = call_passed_fds(c, AT_SYSCALL_EXIT, fds);

	/* none is an event: forget what these numbers were, if their close was not seen */
	for (size_t i = 0; c->no_event && i < n; i++)
		fdtab_close(t->files, fds[i]);
	if (c->no_event)
		return;
	model_forget_messages(m, c->exit_ns);
	while (n && *at && !is_received(*at, t, fds, n))
		at = &(*at)->next;
	msg = *at;
	if (!n || !msg)
		return;
	for (size_t i = 0; i < msg->n && i < n; i++)
		if (msg->files[i] && !fdtab_event(t->files, fds[i]))
			fdtab_set(t->files, fds[i], msg->files[i],
				  c->args[2] & ABI_MSG_CMSG_CLOEXEC);
	message_drop(m, at);
}
