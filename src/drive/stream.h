/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading our own rings: records of all of them in the order of their times,
 * taken out as their reader takes them.
 */
#ifndef PEVTRACE_DRIVE_STREAM_H
#define PEVTRACE_DRIVE_STREAM_H

#include "abi/record.h"
#include "drive/aux.h"
#include "drive/own_call.h"
#include "drive/ring.h"
#include "lib/buf.h"

struct stream_ring {
	int fd;			/* the event's whose ring it is */
	void *at;		/* the mapping, writable unless backward */
	size_t length;
	bool backward;
	int cpu;		/* of the events that write there, -1: any */
	size_t target;		/* for the one who maps */
	struct aux_area aux;
	/* ours */
	struct ring_seen seen;
};

/* A record that waits for its turn. */
struct stream_record {
	size_t ring;		/* index */
	size_t at, len;		/* in the pool */
	uint64_t time;		/* 0: it tells none */
	uint64_t order;		/* in which it was found */
};

struct stream_ops {
	/* A record, in the order of time. */
	void (*record)(void *ctx, const struct stream_ring *r, const uint8_t *bytes,
		       size_t len);
	/* A look into a ring that found something, before its records. */
	void (*looked)(void *ctx, const struct stream_ring *r,
		       const struct ring_result *result);
	/* What is new in its AUX area, behind the records that came before. */
	void (*aux)(void *ctx, const struct stream_ring *r, const struct aux_result *result);
};

/* Zero-initialised but for these three. */
struct stream {
	const struct stream_ops *ops;
	void *ctx;
	struct record_format format;	/* of all events, as far as the time goes */
	struct stream_ring *rings;
	size_t n;
	struct stream_record *held;
	size_t nheld, cap;
	struct buf pool;
	uint64_t order;
};

/* Takes over a mapping, as it was made; it is copied. */
void stream_add(struct stream *s, const struct stream_ring *r);

/*
 * Takes what is new out of all rings, and hands on what is older than before,
 * by the clock of the records; the rest waits for the next time.  UINT64_MAX
 * hands on everything.
 */
void stream_look(struct stream *s, uint64_t before);

/* Hands on what the AUX areas hold that are snapshots, once their events are disabled. */
void stream_snapshot(struct stream *s);

/* Unmaps all, and drops what waits. */
void stream_close(struct stream *s, struct own_calls *i);

#endif
