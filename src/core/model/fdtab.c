// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/model/fdtab.h"

#include <stdlib.h>

#include "core/lib/die.h"
#include "core/model/state.h"

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

struct file *file_new_link(struct event *e)
{
	struct file *f = file_new(NULL);

	f->link = event_ref(e);
	event_linked(e, 1);
	return f;
}

struct file *file_ref(struct file *f)
{
	f->refs++;
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

struct fdtab *fdtab_ref(struct fdtab *t)
{
	t->refs++;
	return t;
}

struct fdtab *fdtab_copy(const struct fdtab *t)
{
	struct fdtab *copy = fdtab_new();
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->fds, &at))) {
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

	file_ref(f);
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

/*
 * Call op for every descriptor in a range.  It returns true if it removed the descriptor:
 * another one may have moved into its slot.
 */
static void each_in_range(struct fdtab *t, unsigned int first, unsigned int last,
			  bool (*op)(struct fdtab *t, int fd, struct fd_slot *s))
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->fds, &at))) {
		if (slot->key < first || slot->key > last)
			continue;
		if (op(t, (int)slot->key, slot->value))
			at = (size_t)(slot - t->fds.slots);
	}
}

static bool op_close(struct fdtab *t, int fd, struct fd_slot *s)
{
	(void)s;
	fdtab_close(t, fd);
	return true;
}

static bool op_close_event(struct fdtab *t, int fd, struct fd_slot *s)
{
	return s->file->event && op_close(t, fd, s);
}

static bool op_close_cloexec(struct fdtab *t, int fd, struct fd_slot *s)
{
	return s->cloexec && op_close(t, fd, s);
}

static bool op_set_cloexec(struct fdtab *t, int fd, struct fd_slot *s)
{
	(void)t;
	(void)fd;
	s->cloexec = true;
	return false;
}

void fdtab_close_range(struct fdtab *t, unsigned int first, unsigned int last)
{
	each_in_range(t, first, last, op_close);
}

void fdtab_unref(struct fdtab *t)
{
	if (--t->refs)
		return;
	/* events first: the end of a link then detaches nothing that goes on */
	each_in_range(t, 0, ~0U, op_close_event);
	fdtab_close_range(t, 0, ~0U);
	map_free(&t->fds);
	free(t);
}

void fdtab_cloexec_range(struct fdtab *t, unsigned int first, unsigned int last)
{
	each_in_range(t, first, last, op_set_cloexec);
}

void fdtab_close_on_exec(struct fdtab *t)
{
	each_in_range(t, 0, ~0U, op_close_cloexec);
}

bool fdtab_event_in_range(const struct fdtab *t, unsigned int first, unsigned int last)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->fds, &at)))
		if (slot->key >= first && slot->key <= last &&
		    is_followed(((struct fd_slot *)slot->value)->file))
			return true;
	return false;
}

bool fdtab_watches_event(const struct fdtab *t, int epfd)
{
	const struct file *f = fdtab_file(t, epfd);
	struct map_slot *slot;
	size_t at = 0;

	while (f && (slot = map_next(&f->watched, &at)))
		if (fdtab_event(t, (int)slot->key))
			return true;
	return false;
}

int fdtab_find(const struct fdtab *t, const struct event *e)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->fds, &at)))
		if (((struct fd_slot *)slot->value)->file->event == e)
			return (int)slot->key;
	return -1;
}

void fdtab_each_event(const struct fdtab *t,
		      void (*hook)(void *ctx, int fd, bool cloexec, struct event *e),
		      void *ctx)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&t->fds, &at))) {
		const struct fd_slot *s = slot->value;

		if (s->file->event)
			hook(ctx, (int)slot->key, s->cloexec, s->file->event);
	}
}
