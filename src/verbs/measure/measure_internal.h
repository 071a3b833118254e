/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The targets and rings of a measurement. */
#pragma once

#include "verbs/measure/measure.h"

/* Map rings and AUX areas for all open events.  Return false after a warn(). */
bool measure_map(struct measure *m);

/* Show new records; last: also those held back to be sorted by time. */
void measure_look(struct measure *m, bool last);

/*
 * Fill in m->targets, and the flags of the batch for a cgroup.  Inherited events with a
 * ring require a target for each CPU (per_cpu).  Return false after a warn().
 */
bool targets_find(struct measure *m, bool per_cpu);
