/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state that results from the calls so far: tasks, their descriptor tables, events,
 * groups, ring buffers.  It is updated with calls in their order, whether live, from
 * a dump, or made by pevtrace.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/call.h"
#include "core/abi/refusals.h"
#include "xlat/activities.h"

struct buf;
struct model;

/* What enabled an event. */
enum event_start {
	START_NEVER,	/* opened disabled and not enabled since */
	START_OPEN,	/* enabled at open */
	START_EXEC,	/* enable_on_exec, at the exec of its task */
	START_IOCTL,	/* PERF_EVENT_IOC_ENABLE or REFRESH */
	START_PRCTL,	/* PR_TASK_PERF_EVENTS_ENABLE */
	START_LEADER,	/* enabled at open, but its leader was disabled */
	START_UNKNOWN,	/* its attr was not readable, or it was enabled before it was followed */
};

/* How an event got its BPF program. */
enum event_bpf {
	BPF_NONE,
	BPF_SET,	/* PERF_EVENT_IOC_SET_BPF: until the event is closed */
	BPF_LINKED,	/* BPF_LINK_CREATE: until the link is closed */
	BPF_FOUND,	/* attached before the event was followed */
	BPF_DETACHED,	/* by a link, and the link was closed before the event */
};

enum {
	EVENT_ATTR_MAX = 256,	/* limit of the bytes kept of an attr */
	ATTEMPT_ATTR_MAX = 4096, /* the same of one that was refused */
	EVENT_RECORD_TYPES = 32, /* higher types are counted as 0 */
};

/* The last count that the tracee read, or that pevtrace read at the end. */
struct event_count {
	bool known, timed;	/* timed: enabled and running are known */
	bool started;		/* read after the event was enabled for the first time */
	uint64_t value, enabled, running;	/* times in ns */
};

/* What was seen of the ring buffers of an event, whichever events wrote there. */
struct ring_totals {
	uint64_t size;		/* bytes for records of the last one; 0: none, or not known */
	bool shared;		/* other events wrote there */
	bool overwrite;		/* the last one is mapped read-only */
	bool partly;		/* some of its records were not seen, nobody knows how many bytes */
	uint32_t bursts;	/* LOST records */
	uint64_t missed;	/* bytes that were not seen, besides */
	uint64_t records, bytes; /* that were seen, without those that report losses */
	uint64_t burst;		/* what the largest LOST record reports */
	uint64_t lost_reported, lost_read; /* by LOST records; by reads with PERF_FORMAT_LOST */
	uint64_t overwritten;	/* bytes that newer ones replaced, of rings mapped read-only */
	uint64_t unread;	/* bytes between data_tail and data_head when a ring was unmapped */
};

/* Return about how many records were not seen, by the bytes of those that were; 0: not known. */
static inline uint64_t ring_missed(const struct ring_totals *r)
{
	double each = r->records ? (double)r->bytes / (double)r->records : 0;

	return each > 0 ? (uint64_t)(0.5 + (double)r->missed / each) : 0;
}

