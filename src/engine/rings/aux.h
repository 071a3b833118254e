/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading an AUX area: the second, larger buffer that some PMUs (intel_pt, arm_spe,
 * cs_etm) write in formats of their own.  PERF_RECORD_AUX records in the ring buffer
 * report the progress.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/rings/own_call.h"

struct aux_area {
	void *page;		/* the writable user page of the event's ring buffer */
	const uint8_t *bytes;	/* NULL: no AUX area */
	size_t size;		/* a power of two */
	bool snapshot;		/* mapped read-only: the PMU overwrites old data */
	uint64_t seen;		/* aux_head at the last read; starts at 0 */
};

struct aux_result {
	uint64_t bytes;		/* passed to piece() */
	uint64_t missed;	/* overwritten before they were read */
	bool odd_head;		/* aux_head decreased; the next read starts at its new value */
};

/* Receives bytes, valid during the call; position: the number of bytes written before them. */
typedef void aux_piece_fn(void *ctx, const uint8_t *bytes, size_t len, uint64_t position);

/*
 * Pass new data to piece(), in one piece or, if it wraps around, in two; then advance
 * aux_tail.  Do nothing for a snapshot.  The order of the accesses is that of
 * kernel/events/ring_buffer.c.
 */
void aux_look(struct aux_area *a, struct aux_result *out, aux_piece_fn *piece, void *ctx);

/*
 * Pass a copy of the new data to piece(), in one piece, of an area that another process
 * consumes; a->page may be read-only.  What that process has consumed, so that it may have been
 * overwritten during the copy, is missed.  Do nothing for a snapshot.
 */
void aux_peek(struct aux_area *a, struct aux_result *out, aux_piece_fn *piece, void *ctx);

/*
 * Pass all data of a snapshot to piece(), oldest first, except what was never written
 * (zeros after the head).  The event must be disabled.
 */
void aux_snapshot(const struct aux_area *a, struct aux_result *out, aux_piece_fn *piece,
		  void *ctx);

/*
 * Map an AUX area of size bytes for the event fd, whose ring buffer is ring_len bytes at
 * page.  Return 0 or an errno: EOPNOTSUPP if its PMU has no AUX data.
 */
int aux_map(struct aux_area *a, struct own_calls *calls, int fd, void *page, size_t ring_len,
	    size_t size, bool snapshot);
