/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacks of tasks, by the process that walks them (walker.h). */
#ifndef PEVTRACE_TRACE_STACK_H
#define PEVTRACE_TRACE_STACK_H

#include <stdbool.h>
#include <sys/types.h>

struct task;
struct tracer;

/* Drop what is kept of the task's program: it exits, or executes another. */
void stack_forget(struct tracer *t, struct task *task);

/* End the walker; stack_rest: only if it has been idle for a while. */
void stack_end(struct tracer *t);
void stack_rest(struct tracer *t);

/* Return whether the process whose end wait4() has just reported was the walker. */
bool stack_is_walker(struct tracer *t, pid_t tid);

#endif
