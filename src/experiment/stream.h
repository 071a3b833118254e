/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Consuming rings of pevtrace's own events: records of all rings in the order of their times.
 */
#pragma once

#include "core/abi/record.h"
#include "core/lib/buf.h"
#include "engine/rings/own_call.h"
#include "engine/rings/ring.h"

struct stream_ring {
	int fd;			/* of the event that is mapped */
	void *at;		/* the mapping, writable unless backward */
	size_t length;
	bool backward;
	int cpu;		/* of the events that write there, -1: any */
	size_t target;		/* for the caller */
	struct aux_area aux;
	/* set by stream_look() */
	struct ring_seen seen;
};

/* A record that is held until no older one can come. */
struct stream_record {
	size_t ring;		/* index */
	size_t at, len;		/* in the pool */
	uint64_t time;		/* 0: the record has none */
	uint64_t order;		/* in which the records were read */
};

struct stream_ops {
	/* Receives the records in the order of their times. */
	void (*record)(void *ctx, const struct stream_ring *r, const uint8_t *bytes,
		       size_t len);
	/* Called before the records of a read, unless there is nothing new. */
	void (*looked)(void *ctx, const struct stream_ring *r,
		       const struct ring_result *result);
	/* Called for new AUX data, after the records before it. */
	void (*aux)(void *ctx, const struct stream_ring *r, const struct aux_result *result);
	/* Called before that for the data, unless they are a snapshot; may be NULL. */
	void (*aux_piece)(void *ctx, const struct stream_ring *r, const uint8_t *bytes,
			  size_t len, uint64_t position);
};

/* Zero-initialised except for ops, ctx and format. */
struct stream {
	const struct stream_ops *ops;
	void *ctx;
	struct record_format format;	/* of all events, as far as it concerns times */
	struct stream_ring *rings;
	size_t n;
	struct stream_record *held;
	size_t nheld;
	struct buf pool;
	uint64_t order;
};

/* Add a ring, by copy; stream_close() unmaps it. */
void stream_add(struct stream *s, const struct stream_ring *r);

/*
 * Consume what is new in all rings and pass on the records older than before, by the clock
 * of the records.  Hold the rest; UINT64_MAX passes on everything.
 */
void stream_look(struct stream *s, uint64_t before);

/* Pass on the AUX areas that are snapshots.  Their events must be disabled. */
void stream_snapshot(struct stream *s);

/* Drop the records that are held, and the rings without unmapping them. */
void stream_free(struct stream *s);

/* Unmap all rings, too. */
void stream_close(struct stream *s, struct own_calls *calls);
