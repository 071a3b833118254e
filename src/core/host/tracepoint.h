/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracepoint ids of one machine, from tracefs' events/SYSTEM/NAME/id. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/lib/map.h"

/*
 * Add every tracepoint below tracefs that is not in ids: its id, and "system:name",
 * allocated.  Does nothing if tracefs is not mounted or not readable.  Return false if some cannot
 * be read, or (in libpevtrace) if memory is exhausted.
 */
bool tracepoints_read(const char *tracefs, struct map *ids);

/* Read the id of "system:name"; return 0 or a negative errno. */
int tracepoint_id(const char *tracefs, const char *name, uint64_t *id);

/*
 * Return the text of the format file of "system:name", or NULL if it cannot be read.
 * The caller frees it.
 */
char *tracepoint_format(const char *tracefs, const char *name);
