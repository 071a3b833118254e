/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the model, shared by its files only. */
#pragma once

#include "core/lib/map.h"
#include "core/model/model.h"

/* An address space, limited to ring buffers. */
struct space {
	unsigned int refs;
	struct ring **rings;
	size_t nrings;
};

struct task {
	pid_t tid, pid;
	bool measured;		/* an event counts it or counted its parent at fork */
	struct fdtab *files;
	struct space *space;
	struct task_info *info;	/* NULL unless the model keeps */
	struct event *about;	/* what its call in progress names by about_fd, or NULL */
	int about_fd;
};

/* Files in a sent message; NULL for files that are not perf's. */
struct message {
	struct message *next;
	uint64_t sent_ns;
	size_t n;
	struct file **files;
};

/* A growing array of pointers. */
struct list {
	void **items;
	size_t n;
};

struct model {
	const struct names *names;
	bool keep;
	bool few;		/* of closed events, see model_keep_few() */
	uint64_t now_ns;	/* time of the last call */
	void (*ended)(void *ctx, const struct event *e); /* see model_on_end(); may be NULL */
	void *ended_ctx;
	struct map tasks;	/* tid to struct task */
	struct map by_id;	/* kernel id to struct event */
	struct map event_numbers, ring_numbers; /* number -> object, until it is freed */
	unsigned int nevents, nrings;	/* the last numbers used */
	struct map attrs;	/* hash of an attr to struct attr_kept (event.c) */
	struct map name_counts;	/* hash of an event's name to the number of events */
	struct message *passing; /* sent and not yet received, oldest first */
	size_t npassing;
	/* with keep */
	struct list events, rings, tasks_seen;
	struct list unheld;	/* events that were found without a descriptor */
	struct list detached;	/* tasks that hold on to what they have */
	struct opened_limits opened;
	struct attempt *attempts;
	size_t nattempts;
};

/* Descriptor tables (fdtab.c): events, epoll instances that watch them, and BPF links to them. */

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

/* Create a file without references, which fdtab_set() adds. */
struct file *file_new(struct event *e);
void file_unref(struct file *f);

struct fdtab *fdtab_new(void);
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

enum fdtab_change { CLOSE_ALL, CLOSE_EVENTS, CLOSE_ON_EXEC, SET_CLOEXEC };

/* Close the descriptors of that kind in a range, or mark them close-on-exec. */
void fdtab_change(struct fdtab *t, unsigned int first, unsigned int last,
		  enum fdtab_change change);

/* Return whether a descriptor of an event or link is in that range. */
bool fdtab_event_in_range(const struct fdtab *t, unsigned int first, unsigned int last);

/*
 * Iterate over the descriptors of events: start with *at = 0; NULL at the end.  The table must
 * not change between the calls.
 */
struct event *fdtab_next_event(const struct fdtab *t, size_t *at, int *fd, bool *cloexec);

/* Return a descriptor of the event, or -1. */
int fdtab_find(const struct fdtab *t, const struct event *e);

/* Keep the descriptors of events that a message passes; give the receiver its own. */
void model_sent(struct model *m, struct task *t, const struct call *c);
void model_received(struct model *m, struct task *t, const struct call *c);

struct task *model_task(const struct model *m, pid_t tid);

void list_add(struct list *l, void *item);

/* Return a copy of an attr, shared by equal ones; call attr_forget() once for each call. */
const uint8_t *attr_keep(struct model *m, const uint8_t *attr, size_t len);
void attr_forget(struct model *m, const uint8_t *kept);

/* Unshare the task's descriptor table (exec, unshare). */
void task_own_files(struct task *t);

/* Create an event without references and with a copy of attr. */
struct event *event_new(struct model *m, const uint8_t *attr, size_t len);

static inline struct event *event_ref(struct event *e)
{
	e->refs++;
	return e;
}

/* Release a reference; e may be NULL. */
void event_unref(struct event *e);

/* Make the event a member of the leader's group. */
void event_lead(struct event *e, struct event *leader);

/* Redirect the event's records to the ring of output; NULL: to its own. */
void event_redirect(struct event *e, struct event *output);

/*
 * Return the first mapping of the ring buffer, or AUX area, that the event has or writes to; NULL: it
 * has none, or all mappings are gone, which detaches all events that wrote there.
 */
struct ring *event_ring(const struct event *e, bool aux);

/* Count descriptors or links up or down by change; the last one ends the event. */
void event_handles(struct event *e, int change);
void event_linked(struct event *e, int change);

/* Add a mapping of the event's buffer to the task's space; first: an earlier one of it, or NULL. */
struct ring *ring_map(struct model *m, struct task *t, struct event *e, struct ring *first,
		      uint64_t start, uint64_t end, bool aux);

static inline bool ring_overlaps(const struct ring *r, uint64_t start, uint64_t end)
{
	return r->start < end && start < r->end;
}

static inline struct ring *ring_ref(struct ring *r)
{
	r->refs++;
	return r;
}

void ring_unref(struct ring *r);

struct space *space_new(void);
void space_unref(struct space *s);
void space_remove(struct space *s, uint64_t start, uint64_t end);
/* Mark the mappings in that range: a call that ends or moves them begins or has returned. */
void space_leave(struct space *s, uint64_t start, uint64_t end, bool leaving);
/* Note what those in that range have unread, if they were read since the call that began then. */
void space_note_left(struct space *s, uint64_t start, uint64_t end, uint64_t since_ns);
struct ring *space_find(const struct space *s, uint64_t start, uint64_t end);
