/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the ring buffer of an event that belongs to another process.
 *
 * Nothing is consumed: the owner writes data_tail, and the mapping here is read-only.  The
 * kernel may write, and the owner may consume, at the same time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/layout.h"
#include "engine/rings/own_call.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

struct fence {
	uint8_t *start, *end;	/* NULL: not mapped */
};

/* Map at least size bytes; return 0 or a negative errno.  Call fence_free() in any case. */
int fence_make(struct fence *f, size_t size);
void fence_free(struct fence *f);

/*
 * Copy bytes to the end of the memory, as many as fit, and return their address; if len
 * is 0, that of the inaccessible page.
 */
uint8_t *fence_put(struct fence *f, const void *bytes, size_t len);

/* Size of the members of struct perf_event_mmap_page, without the rest of the page. */
enum { RING_PAGE_BYTES = 1088 };

/*
 * The position in one ring between two reads.  Zero-initialised: everything since the ring
 * was created is new.  Reset it when the owner maps a new ring, whose positions
 * start at 0.
 */
struct ring_seen {
	bool started;
	uint64_t position;	/* bytes ever written at the last read */
};

/* A copy of the user page, in the kernel's layout. */
struct ring_page {
	uint8_t bytes[RING_PAGE_BYTES];
	bool steady;		/* the kernel did not change it during the copy */
};

/* Return a member by its index, such as PERF_EVENT_MMAP_PAGE_DATA_HEAD. */
static inline uint64_t ring_page_get(const struct ring_page *p,
				     unsigned int index)
{
	return layout_get(&layout_perf_event_mmap_page, index, p->bytes,
			  sizeof(p->bytes));
}

/* The result of one read. */
struct ring_result {
	struct ring_page page;
	uint64_t records;	/* passed to record() */
	uint64_t bytes;		/* of these records */
	/*
	 * Bytes written since the last read that were not passed on, because newer ones
	 * overwrote them or may have.  bytes + missed is the advance of
	 * seen->position.
	 */
	uint64_t missed;
	/*
	 * The ring does not contain valid records; the rest of it is in missed.  Also if
	 * data_head is invalid: then seen is unchanged.
	 */
	bool torn;
	bool restarted;		/* data_head is before seen: this is another ring */
	bool odd_page;		/* data_offset or data_size do not match the mapping */
	bool waited;		/* waited for writers to finish: some milliseconds */
};

/* Receives a record; the bytes are valid during the call. */
typedef void ring_record_fn(void *ctx, const uint8_t *bytes, size_t len);

/*
 * Read the ring behind fd, a descriptor of its event (see borrow_fd()) or of one whose
 * records are redirected to it (PERF_EVENT_IOC_SET_OUTPUT).  Map it for the duration of the
 * call; length is that of the owner's mapping, which must exist: otherwise the mapping
 * would create a ring.  A length of one page has no records.
 *
 * backward: attr.write_backward.  overwrite: the ring's first mapping lacked PROT_WRITE,
 * so that the kernel ignores data_tail.
 *
 * Pass every whole record written since seen to record(), oldest first, and advance
 * seen.  Data that may have been overwritten during the copy is not passed on: see struct
 * ring_result.  A record is at least 8 bytes, a multiple of 8, and its length (u16 at
 * offset 6) is len.
 *
 * If records come faster than they are read: in a backward ring the newest that fit are
 * found.  A forward ring can be read only from the beginning of a record, which is
 * then lost: continue at data_tail if that is intact, otherwise at the end.
 *
 * Return 0, or a negative errno with seen unchanged: -EINVAL length is not that of the
 * ring, -ENOTTY fd is no event, -ENOMEM, or that of mmap(2).
 * The layout is from include/uapi/linux/perf_event.h, the order of the accesses from
 * kernel/events/ring_buffer.c.
 */
int ring_look(int fd, size_t length, bool backward, bool overwrite,
	      struct ring_seen *seen, struct ring_result *out,
	      ring_record_fn *record, void *ctx);

/* A mapped ring, or one that a test made. */
struct ring_image {
	const void *bytes;	/* aligned to 8 */
	size_t length;		/* of the whole mapping, with the user page */
	bool backward;
	bool overwrite;
	/*
	 * Wait until every write that has begun has ended and is visible in data_head (*head);
	 * return false if that is impossible.  NULL: there is no writer.
	 */
	bool (*settle)(void *ctx, const uint64_t *head);
	void *settle_ctx;
};

/* Implement settle for a live ring.  ctx is unused. */
bool ring_settle(void *ctx, const uint64_t *head);

/*
 * Wait, for less than a millisecond, until data_head shows that all writes have ended that had
 * begun; return false if it does not.
 */
bool ring_head_passed(const uint64_t *head);

/* Read a mapped ring: the part of ring_look() between mmap(2) and munmap(2). */
int ring_walk(const struct ring_image *ring, struct ring_seen *seen,
	      struct ring_result *out, ring_record_fn *record, void *ctx);

/*
 * Read the count of an event, or of a group, in its read_format.  No side effects for the
 * owner.  Return the number of bytes (0: the event is in error state) or a negative
 * errno (-ENOSPC: size is too small).
 */
ssize_t ring_read_count(int fd, void *buf, size_t size);

/*
 * Reading an AUX area: the second, larger buffer that some PMUs (intel_pt, arm_spe,
 * cs_etm) write in formats of their own.  PERF_RECORD_AUX records in the ring buffer
 * report the progress.
 */
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