/* An event in the kernel, created by a successful perf_event_open. */
struct event {
	unsigned int number;	/* 1, 2, ... in the order of opening */
	unsigned int refs;
	char *name;		/* "cpu-clock:u cpu0" */
	char *probed;		/* path or function that a probe names, or NULL */
	const uint8_t *attr;	/* shared with equal ones */
	size_t attr_len;
	uint64_t read_format;
	/* the caller's other arguments */
	pid_t pid;
	int cpu;
	uint64_t flags;
	struct event *leader;	/* NULL: leads itself */
	/* the task that opened it, its descriptor there, and when (CLOCK_MONOTONIC) */
	pid_t opener;
	int fd;
	uint64_t opened_ns, closed_ns;
	/* its state */
	uint64_t id;		/* PERF_EVENT_IOC_ID, 0: not known */
	struct event *output;	/* writes to the ring buffer of this event */
	enum event_start start;
	bool found : 1;		/* opened before it was followed */
	bool described : 1;	/* found, and model_describe() was called */
	bool unread : 1;	/* its attr was not readable: no member is known */
	bool format_known : 1;	/* read_format is valid */
	bool enabled : 1;	/* according to the calls seen */
	bool closed : 1;	/* nothing is left that keeps it open */
	bool ended : 1;		/* it was open when the last task that had it exited */
	bool leads : 1;		/* others were opened in its group */
	bool detached : 1;	/* the ring buffer of output was unmapped since: it writes nowhere */
	bool refreshed : 1;	/* by PERF_EVENT_IOC_REFRESH */
	bool valued : 1;	/* read_value is valid, and if timed so is read_enabled */
	bool timed : 1;
	unsigned int members;	/* open ones in its group, besides itself */
	uint32_t formats;	/* bit N: one of them had N as its read_format */
	char *filter;		/* PERF_EVENT_IOC_SET_FILTER */
	enum event_bpf bpf;
	struct bpf_program program;
	unsigned int handles;	/* open descriptors */
	unsigned int controls;	/* ioctls that enable, disable, reset, refresh */
	unsigned int reads, maps;
	unsigned int empty_reads; /* that returned 0 bytes, as in error state */
	struct event_count count;
	uint64_t read_value, read_enabled; /* the last that the tracee read, if valued; ns */
	uint64_t *records;	/* [EVENT_RECORD_TYPES], NULL before the first: event_records() */
	uint64_t lost_reported;	/* as reported by LOST and LOST_SAMPLES records */
	uint64_t lost_read;	/* as read by PERF_FORMAT_LOST */
	uint64_t samples_lost;	/* as reported by LOST_SAMPLES records */
	struct ring_totals ring;
	/* internal: events whose output is this one */
	struct model *owner;
	struct event **sources;
	size_t nsources;
	unsigned int mapped;	/* its mapped ring buffers */
	unsigned int links;	/* links of BPF programs to it that are open */
	struct ring *buffer[2];	/* its mapped ring buffer, and AUX area, or NULL */
};

/*
 * A mapping of an event's ring buffer or AUX area.  All mappings of a buffer share it: the
 * first one has its number and counts.
 */
struct ring {
	unsigned int number;
	unsigned int refs;
	struct ring *first;	/* the first mapping of the same buffer; NULL: this one */
	unsigned int mappings;	/* of the buffer that are left; counted in the first */
	pid_t pid;		/* process that mapped it */
	struct event *event;	/* whose descriptor was mapped */
	uint64_t start, end;	/* addresses in that process */
	bool aux : 1;
	bool overwrite : 1;	/* first mapped read-only: the kernel ignores data_tail */
	bool unmapped : 1;
	bool leaving : 1;	/* a call that ends or moves this mapping is running */
	bool ends_unread : 1;	/* it is a call that unmaps it, and unread was read since */
	unsigned int looks, polls;
	unsigned int torn;
	unsigned int blind;	/* failed attempts to read it */
	int blind_error;	/* errno of the last of them */
	uint64_t records, missed; /* records read; bytes overwritten before they were read */
	uint64_t looked_ns;	/* when it was read last, and what its first page told then: */
	uint64_t unread;	/* bytes between data_tail and data_head; overwrite: bytes replaced */
};

/* Return the mapping that counts for the buffer. */
static inline struct ring *ring_first(struct ring *r)
{
	return r->first ? r->first : r;
}

/* What is known of the limits that opens are checked against, from the machine and from what opened. */
struct opened_limits {
	uint64_t sample_freq, sample_max_stack;	/* the highest that opened; 0: none */
	uint32_t cpus;		/* that exist; 0: not known */
};

/* A perf_event_open that failed. */
struct attempt {
	pid_t tid;
	int error;
	bool injected;		/* refused by pevtrace, not by the kernel */
	uint64_t attr_at;	/* its address in the caller */
	const uint8_t *attr;	/* shared with equal ones */
	size_t attr_len;
	pid_t pid;
	int cpu, group_fd;
	uint64_t flags;
	struct rule_group group; /* the event of group_fd at that time */
	unsigned int events;	/* number of events opened before it */
	const struct opened_limits *opened; /* of the model, up to now; or NULL */
	uint64_t ns;		/* when it began */
	char *probed;		/* as of an event */
	char *because;		/* of an injected one: what pevtrace said of it, or "" */
};

