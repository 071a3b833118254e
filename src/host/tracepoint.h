/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracepoint ids of one machine, from tracefs' events/SYSTEM/NAME/id. */
#ifndef PEVTRACE_HOST_TRACEPOINT_H
#define PEVTRACE_HOST_TRACEPOINT_H

#include <stdint.h>

#include "lib/map.h"

/*
 * Adds every tracepoint below tracefs that ids does not hold yet: id to an
 * allocated "system:name".  Nothing where tracefs is not mounted or readable.
 */
void tracepoints_read(const char *tracefs, struct map *ids);

/* The id of "system:name": 0, or a negative errno when it cannot be read. */
int tracepoint_id(const char *tracefs, const char *name, uint64_t *id);

/*
 * The text of the format file of "system:name", for the caller to free; NULL
 * where it cannot be read.
 */
char *tracepoint_format(const char *tracefs, const char *name);

#endif
