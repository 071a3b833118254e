/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacks of tasks, by the process that walks them (walker.h). */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct task;
struct tracer;

/* Discard what the walker caches about a task that exits or executes a program. */
void stack_forget(struct tracer *t, struct task *task);

/* End the walker; stack_rest: only if it has been idle for a while. */
void stack_end(struct tracer *t);
void stack_rest(struct tracer *t);

/* Return whether wait4() has just reported the end of the walker, and note that it ended. */
bool stack_is_walker(struct tracer *t, pid_t tid);