/* The statistics of a task for the summary. */
struct task_info {
	pid_t tid, pid;
	char comm[16];
	unsigned int opens, failures, reads, polls;
	struct ring **polled;	/* rings waited for; owned references */
	size_t npolled;
};

/*
 * Create a model.  names supplies the names of PMUs and tracepoints and must outlive it.
 * keep: closed events and exited tasks are kept, for a summary.
 */
struct model *model_new(const struct names *names, bool keep);

/*
 * Keep only what a file of records requires: of closed events, members of groups, those with lost
 * samples, and without ring buffers one of each attr.  model_events() has NULL for the others;
 * model_rings() and model_attempts() have nothing.
 */
void model_keep_few(struct model *m);
void model_free(struct model *m);

/* Add a task that was created or attached. */
void model_born(struct model *m, const struct activity_task *b);

/* Return the event of the buffer that is mapped there, and whether it is an AUX area, or NULL. */
typedef struct event *model_ring_event(void *ctx, pid_t pid, uint64_t start, bool *aux);

/* Return the kernel's id of the event at a process's descriptor, or 0. */
typedef uint64_t model_id_of(pid_t pid, pid_t tid, int fd);

/*
 * Read from /proc which events a running process has (all: also those that its next exec
 * closes), or which ring buffers.  Descriptors of one id are of one event.
 */
void model_adopt(struct model *m, pid_t tid, bool all, model_id_of *id_of);
void model_adopt_rings(struct model *m, pid_t tid, model_ring_event *of, void *ctx);

/*
 * In place of a descriptor: that which the call in progress closes, where another event has its
 * number now; none, as only a ring keeps the event.
 */
enum { FOUND_CLOSING = -1, FOUND_MAPPED = -2 };

/*
 * Set the task's fd to the event, whose descriptor came from elsewhere, or to a new event, opened
 * before attach, if e is NULL.  Return it, or NULL if the task is not known.
 */
struct event *model_found(struct model *m, pid_t tid, int fd, bool cloexec, struct event *e);

/* Add what the kernel tells of an event that was found; leader and output may be NULL. */
void model_describe(struct model *m, struct event *e, const struct activity_described *f);

/* Forget what the task's fd was: a call that is not followed closed it. */
void model_closed(struct model *m, pid_t tid, int fd);

/*
 * Add a ring buffer or AUX area that the task mapped before attach, and return it, or NULL if it
 * can be of no event.  If its event is not known (NULL), it stands for the task's first event, and
 * is not read.
 */
struct ring *model_found_ring(struct model *m, const struct activity_found_ring *f);

/* Set the name of a task (/proc/TID/comm). */
void model_comm(struct model *m, pid_t tid, const char *comm);

/* Record an exec of tid's process, called by the thread former. */
void model_execed(struct model *m, pid_t tid, pid_t former);

/*
 * Remove a task that ended; or, if it was detached from, that goes on: then what it holds
 * stays open.
 */
void model_gone(struct model *m, pid_t tid, bool detached);

/*
 * Get the i-th range whose mappings the call ends, moves or replaces if it succeeds; return
 * false if there is none.  Of shmat(2) the range is one byte: the call does not tell its length.
 */
bool model_covers(const struct call *c, unsigned int i, uint64_t *start, uint64_t *end);

/* Get the same ranges and that of mprotect(2), which a call on memory is about. */
bool model_touches(const struct call *c, unsigned int i, uint64_t *start, uint64_t *end);

/*
 * Fill in what is known of the events and ring buffers that the call names, in the state before it;
 * machine and limits remain unknown.
 */
void model_call_facts(const struct model *m, const struct call *c, struct refusal_facts *f);

/* Return whether the call concerns perf, in the state at its start. */
bool model_concerns(struct model *m, const struct call *c);

/* Return whether the call unshares the task's descriptor table, which matters for later events. */
bool model_learns(const struct model *m, const struct call *c);

/* Return whether the model must see the return of this call. */
bool model_needs(enum call_id id);

/* Update the model at syscall-enter: calls that cannot fail, such as close. */
void model_enter(struct model *m, const struct call *c);

/* Update the model at syscall-exit. */
void model_exit(struct model *m, const struct call *c);

