/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

struct tracer;

/*
 * Handle a wait status and then, at the end of a round, those of tasks that it did not serve.
 * Signals to the tracer are handled before the end of a task.
 */
void wait_rounds_handle(struct tracer *t, pid_t tid, int status);
