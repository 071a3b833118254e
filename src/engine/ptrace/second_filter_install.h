/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

struct task;
struct tracer;

/*
 * In the syscall-exit-stop of task->call: make the task install the filter that its
 * process lacks for TRACE_CLOSE.  If that fails, never try again in this process.
 * Return false if the task ended meanwhile: it is not in a stop, and may be freed.
 */
bool second_filter_extend(struct tracer *t, struct task *task);
