/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading an AUX area: the second, larger buffer that some PMUs (intel_pt, arm_spe,
 * cs_etm) write by themselves, in a form of their own.  Records of the ring beside
 * it (PERF_RECORD_AUX) tell what came.
 */
#ifndef PEVTRACE_DRIVE_AUX_H
#define PEVTRACE_DRIVE_AUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drive/own_call.h"

struct aux_area {
	void *page;		/* the user page of the ring beside it, to be written to */
	const uint8_t *bytes;	/* NULL: there is none */
	size_t size;		/* a power of two */
	bool snapshot;		/* mapped read-only: the PMU writes over what is there */
	uint64_t seen;		/* bytes ever written when we last looked; from 0 */
};

struct aux_result {
	uint64_t bytes;		/* handed on */
	uint64_t missed;	/* written over before we came */
	bool odd_head;		/* it went back: nothing handed on, and on from there */
};

/* Some bytes, valid during the call; position: how many were written before them. */
typedef void aux_piece_fn(void *ctx, const uint8_t *bytes, size_t len, uint64_t position);

/*
 * Hands on what is new, in one piece or, where it goes round the end, in two, and
 * lets the PMU write there again.  A snapshot is not looked into.
 * The order of the accesses is that of kernel/events/ring_buffer.c.
 */
void aux_look(struct aux_area *a, struct aux_result *out, aux_piece_fn *piece, void *ctx);

/*
 * Hands on all that is in a snapshot, oldest first.  To be called when the event is
 * disabled.  What was never written to (zeros behind the head) is left out.
 */
void aux_snapshot(const struct aux_area *a, struct aux_result *out, aux_piece_fn *piece,
		  void *ctx);

/*
 * Maps an area of size bytes for the event fd, whose ring is ring_len bytes at page.
 * 0 or an errno: EOPNOTSUPP where its PMU makes no AUX data.
 */
int aux_map(struct aux_area *a, struct own_calls *i, int fd, void *page, size_t ring_len,
	    size_t size, bool snapshot);

#endif
