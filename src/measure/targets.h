/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whom the events of open and watch are on. */
#ifndef PEVTRACE_MEASURE_TARGETS_H
#define PEVTRACE_MEASURE_TARGETS_H

#include "measure/measure.h"

/*
 * Fills in m->targets, and flags of the batch for a cgroup.  Events that have
 * both a ring and heirs need a target for each CPU (per_cpu).  False after a
 * warn().
 */
bool targets_find(struct measure *m, bool per_cpu);

#endif
