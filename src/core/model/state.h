/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the model, shared by its files only. */
#pragma once

#include "core/lib/map.h"
#include "core/model/fdtab.h"
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
	struct list detached;	/* tasks that hold on to what they have */
	struct attempt *attempts;
	size_t nattempts;
};

struct task *model_task(const struct model *m, pid_t tid);

void list_add(struct list *l, void *item);

/* Return a copy of an attr, shared by equal ones; call attr_forget() once for each call. */
const uint8_t *attr_keep(struct model *m, const uint8_t *attr, size_t len);
void attr_forget(struct model *m, const uint8_t *kept);

/* Return how many hold on to a kept attr. */
size_t attr_holders(const uint8_t *kept);

/* Unshare the task's descriptor table (exec, unshare). */
void task_own_files(struct task *t);

/* Create an event with one reference and a copy of attr; take a reference; release one. */
struct event *event_new(struct model *m, const uint8_t *attr, size_t len);
struct event *event_ref(struct event *e);
void event_unref(struct event *e);

/* Make the event a member of the leader's group. */
void event_lead(struct event *e, struct event *leader);

/* Redirect the event's records to the ring of output; NULL: to its own. */
void event_redirect(struct event *e, struct event *output);

/* Count descriptors or links up or down by change; the last one ends the event. */
void event_handles(struct event *e, int change);
void event_linked(struct event *e, int change);

/* first: an earlier mapping of the same buffer, or NULL. */
struct ring *ring_new(struct model *m, struct event *e, struct ring *first);

static inline bool ring_overlaps(const struct ring *r, uint64_t start, uint64_t end)
{
	return r->start < end && start < r->end;
}

struct ring *ring_ref(struct ring *r);
void ring_unref(struct ring *r);

struct space *space_new(void);
void space_unref(struct space *s);
void space_add(struct space *s, struct ring *r);
void space_remove(struct space *s, uint64_t start, uint64_t end);
/* Mark the mappings in that range: a call that ends or moves them begins or has returned. */
void space_leave(struct space *s, uint64_t start, uint64_t end, bool leaving);
struct ring *space_find(const struct space *s, uint64_t start, uint64_t end);
