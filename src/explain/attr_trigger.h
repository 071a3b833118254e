/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What makes an event sample, and the kernel functions (xlat/kernel.in) behind it. */
#pragma once

#include "explain/prose.h"
#include "formats/text/open_attr.h"

/* The shortest period of a clock's timer, in ns (perf_swevent_start_hrtimer). */
enum { CLOCK_PERIOD_MIN = 10000 };

/* What triggers the samples of an event. */
struct attr_trigger {
	enum event_source source;
	bool adaptive;		/* freq=1, and the kernel adjusts the period */
	bool sigtrap;
	bool task;		/* of a clock: it runs with a task */
	bool idle;		/* of a clock: it runs while the CPU is idle */
	uint64_t ns;		/* of a clock: its period */
};

struct attr_trigger attr_trigger_of(const struct open_attr *a);
bool attr_trigger_same(const struct attr_trigger *a, const struct attr_trigger *b);

/* Write sentences about the trigger; the first goes on after a colon. */
void attr_trigger_write(const struct attr_trigger *t, struct prose *p);

/* Return the step that initialises such an event, or that takes its samples; or NULL. */
const char *attr_trigger_init_step(const struct open_attr *a);
const char *attr_trigger_sample_step(const struct open_attr *a);
