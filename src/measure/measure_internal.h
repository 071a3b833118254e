/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rings of a measurement. */
#ifndef PEVTRACE_MEASURE_MEASURE_INTERNAL_H
#define PEVTRACE_MEASURE_MEASURE_INTERNAL_H

#include "measure/measure.h"

/* Maps rings and AUX areas for all events that are open; false after a message. */
bool measure_map(struct measure *m);

/* Shows the records that have come; last: all of them, whatever their time. */
void measure_look(struct measure *m, bool last);

#endif
