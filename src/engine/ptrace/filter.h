/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which calls stop a task: as a seccomp filter, and as a test of one call. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/call.h"
#include "engine/ptrace/nr.h"
#include "engine/ptrace/trace.h"

struct sock_filter;

/* A classic BPF program; zero-initialised is empty. */
struct filter {
	struct sock_filter *insns;
	unsigned short len;
};

/* The SECCOMP_RET_DATA that filters are built with; filter_set_data() replaces it. */
enum { FILTER_DATA = 0x7065 };

/* Descriptors from first to last. */
struct fd_range {
	uint32_t first, last;
};

/*
 * Build the first filter: SECCOMP_RET_TRACE for the watched calls of every known
 * architecture, SECCOMP_RET_ALLOW for all others.
 */
void filter_build(struct filter *f, const struct trace_options *opts,
		  const struct nr_tables *nrs);

/*
 * Install a filter in the calling thread.  Set no_new_privs only if the kernel
 * requires it.  Return 0 or a positive errno.  Safe after fork(): allocates nothing.
 */
int filter_install(const struct filter *f);

/*
 * Replace FILTER_DATA, so that a tracee with filters of its own cannot use the same
 * SECCOMP_RET_DATA.
 */
void filter_set_data(struct filter *f, uint16_t data);

void filter_free(struct filter *f);

/*
 * Return whether the first filter stops this call.  args must be the arguments
 * themselves where the architecture passes a pointer to them.
 */
bool filter_matches(const struct trace_options *opts, const struct call *call);

/*
 * The second filter: seccomp filters that are installed in a process when it opens or
 * receives its first event, and stop calls on the descriptors of events.
 */

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
	bool own;	/* the program has filters, or tried: their errors hide calls from ours */
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

/* Return whether the process may have filters of its own, so that every call must stop. */
bool second_filter_is_hidden(const struct task *task);

/* Return whether the filters stop the task wherever TRACE_CLOSE requires. */
bool second_filter_covers(const struct tracer *t, const struct task *task);

/*
 * In the syscall-exit-stop of task->call: make the task install the filter that its
 * process lacks for TRACE_CLOSE.  If that fails, never try again in this process.
 * Return false if the task ended meanwhile: it is not in a stop, and may be freed.
 */
bool second_filter_extend(struct tracer *t, struct task *task);
