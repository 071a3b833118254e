/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the calls seen so far add up to: tasks, their descriptor tables, the
 * events behind the descriptors, groups, rings.  Fed with calls in the order
 * in which they happened; the same whether they come live, from a dump, or
 * from us.
 */
#ifndef PEVTRACE_MODEL_MODEL_H
#define PEVTRACE_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/call.h"

struct model;

/* What set an event going. */
enum event_start {
	START_NEVER,	/* opened disabled, and nobody has enabled it yet */
	START_OPEN,	/* opened enabled */
	START_EXEC,	/* enable_on_exec, when its task runs a program */
	START_IOCTL,	/* PERF_EVENT_IOC_ENABLE or REFRESH */
	START_PRCTL,	/* PR_TASK_PERF_EVENTS_ENABLE */
	START_LEADER,	/* opened enabled, but its leader was not */
	START_UNKNOWN,	/* its attr could not be read */
};

enum {
	EVENT_ATTR_MAX = 256,	/* bytes of an attr that are kept */
	EVENT_RECORD_TYPES = 32, /* those beyond are counted together, as 0 */
};

/* The last count that the target read, or that we read at the end. */
struct event_count {
	bool known, timed;	/* timed: enabled and running are known */
	uint64_t value, enabled, running;	/* times in ns */
};

/* What one successful perf_event_open made in the kernel. */
struct event {
	unsigned int number;	/* 1, 2, ... in the order of opening */
	unsigned int refs;
	char *name;		/* "cpu-clock:u cpu0" */
	bool found;		/* opened before we came: only its fd is known */
	bool unread;		/* its attr could not be read: no member of it is known */
	bool format_known;	/* read_format is */
	const uint8_t *attr;	/* shared with those that are equal */
	size_t attr_len;
	uint64_t read_format;
	/* the caller's other arguments */
	pid_t pid;
	int cpu;
	uint64_t flags;
	struct event *leader;	/* NULL: leads itself */
	/* who opened it, as which descriptor, when (CLOCK_MONOTONIC) */
	pid_t opener;
	int fd;
	uint64_t opened_ns, closed_ns;
	/* what became of it */
	uint64_t id;		/* PERF_EVENT_IOC_ID, 0: not known */
	struct event *output;	/* its records go to this one's ring */
	enum event_start start;
	bool enabled;		/* as far as the calls tell */
	bool closed;		/* nobody has a descriptor any more */
	char *filter;		/* PERF_EVENT_IOC_SET_FILTER */
	unsigned int handles;	/* descriptors that exist */
	unsigned int controls;	/* ioctls that enable, disable, reset, refresh */
	unsigned int reads, maps;
	struct event_count count;
	uint64_t *records;	/* [EVENT_RECORD_TYPES], NULL before the first: event_records() */
	uint64_t lost_told;	/* by LOST and LOST_SAMPLES records */
	uint64_t lost_read;	/* by PERF_FORMAT_LOST, which counts the same */
	/* the model's own: events whose output is this one */
	struct model *owner;
	struct event **sources;
	size_t nsources;
	unsigned int mapped;	/* rings of it that are mapped */
};

/* A mapping of an event's ring buffer or AUX area. */
struct ring {
	unsigned int number;
	unsigned int refs;
	struct event *event;	/* whose descriptor was mapped */
	pid_t pid;		/* process that has it */
	uint64_t start, end;	/* addresses there */
	bool aux;
	bool overwrite;		/* first mapped read-only: data_tail is not heeded */
	bool unmapped;
	unsigned int looks, polls;
	uint64_t records, missed; /* seen by us; bytes that we came too late for */
	unsigned int torn;
	unsigned int blind;	/* looks that failed: what there was is not known */
	int blind_error;	/* errno of the last of them */
};

/* A perf_event_open that failed. */
struct attempt {
	pid_t tid;
	int error;
	bool injected;		/* by us, not by the kernel */
	const uint8_t *attr;	/* shared with those that are equal */
	size_t attr_len;
	pid_t pid;
	int cpu, group_fd;
	uint64_t flags;
	unsigned int events;	/* opened before it */
};

/* What is kept of a task for the summary. */
struct task_info {
	pid_t tid, pid;
	char comm[16];
	unsigned int opens, failures, reads, polls;
	struct ring **polled;	/* rings waited for; owned references */
	size_t npolled;
};

/*
 * names is asked what PMUs and tracepoints are called; it must outlive.
 * keep: what has ended is kept, for a summary.
 */
struct model *model_new(const struct names *names, bool keep);
void model_free(struct model *m);

/* A task that came to be, or to be followed. */
struct birth {
	pid_t tid, pid;
	pid_t parent;		/* tid; 0: nobody we know */
	bool attached;		/* ran before us */
	bool shares_files;	/* has the parent's descriptors, not a copy */
	bool shares_memory;	/* a thread or vfork child */
};

void model_born(struct model *m, const struct birth *b);

/* Fills in from /proc what a running process already holds. */
void model_adopt(struct model *m, pid_t tid);

