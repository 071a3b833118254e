/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detaching.  Without a tracer, calls that stop by a seccomp filter fail with ENOSYS.
 * So tasks that have a filter are traced to their end or killed; only tasks
 * without a filter are detached.
 */
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
