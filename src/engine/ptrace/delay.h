/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Delays that -e inject= asks for: the task stays in its stop while others run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tracer;

void pulse_start(struct tracer *t);
void pulse_stop(struct tracer *t);

/* Set the period: 1 ms while tasks are delayed, otherwise 100 ms or a tick if that is shorter. */
void pulse_set(const struct tracer *t);

struct task;
struct tracer;

/* Keep a task in its stop for ns; return false if it may be resumed at once. */
bool delay_task(struct tracer *t, struct task *task, uint64_t ns);

/* Resume the tasks whose delay is over; all of them while leaving. */
void delay_resume(struct tracer *t);

/* Make all delays end now. */
void delay_end_all(struct tracer *t);