/* The task has an event at fd that was opened before we came. */
struct event *model_found(struct model *m, pid_t tid, int fd, bool cloexec);

/* The task has a ring mapped there, of an event that was opened before us. */
void model_found_ring(struct model *m, pid_t tid, uint64_t start, uint64_t end);

/* What the task is called now (/proc/TID/comm). */
void model_comm(struct model *m, pid_t tid, const char *comm);

/* tid's process runs a new program; the calling thread was former. */
void model_execed(struct model *m, pid_t tid, pid_t former);

void model_gone(struct model *m, pid_t tid);

/* Whether the call has to do with perf, as things stand when it begins. */
bool model_concerns(struct model *m, const struct call *c);

/* It concerns nobody's events yet, but those to come: the task leaves a table. */
bool model_learns(const struct model *m, const struct call *c);

/* The model must see the returns of this call even when nobody else asks. */
bool model_needs(enum call_id id);

/* A call begins: takes effect at once what cannot fail (close). */
void model_enter(struct model *m, const struct call *c);

/* A call returned. */
void model_exit(struct model *m, const struct call *c);

/* The task's process has an event open or a ring mapped. */
bool model_holds(const struct model *m, pid_t tid);

/* Descriptors of events are on their way through a socket. */
bool model_passing(const struct model *m);

/* The task holds something, or is what some event measures. */
bool model_involved(const struct model *m, pid_t tid);

/* Opened only to see whether the kernel takes it, and closed again. */
bool event_is_probe(const struct event *e);

/* How many records of that type it wrote, as far as seen; 0: those of other types. */
uint64_t event_records(const struct event *e, uint32_t type);

/* Whether attr tells what it asks for: it is neither found nor unread. */
bool event_told(const struct event *e);

/* To whose ring its records go; an ended event still tells where they went. */
const struct event *event_writes_to(const struct event *e);

/* A member of the attr (ATTR_TYPE, ...); 0 where the attr has it not or is not known. */
uint64_t event_attr(const struct event *e, unsigned int member);

/* The event behind a task's descriptor, or NULL. */
struct event *model_event(const struct model *m, pid_t tid, int fd);

/*
 * The event that this open made, once model_exit() was called; before, what its
 * number stood for until then.  NULL: none.
 */
struct event *model_opened(const struct model *m, const struct call *c);

/* The event with that kernel id, or NULL. */
struct event *model_event_by_id(const struct model *m, uint64_t id);

/* Tells the model an event's kernel id. */
void model_set_id(struct model *m, struct event *e, uint64_t id);

/* A descriptor through which tid's process has the event; -1 for none. */
int model_fd_of(const struct model *m, pid_t tid, const struct event *e);

/* Counts a record of len bytes that the event wrote into the ring. */
void model_recorded(struct ring *r, struct event *e, const uint8_t *bytes, size_t len);

/* A look into the ring is over. */
void model_looked(struct ring *r, uint64_t missed, bool torn);

/* A look into the ring failed with that errno. */
void model_blind(struct ring *r, int error);

/* The ring or event of that number; NULL where it has ended and is not kept. */
struct ring *model_ring(const struct model *m, unsigned int number);
struct event *model_event_number(const struct model *m, unsigned int number);

/* A ring or AUX area that tid's process has mapped in that range, or NULL. */
struct ring *model_ring_at(const struct model *m, pid_t tid, uint64_t start, uint64_t end);

/*
 * Calls hook for each ring that tid's process has mapped, AUX areas left out.
 * The hook must not change the model's rings.
 */
void model_each_ring(struct model *m, pid_t tid,
		     void (*hook)(void *ctx, struct ring *r), void *ctx);

/* Calls hook for one task of each process that has a ring mapped. */
void model_each_holder(struct model *m,
		       void (*hook)(void *ctx, pid_t tid, pid_t pid), void *ctx);

/* Calls hook for each descriptor of an event that tid's process has. */
void model_each_fd(struct model *m, pid_t tid,
		   void (*hook)(void *ctx, int fd, bool cloexec, struct event *e),
		   void *ctx);

/* Calls hook for each mapping of rings and AUX areas that tid's process has. */
void model_each_mapping(struct model *m, pid_t tid,
			void (*hook)(void *ctx, const struct ring *r), void *ctx);

/* Calls hook for each event that a poll, select or epoll_wait waits for. */
void model_each_waited(const struct model *m, const struct call *c,
		       void (*hook)(void *ctx, struct event *e), void *ctx);

/* Calls hook for each living event whose records go to that ring. */
void model_each_writer(struct model *m, const struct ring *r,
		       void (*hook)(void *ctx, struct event *e), void *ctx);

/* With keep: everything there ever was, in the order in which it came. */
size_t model_events(const struct model *m, struct event *const **list);
size_t model_rings(const struct model *m, struct ring *const **list);
size_t model_attempts(const struct model *m, const struct attempt **list);
size_t model_tasks(const struct model *m, struct task_info *const **list);

#endif
