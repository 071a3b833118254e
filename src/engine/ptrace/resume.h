/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

struct task;
struct tracer;

/*
 * Resume a task in a ptrace stop and deliver sig to it: with PTRACE_SYSCALL or
 * PTRACE_CONT, as its filters and close_watch() require.  Detach from it while leaving.
 */
void resume_task(struct tracer *t, struct task *task, int sig);
