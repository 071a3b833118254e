/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

struct task;
struct tracer;

/* Interrupt every task, so that its next stop detaches it; kill those with a filter. */
void leave_start(struct tracer *t);

/* Detach from a task in a ptrace stop and deliver sig to it; kill it if it has a filter. */
void leave_task(struct tracer *t, struct task *task, int sig);

/* Kill the tasks that have a filter; with kill_on_exit, all. */
void leave_kill_filtered(struct tracer *t);

/* Call the gone hook for all tasks that are left, without waiting for any. */
void leave_forget(struct tracer *t);

struct task;
struct tracer;

/*
 * Resume a task in a ptrace stop and deliver sig to it: with PTRACE_SYSCALL or
 * PTRACE_CONT, as its filters and close_watch() require.  Detach from it while leaving.
 */
void resume_task(struct tracer *t, struct task *task, int sig);
