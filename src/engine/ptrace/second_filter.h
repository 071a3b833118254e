/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The second filter: seccomp filters that are installed in a process when it opens or
 * receives its first event, and stop calls on the descriptors of events.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "engine/ptrace/filter.h"

/*
 * Build a filter to be added to the first one: SECCOMP_RET_TRACE for WATCH_FD,
 * WATCH_IOCTL and WATCH_SHARED calls on a descriptor in one of the ranges and,
 * if held, for all WATCH_HELD and WATCH_UNSHARE calls and mmap(MAP_FIXED).  Return false if it exceeds
 * BPF_MAXINSNS.
 */
bool second_filter_build(struct filter *f, const struct trace_options *opts,
			 const struct nr_tables *nrs, const struct fd_range *ranges,
			 size_t nranges, bool held);

struct task;
struct tracer;

/* The filters of a process.  Its threads have the same ones (SECCOMP_FILTER_FLAG_TSYNC). */
struct second_filter {
	unsigned int refs;
	long filters;	/* number of seccomp filters that the tracer expects in it */
	size_t ranges;	/* number of tracer.ranges that they cover */
	bool held;	/* they stop WATCH_HELD calls */
	bool refused;	/* the process cannot have a second filter */
};

/* Return the state of a launched program, which has the first filter only. */
struct second_filter *second_filter_new(void);

/* Return the same state for another thread of the process. */
struct second_filter *second_filter_share(struct second_filter *f);

/* Return the state of a child process: it inherits the filters of its parent. */
struct second_filter *second_filter_inherit(const struct second_filter *f, pid_t tid,
					    pid_t parent);

void second_filter_free(struct second_filter *f);

/* Return whether the process has no filters but those of the tracer. */
bool second_filter_is_alone(const struct task *task);

/* Return whether the filters stop the task wherever TRACE_CLOSE requires. */
bool second_filter_covers(const struct tracer *t, const struct task *task);

/*
 * In the syscall-exit-stop of task->call: make the task install the filter that its
 * process lacks for TRACE_CLOSE.  If that fails, never try again in this process.
 * Return false if the task ended meanwhile: it is not in a stop, and may be freed.
 */
bool second_filter_extend(struct tracer *t, struct task *task);