/* Return whether the task's process has an event open or a ring buffer mapped. */
bool model_holds(const struct model *m, pid_t tid);

/* Return whether descriptors of events are in transit through a socket. */
bool model_passing(const struct model *m);

/* Forget what was sent more than ten seconds before now (ns) and not received. */
void model_forget_messages(struct model *m, uint64_t now);

/* Return whether the task holds an event or is measured by one. */
bool model_involved(const struct model *m, pid_t tid);

/* Return whether the event was only opened and closed, to probe the kernel. */
bool event_is_probe(const struct event *e);

/*
 * Return whether it writes no samples, and other records without task, time and id, as perf
 * record's own event for BPF programs: nothing relates them to those of other events.
 */
bool event_is_bare(const struct event *e);

/* Return whether it measures all tasks of a CPU or cgroup; none if its task had ended before. */
bool event_has_all_tasks(const struct event *e);

/* Return the task that all its records are of, or -1: they may be of several. */
pid_t event_single_task(const struct event *e);

/* Return the number of records of a type that were seen of the event; type 0: all other types. */
static inline uint64_t event_records(const struct event *e, uint32_t type)
{
	return e->records ? e->records[type] : 0;
}

/* Return whether its target and group are known: it is described, if it was found. */
static inline bool event_known(const struct event *e)
{
	return !e->found || e->described;
}

/* Return whether these and its attr are known. */
static inline bool event_attr_known(const struct event *e)
{
	return event_known(e) && !e->unread;
}

/* Return whether its last count that is known has less time running than enabled. */
static inline bool event_multiplexed(const struct event *e)
{
	return e->count.known && e->count.timed && e->count.running < e->count.enabled;
}

/* Return the event to whose ring buffer its records go, or went before it was closed. */
static inline const struct event *event_writes_to(const struct event *e)
{
	return e->output ? e->output : e;
}

/* Note that it lost so many records in all, by a read with PERF_FORMAT_LOST. */
void event_note_lost(struct event *e, uint64_t lost);

/* Return a member of the attr (ATTR_TYPE, ...), 0 if the attr lacks it or is not known. */
uint64_t event_attr(const struct event *e, unsigned int member);

/* Return the event of a task's descriptor, or NULL. */
struct event *model_event(const struct model *m, pid_t tid, int fd);

/*
 * Return the event at the first descriptor of one among the call's arguments, or that the open,
 * which has returned, created; or NULL.
 */
struct event *model_subject(const struct model *m, const struct call *c);

/* Return the event that the call, which begins, names by its descriptor *fd, or NULL. */
struct event *model_about(const struct model *m, const struct call *c, int *fd);

/* Return the same, or what the task's call in progress named by fd when it began. */
struct event *model_named(const struct model *m, pid_t tid, int fd);

/* Return the event to which the link at a task's descriptor attaches a program, or NULL. */
struct event *model_linked(const struct model *m, pid_t tid, int fd);

/*
 * Return the event that this open created, or NULL.  Call it after model_exit(): before, it
 * returns the event that the number referred to until then.
 */
struct event *model_opened(const struct model *m, const struct call *c);

/* Return the event with that kernel id, or NULL. */
struct event *model_event_by_id(const struct model *m, uint64_t id);

/* Set an event's kernel id. */
void model_set_id(struct model *m, struct event *e, uint64_t id);

/* Return a descriptor of the event in tid's process, or -1. */
int model_fd_of(const struct model *m, pid_t tid, const struct event *e);

/* Count a record of len bytes that the event wrote into the ring buffer. */
void model_recorded(struct ring *r, struct event *e, const uint8_t *bytes, size_t len);

/* Record that a ring buffer was read, or that this failed. */
void model_looked(const struct activity_look *a);

/* Return the ring buffer or event of that number, or NULL if it has ended and is not kept. */
struct ring *model_ring(const struct model *m, unsigned int number);
struct event *model_event_number(const struct model *m, unsigned int number);

/* Return a mapping in that range of tid's process, or NULL. */
struct ring *model_mapping_at(const struct model *m, pid_t tid, uint64_t start, uint64_t end);

/* Return the ring buffer or AUX area that is mapped there, by its first mapping, or NULL. */
struct ring *model_ring_at(const struct model *m, pid_t tid, uint64_t start, uint64_t end);

