/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacks of tasks, by the process that walks them (walker.h). */
#ifndef PEVTRACE_TRACE_STACK_H
#define PEVTRACE_TRACE_STACK_H

#include <stdbool.h>
#include <sys/types.h>

struct task;
struct tracer;

/* What is known of the task's program holds no more: it ends, or runs another. */
void stack_forget(struct tracer *t, struct task *task);

/* Ends the process, if there is one; stack_rest: one that was not needed of late. */
void stack_end(struct tracer *t);
void stack_rest(struct tracer *t);

/* What wait4() has just reported the end of was that process. */
bool stack_is_walker(struct tracer *t, pid_t tid);

#endif
