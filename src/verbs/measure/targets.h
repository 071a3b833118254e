/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The targets of the events of open and watch. */
#pragma once

#include "verbs/measure/measure.h"

/*
 * Fill in m->targets, and the flags of the batch for a cgroup.  Inherited events with a
 * ring require a target for each CPU (per_cpu).  Return false after a warn().
 */
bool targets_find(struct measure *m, bool per_cpu);