/*
 * Call hook once for each ring buffer, without AUX areas, that tid's process has mapped in
 * that range (end 0: anywhere), with a mapping of it that no running call ends or moves.  It
 * must not change the model's ring buffers.
 */
void model_each_ring(struct model *m, pid_t tid, uint64_t start, uint64_t end,
		     void (*hook)(void *ctx, struct ring *r), void *ctx);

/* Call hook for one task of each process that has a ring buffer mapped. */
void model_each_holder(struct model *m,
		       void (*hook)(void *ctx, pid_t tid, pid_t pid), void *ctx);

/*
 * Call hook for each task that is followed.  about: the event that its call in progress names by
 * fd, which may be closed since, or NULL.
 */
void model_each_task(const struct model *m,
		     void (*hook)(void *ctx, pid_t tid, pid_t pid, struct event *about, int fd),
		     void *ctx);

/* Call hook for each descriptor of an event that tid's process has. */
void model_each_fd(struct model *m, pid_t tid,
		   void (*hook)(void *ctx, int fd, bool cloexec, struct event *e),
		   void *ctx);

/* Call hook for each descriptor of an event whose kernel id is unknown; it may set the id. */
void model_each_unidentified(struct model *m,
			     void (*hook)(void *ctx, pid_t pid, pid_t tid, int fd, struct event *e),
			     void *ctx);

/* Return the i-th mapping of ring buffers and AUX areas that tid's process has, or NULL. */
struct ring *model_mapping(const struct model *m, pid_t tid, size_t i);

/* Call hook for each event that a poll, select or epoll_wait waits for. */
void model_each_waited(const struct model *m, const struct call *c,
		       void (*hook)(void *ctx, struct event *e), void *ctx);

/* Call hook for each open event whose records go to that ring buffer. */
void model_each_writer(struct model *m, const struct ring *r,
		       void (*hook)(void *ctx, struct event *e), void *ctx);

/*
 * Call hook for each event whose records go to a ring buffer since that call, which has returned:
 * it mapped the buffer, or redirected the event's records to it.
 */
void model_each_recorded(struct model *m, const struct call *c,
			 void (*hook)(void *ctx, struct event *e), void *ctx);

/*
 * Return what is known of the event that group_fd of a perf_event_open names, which is going to be
 * made or failed; its attr is the model's, and is kept only with keep.
 */
struct rule_group model_group(const struct model *m, const struct call *c);

/* Return the bytes of a page of the traced machine, or 0: not known. */
uint32_t model_page_size(const struct model *m);

/* Return KVER() of the traced kernel; 0: not known. */
uint32_t model_release(const struct model *m);

/*
 * Iterate over all events that the model still has, in no order: start with *at = 0; NULL at the
 * end.  Without keep, hook is called before a closed one is freed.
 */
struct event *model_next_event(const struct model *m, size_t *at);
void model_on_end(struct model *m, void (*hook)(void *ctx, const struct event *e), void *ctx);

/* Return what an open that failed asked for; its attr is the call's. */
struct attempt attempt_of(const struct model *m, const struct call *c);

/* Return all events, rings, tasks and attempts ever seen, in their order; requires keep. */
size_t model_events(const struct model *m, struct event *const **list);

/*
 * Return whether the event is multiplexed and one of its group needs a counter, as software
 * events, tracepoints and breakpoints do not; requires keep.
 */
bool model_takes_turns(const struct model *m, const struct event *e);
size_t model_rings(const struct model *m, struct ring *const **list);
size_t model_attempts(const struct model *m, const struct attempt **list);
size_t model_tasks(const struct model *m, struct task_info *const **list);

/*
 * Return the first event that the task opened after the failure, with a similar attr and
 * possibly the same target, or NULL.  Requires a model with keep.
 */
const struct event *attempt_instead(const struct model *m, const struct attempt *a);

/* Return whether both have the same type and config. */
bool attempt_same_event(const struct attempt *a, const struct event *e);

/* Append the names of the members, pid and cpu, in which the two differ. */
void attempt_compare(const struct attempt *a, const struct event *e, struct buf *different);
