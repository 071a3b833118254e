/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

struct task;
struct tracer;

/* Call the born hook for early tasks older than 300 ms: their parents were killed. */
void birth_adopt(struct tracer *t);

/* Act on a wait status: call the hooks and resume the task, or drop it. */
void stop_handle(struct tracer *t, pid_t tid, int status);
