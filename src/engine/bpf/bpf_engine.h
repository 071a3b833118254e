/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The BPF engine: programs in the kernel report the same calls and tasks as the ptrace engine
 * (engine/ptrace/trace.h), by the same hooks, without stopping a task.  What happens while a hook
 * runs is therefore later than what it is told of.  Cannot inject, delay or walk stacks.
 */
#pragma once

#include "core/lib/buf.h"
#include "engine/ptrace/trace.h"

struct bpf_engine;

enum { BPF_BUFFER_DEFAULT = 8 << 20, BPF_BUFFER_MOST = 1 << 30 };	/* bytes */

/* Where the programs see calls. */
enum bpf_hooks {
	BPF_HOOKS_ANY,		/* at functions if everything is followed and the kernel allows it */
	BPF_HOOKS_FUNCTIONS,	/* functions of the calls that may be reported; others cost nothing */
	BPF_HOOKS_TRACEPOINTS,	/* those of all system calls */
};

struct bpf_engine_setup {
	const struct trace_options *opts;
	const struct trace_ops *ops;		/* close_watch and tick are not called */
	void *ctx;
	bool everything;	/* follow every task; one is born with its first call */
	int cgroup;		/* of these, only those in a cgroup: descriptor of its directory, or -1 */
	enum bpf_hooks hooks;
	size_t buffer;		/* bytes of the ring buffer for messages, a power of two */
	bool wakes_for_tasks;	/* births and execs are read at once, as /proc tells more of them */
};

/* How many messages were lost, by the reason. */
struct bpf_lost {
	uint64_t full;		/* the buffer was full */
	uint64_t bytes;		/* that these would have taken in it */
	uint64_t refused;	/* the kernel refused the lock of the buffer (Linux 6.15) */
	uint64_t untracked;	/* a table of tasks had no room, or the state of one no memory */
	uint64_t skipped;	/* at most: programs not run, as a preempted task was in one (7.x) */
};

static inline uint64_t bpf_lost_sum(const struct bpf_lost *l)
{
	return l->full + l->refused + l->untracked + l->skipped;
}

/*
 * Load the programs and let them run; NULL, and a text in why, if that is not possible.
 * What setup points to must outlive the engine.
 */
struct bpf_engine *bpf_engine_new(const struct bpf_engine_setup *setup, struct buf *why);

/* Follow a child of pevtrace that waits; its calls are reported once it runs file, its program. */
void bpf_engine_follow_child(struct bpf_engine *e, pid_t pid, const char *file);

/* Follow the threads of a process.  Return 0, or a positive errno after a warn(). */
int bpf_engine_attach(struct bpf_engine *e, pid_t pid);

/* Report also those calls of the process that matter only to one that holds an event. */
void bpf_engine_holds(struct bpf_engine *e, pid_t pid);

/* Call the hooks for what has happened.  Return how many tasks are followed now. */
size_t bpf_engine_read(struct bpf_engine *e);

/* Return a descriptor for poll(2), readable before the buffer is full. */
int bpf_engine_fd(const struct bpf_engine *e);

struct bpf_lost bpf_engine_lost(const struct bpf_engine *e);

/* Report what is left as TRACE_DETACHED. */
void bpf_engine_free(struct bpf_engine *e);
