/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The timer that interrupts wait4(2), so that the engine sees signals and ticks. */
#pragma once

struct tracer;

void pulse_start(struct tracer *t);
void pulse_stop(struct tracer *t);

/* Set the period: 1 ms while tasks are delayed, otherwise 100 ms or a tick if that is shorter. */
void pulse_set(const struct tracer *t);
