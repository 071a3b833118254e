/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The second filter, for processes that are watched closely: which process has
 * it, and how it gets there.
 */
#ifndef PEVTRACE_TRACE_SECOND_FILTER_H
#define PEVTRACE_TRACE_SECOND_FILTER_H

#include <stdbool.h>
#include <sys/types.h>

struct task;
struct tracer;
struct second_filter;

/* For a program that is launched with the first filter, by us: see second_filter_free(). */
struct second_filter *second_filter_new(void);

/* For another thread of the process. */
struct second_filter *second_filter_share(struct second_filter *g);

/*
 * For a child process, which has the filters that its parent had when it was
 * made; tid and parent are known to ptrace.
 */
struct second_filter *second_filter_inherit(const struct second_filter *g, pid_t tid, pid_t parent);

void second_filter_free(struct second_filter *g);

/* Has the process no filters but ours? */
bool second_filter_is_alone(const struct task *task);

/* Does the filter stop the task wherever close watch needs it to stop? */
bool second_filter_covers(const struct tracer *t, const struct task *task);

/*
 * At the return of task->call: gives the task's process the filter that close
 * watch needs, where it has none.  Where that fails, the process stays without.
 * False when the task ended meanwhile: it must not be touched any more.
 */
bool second_filter_extend(struct tracer *t, struct task *task);

#endif
