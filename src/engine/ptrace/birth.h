/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* New tasks, and exec's change of identity. */
#pragma once

#include <sys/types.h>

struct task;
struct tracer;

/* Add the child of a PTRACE_EVENT_FORK, VFORK or CLONE stop and call the born hook. */
void birth_event(struct tracer *t, struct task *parent, unsigned int event);

/* Keep an early task in its stop.  task: NULL at its first wait status. */
void birth_early(struct tracer *t, struct task *task, pid_t tid, int status);

/* Call the born hook for early tasks older than 300 ms: their parents were killed. */
void birth_adopt(struct tracer *t);

/*
 * In a PTRACE_EVENT_EXEC stop: drop the other threads and return the task that has
 * tid now, or NULL.  former: its tid before.
 */
struct task *birth_exec(struct tracer *t, pid_t tid, pid_t *former);
