/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking into the ring of an event that somebody else reads.
 *
 * Nothing is taken out: data_tail belongs to the ring's owner, and our mapping
 * is read-only.  The kernel may write, and the owner consume, while we look.
 */
#ifndef PEVTRACE_DRIVE_RING_H
#define PEVTRACE_DRIVE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/layout.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Bytes of struct perf_event_mmap_page that have a meaning. */
enum { RING_PAGE_BYTES = 1088 };

/*
 * Where we are in one ring, between two looks.  Zero-initialised: nothing seen
 * yet, everything since the ring was made is new.  To be zeroed again when the
 * owner maps a new ring, which starts at 0, too.
 */
struct ring_seen {
	bool started;
	uint64_t position;	/* bytes ever written when we last looked */
};

/* The first page as it was, in the kernel's layout; for layout_emit(), too. */
struct ring_page {
	uint8_t bytes[RING_PAGE_BYTES];
	bool steady;		/* not changed by the kernel while copied */
};

/* A member by its index: ring_page_get(p, PERF_EVENT_MMAP_PAGE_DATA_HEAD). */
static inline uint64_t ring_page_get(const struct ring_page *p,
				     unsigned int index)
{
	return layout_get(&layout_perf_event_mmap_page, index, p->bytes,
			  sizeof(p->bytes));
}

/* What one look found. */
struct ring_result {
	struct ring_page page;
	uint64_t records;	/* handed to record() */
	uint64_t bytes;		/* of these */
	/*
	 * Bytes written since the last look that were not handed on: lost to
	 * new ones before we came, or not told apart from such.  bytes + missed
	 * is always how far seen->position went on.
	 */
	uint64_t missed;
	/*
	 * What is in the ring is not records; its rest is in missed.  Also when
	 * data_head cannot be one: then seen stays where it is.
	 */
	bool torn;
	bool restarted;		/* less was written than seen: another ring */
	bool odd_page;		/* data_offset, data_size: not this mapping's */
	bool waited;		/* for writers under way: takes milliseconds */
};

/* Called for each record; the bytes are valid during the call only. */
typedef void ring_record_fn(void *ctx, const uint8_t *bytes, size_t len);

/*
 * One look at the ring behind fd, a descriptor of its event (see borrow_fd())
 * or of one whose records go there too (PERF_EVENT_IOC_SET_OUTPUT).  Maps it
 * for the time of the call; length is that of the owner's mapping, and the
 * owner must have it mapped, or mapping it would make a ring where there was
 * none.  A length of one page has no records.
 *
 * backward: attr.write_backward.  overwrite: the ring's first mapping was made
 * without PROT_WRITE, so that the kernel does not heed data_tail.
 *
 * Hands every whole record written since seen to record(), oldest first, and
 * moves seen on.  Nothing that may have been written over while it was copied
 * is handed on: see struct ring_result.  A record is at least 8 bytes, a
 * multiple of 8, and its length (u16 at 6) is len.
 *
 * When records came faster than we looked: in a backward ring the newest that
 * fit are found.  A forward ring can be read from a record's beginning only,
 * which is lost then: it goes on at data_tail where that helps, else at the
 * present end.
 *
 * Returns 0 or a negative errno, and seen is unchanged then: -EINVAL length is
 * not that of the ring, -ENOTTY fd is not an event, -ENOMEM, or mmap's.
 * The layout is from include/uapi/linux/perf_event.h, the order of the accesses
 * from kernel/events/ring_buffer.c.
 */
int ring_look(int fd, size_t length, bool backward, bool overwrite,
	      struct ring_seen *seen, struct ring_result *out,
	      ring_record_fn *record, void *ctx);

/* A ring that is mapped, or made up by a test. */
struct ring_image {
	const void *bytes;	/* aligned to 8 */
	size_t length;		/* of the whole mapping, with its first page */
	bool backward;
	bool overwrite;
	/*
	 * Returns when every write that was under way has ended and data_head
	 * tells of it; false: cannot be known.  NULL: there is no writer.
	 */
	bool (*settle)(void *ctx);
	void *settle_ctx;
};

/* For settle: waits until no CPU is inside of a write.  ctx is not looked at. */
bool ring_settle(void *ctx);

/* The part of ring_look() between mmap and munmap. */
int ring_walk(const struct ring_image *ring, struct ring_seen *seen,
	      struct ring_result *out, ring_record_fn *record, void *ctx);

/*
 * What read(2) gives for the event now: a count, or a group of them as its
 * read_format says, in at most size bytes.  Changes nothing for the owner.
 * Returns how many bytes (0: the event is in error state) or a negative errno
 * (-ENOSPC: size is too small).
 */
ssize_t ring_read_count(int fd, void *buf, size_t size);

#endif
