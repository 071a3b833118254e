/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptor tables, limited to events, epoll instances that watch them, and BPF links to them. */
#pragma once

#include <stdbool.h>

#include "core/lib/map.h"
#include "core/model/model.h"

/* An open file description, shared by descriptors duplicated by dup or fork. */
struct file {
	unsigned int refs;
	struct event *event;	/* NULL: an epoll instance, or a link */
	struct event *link;	/* a link of a BPF program to that event; NULL: none */
	bool pinned;		/* the link remains when its last descriptor is closed */
	struct map watched;	/* fds of events added to it; values unused */
};

struct fdtab {
	unsigned int refs;	/* tasks that share it */
	unsigned int events;	/* descriptors of events and links */
	struct map fds;		/* fd to struct fd_slot */
};

struct file *file_new(struct event *e);
/* Create the file of a link of a BPF program to the event. */
struct file *file_new_link(struct event *e);
struct file *file_ref(struct file *f);
void file_unref(struct file *f);

struct fdtab *fdtab_new(void);
struct fdtab *fdtab_ref(struct fdtab *t);
struct fdtab *fdtab_copy(const struct fdtab *t);
void fdtab_unref(struct fdtab *t);

/* Return the file of fd, or NULL if it is neither event nor epoll instance. */
struct file *fdtab_file(const struct fdtab *t, int fd);
struct event *fdtab_event(const struct fdtab *t, int fd);
/* Return the event that the link at fd is of, or NULL. */
struct event *fdtab_linked(const struct fdtab *t, int fd);

/*
 * Set fd to f, with a new reference, in place of its former file.  A negative fd, which
 * hostile memory can name, is ignored; f is freed then if it has no other reference.
 */
void fdtab_set(struct fdtab *t, int fd, struct file *f, bool cloexec);
void fdtab_set_cloexec(struct fdtab *t, int fd, bool cloexec);
void fdtab_close(struct fdtab *t, int fd);
void fdtab_close_range(struct fdtab *t, unsigned int first, unsigned int last);
void fdtab_cloexec_range(struct fdtab *t, unsigned int first, unsigned int last);
void fdtab_close_on_exec(struct fdtab *t);
/* Return whether a descriptor of an event or link is in that range. */
bool fdtab_event_in_range(const struct fdtab *t, unsigned int first, unsigned int last);

/* Call hook for each descriptor of an event; it must not change the table. */
void fdtab_each_event(const struct fdtab *t,
		      void (*hook)(void *ctx, int fd, bool cloexec, struct event *e),
		      void *ctx);

/* Return a descriptor of the event, or -1. */
int fdtab_find(const struct fdtab *t, const struct event *e);

/* Return whether the epoll instance at epfd watches an event that is still open. */
bool fdtab_watches_event(const struct fdtab *t, int epfd);
