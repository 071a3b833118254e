/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace: an engine, its hooks, and the session that they feed. */
#pragma once

#include "core/lib/program.h"
#include "core/session/session.h"
#include "engine/bpf/bpf_engine.h"
#include "engine/ptrace/trace.h"

struct live;
struct host;
struct symbols;
struct text_options;

/* Functions of the verb that the hooks call during a trace. */
struct live_user {
	/* Set c->inject of a call that begins and concerns perf, whose memory is captured. */
	void (*ask)(struct live *l, struct call *c);
	/* A task execed or ended, with arguments as in struct trace_ops. */
	void (*execed)(struct live *l, pid_t tid, pid_t former);
	void (*gone)(struct live *l, pid_t tid);
	/* Return whether nobody reads what further calls would show. */
	bool (*nobody_reads)(const struct live *l);
};

/* What to trace, and how; the lists and texts must outlive the trace. */
struct live_options {
	char *const *argv;	/* the command, or NULL */
	const struct program *program; /* how it is run */
	pid_t *pids;		/* to attach to; threads are replaced by their processes */
	size_t npids;
	const char *cgroup;	/* a directory, or NULL */
	enum bpf_hooks bpf_hooks;
	size_t buffer;		/* of the BPF engine: bytes, a power of two */
	const struct text_options *text;
	size_t limit;		/* calls to show; 0: all */
	unsigned int look_ms;	/* how often rings are read, 0: at calls, and for perf_data as needed */
	bool all;		/* every process of the machine, or of the cgroup */
	bool json, perf_data;	/* what is written */
	bool keep;		/* the model keeps closed events and ended tasks */
	bool stacks;
	bool holders, doubts;	/* note them for what is written at the end */
};

struct live {
	struct view view;
	struct session session;
	struct live_options options;
	const struct live_user *user;
	const struct names *names;
	struct host *host;
	struct symbols *symbols; /* NULL: no stacks or functions are named */
	struct tracer *tracer;	/* the ptrace engine, or NULL */
	struct bpf_engine *bpf;	/* the BPF engine, or NULL */
	struct looker *looker;	/* NULL: rings are not read */
	struct earlier *earlier;
	struct measured *measured; /* NULL: not reported */
	struct map known;	/* tids whose name is known */
	struct map uring;	/* pids that mapped an io_uring, which may close descriptors */
	struct map waiting;	/* tids in a receive that began before an event was sent */
	pid_t last_target;	/* of an open from another PID namespace */
	uint64_t calls;		/* whose return stopped a task */
	uint64_t event_stops;	/* the sum of the events that a task had at each of its stops */
	size_t most_events;	/* the most of these at one stop */
	size_t shown;		/* calls, of --syscall-limit */
	struct buf held;	/* processes that were in the way of an open that failed, */
	int held_errno;		/* with that negative errno */
	struct buf sharers;	/* those with events of the PMU, when a multiplexed count was read */
	struct buf doubts;	/* about events that do not count on this machine */
	bool saw_perf;		/* a call that concerns perf */
	bool noted_sharers;
	bool warned_ptrace;
	bool warned_rings;
};

/* The hooks of both engines; their ctx is a struct live. */
extern const struct trace_ops live_ops;

/* The view that learns symbols from records and warns of rings that cannot be read. */
extern const struct view_ops live_view_ops;

/* Report the BPF program of an event that was opened unseen. */
void live_learn_program(struct live *l, pid_t tid, int fd, struct event *e);

/* Note which events opened, but do not count on this machine.  The trace must have ended. */
void live_note_doubts(struct live *l);

/* Identify the events whose descriptors a message sends, so that a receive knows them. */
void live_learn_sent_ids(struct live *l, const struct call *c);

/* Forget the event of a descriptor that an io_uring closed: another file may have its number. */
void live_forget_closed(struct live *l, const struct call *c);

/* Add an event of which no open or receive was seen, at its first call. */
void live_adopt_used(struct live *l, const struct call *c);

/*
 * Identify what a receive got, and let a receive begin that was no concern until now.  Return
 * false if it still is none.
 */
bool live_adopt_received(struct live *l, struct call *c);

/* Let a descriptor of an event be watched, where an engine has to be told. */
void live_watch_fd(struct live *l, int fd);

/*
 * Attach to the processes of -p by a function of an engine, which warns and returns an errno
 * where it cannot: one that has just ended leaves the others traced.  Return false if nothing is
 * left to trace.
 */
typedef int live_attach_fn(struct live *l, pid_t pid);
bool live_attach(struct live *l, live_attach_fn *attach);

/*
 * Note how many events the task has that a call stopped: the kernel goes through them each time
 * that the task is switched to.  Return whether they were so many, so often, that an engine
 * without stops is much faster.
 */
void live_note_stops(struct live *l, const struct call *c);
bool live_stops_were_slow(const struct live *l);

/* Return whether the BPF engine can be loaded here. */
bool live_bpf_works(struct live *l, const struct trace_options *t);

/* Trace with the BPF engine.  Return false after a warn() if it could not begin. */
bool live_trace_bpf(struct live *l, const struct trace_options *t, int *status);

/*
 * Note who holds events of the PMU of an open that failed because others are in
 * use, or of a count that was multiplexed; once each, as it takes as long as pevtrace ps.
 */
void live_note_holders(struct live *l, const struct call *c);

/* Make the model agree with what the kernel says of the event of a call */
void live_agree(struct live *l, const struct call *c);

/* Identify the event that a call opened. */
void live_opened(struct live *l, const struct call *c);
