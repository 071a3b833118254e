/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two views of this room, collect.c and chrome.c, share. */
#pragma once

#include "core/lib/map.h"
#include "core/session/view.h"

/*
 * Move the entry of the thread that execed from tid former to tid.  Return the entry that
 * tid had, or NULL.
 */
void *views_move_pending(struct map *by_tid, pid_t former, pid_t tid);

/*
 * Set *bytes to what waits in the ring for its reader.  Return false if that is unknown: the
 * look has no struct perf_event_mmap_page, or the ring is overwritable.
 */
bool views_ring_fill(const struct activity_look *l, uint64_t *bytes);
