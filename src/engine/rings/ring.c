// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/rings/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/host/proc.h"

int fence_make(struct fence *f, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (size + page - 1) / page * page;
	/* populated: an event that is already open may count page faults */
	void *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	*f = (struct fence){ NULL, NULL };
	if (p == MAP_FAILED)
		return -errno;
	f->start = p;
	f->end = f->start + room;
	return mprotect(f->end, page, PROT_NONE) ? -errno : 0;
}

void fence_free(struct fence *f)
{
	if (f->start)
		munmap(f->start, (size_t)(f->end - f->start) + (size_t)sysconf(_SC_PAGESIZE));
}

uint8_t *fence_put(struct fence *f, const void *bytes, size_t len)
{
	size_t room = (size_t)(f->end - f->start);

	if (len > room)
		len = room;
	if (len)
		memcpy(f->end - len, bytes, len);
	return f->end - len;
}

enum {
	HEAD = PERF_EVENT_MMAP_PAGE_DATA_HEAD, TAIL = PERF_EVENT_MMAP_PAGE_DATA_TAIL,
	HEADER = 8,		/* struct perf_event_header: type, misc, size */
	HEADER_SIZE_AT = 6,
	/*
	 * Limit of the bytes written beyond data_head and not yet published: a record
	 * (u16 bytes) for each of task, softirq, irq and NMI.
	 */
	UNDER_WAY = 4 * 65536,
	STEADY_TRIES = 8,
	WAIT_FOR_ALL = 1,	/* MEMBARRIER_CMD_GLOBAL, formerly ..._SHARED */
	PASSES = 2,
	PASS_TRIES = 10,
	PASS_NS = 50000,
};

/*
 * One read.  Positions count the bytes ever written.  A forward ring's data_head is such a
 * count, a backward ring's is its negative.  So the arithmetic is the same and only
 * the place of a byte differs.
 */
struct look {
	const struct ring_image *ring;
	struct ring_result *out;
	const uint8_t *data;
	uint64_t size;		/* of data: a power of two */
	uint64_t last;		/* position of the previous read */
	uint64_t from, to;	/* the part that is copied */
	uint8_t *copy;		/* NULL if nothing is new */
	ring_record_fn *record;
	void *ctx;
};

static const uint64_t *position_at(const struct look *l, unsigned int index)
{
	uint16_t at = layout_perf_event_mmap_page.fields[index].offset;

	return (const uint64_t *)((const uint8_t *)l->ring->bytes + at);
}

/* Load data_head or data_tail and acquire what was written before it was set. */
static uint64_t load_position(const struct look *l, unsigned int index)
{
	uint64_t v = __atomic_load_n(position_at(l, index), __ATOMIC_ACQUIRE);

	return l->ring->backward ? -v : v;
}

/* Copy the user page until its sequence count (lock) shows a consistent copy. */
static void copy_page(const struct ring_image *ring, struct ring_page *page)
{
	uint16_t at = layout_perf_event_mmap_page
		.fields[PERF_EVENT_MMAP_PAGE_LOCK].offset;
	const uint32_t *lock;
	uint32_t seq;

	lock = (const uint32_t *)((const uint8_t *)ring->bytes + at);
	for (int i = 0; i < STEADY_TRIES && !page->steady; i++) {
		seq = __atomic_load_n(lock, __ATOMIC_ACQUIRE);
		memcpy(page->bytes, ring->bytes, sizeof(page->bytes));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		page->steady = !(seq & 1) &&
			       __atomic_load_n(lock, __ATOMIC_RELAXED) == seq;
	}
}

/*
 * Return where to continue in a forward ring when the last position is lost: at the owner's
 * data_tail, which is between two records, if nothing before oldest is needed, otherwise at
 * the end.
 */
static uint64_t ring_resume(const struct look *l, uint64_t oldest)
{
	uint64_t tail = load_position(l, TAIL);

	if (l->ring->overwrite || tail < oldest || tail > l->to ||
	    tail % HEADER)
		return l->to;
	return tail;
}

/* Copy n bytes from a position on out of a buffer that wraps around; size: a power of two. */
static void copy_around(uint8_t *copy, const uint8_t *buffer, uint64_t size, uint64_t position,
			size_t n)
{
	uint64_t at = position & (size - 1);
	size_t first = n < size - at ? n : size - at;

	memcpy(copy, buffer + at, first);
	memcpy(copy + first, buffer, n - first);
}

static uint64_t head_not_before(const struct look *l)
{
	uint64_t head = load_position(l, HEAD);

	return head < l->to ? l->to : head;
}

/*
 * Return the position from which on the copy is intact and not mixed with newer data.  The
 * writer publishes data_head after it wrote.  So if it could be that close, an unchanged
 * head proves nothing: wait for all writers that may be in progress.
 */
static uint64_t intact_from(const struct look *l)
{
	uint64_t head, tail, oldest, more = 0;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	head = head_not_before(l);
	tail = load_position(l, TAIL);
	/* the kernel waits for the owner before it overwrites the copied part */
	if (!l->ring->overwrite && tail <= l->from && head - tail <= l->size)
		return l->from;
	if (head - l->from <= l->size &&
	    l->size - (head - l->from) >= UNDER_WAY)
		return l->from;
	if (l->ring->settle) {
		l->out->waited = true;
		if (!l->ring->settle(l->ring->settle_ctx,
				     position_at(l, HEAD)))
			more = UNDER_WAY;
		head = head_not_before(l);
	}
	oldest = head > l->size ? head - l->size : 0;
	return oldest + more < oldest ? UINT64_MAX : oldest + more;
}

/* Return the length in a record's header, or 0 if it is invalid. */
static uint16_t record_size(const uint8_t *header)
{
	uint64_t size = load_uint(header + HEADER_SIZE_AT, 2);

	return size % HEADER ? 0 : (uint16_t)size;
}

static void ring_pass(const struct look *l, const uint8_t *bytes)
{
	uint16_t size = record_size(bytes);

	l->out->records++;
	l->out->bytes += size;
	if (l->record)
		l->record(l->ctx, bytes, size);
}

static void walk_forward(struct look *l, uint64_t intact)
{
	uint64_t at = l->from;
	const uint8_t *bytes;
	uint16_t size;

	if (intact > at)
		at = ring_resume(l, intact);
	l->out->missed += at - l->last;
	while (at < l->to) {
		bytes = l->copy + (at - l->from);
		size = record_size(bytes);
		if (!size || size > l->to - at) {
			l->out->torn = true;
			l->out->missed += l->to - at;
			return;
		}
		ring_pass(l, bytes);
		at += size;
	}
}

static int walk_backward(struct look *l, uint64_t intact)
{
	uint64_t left, used, at = 0;
	size_t *starts, n = 0;
	uint16_t size;
	bool all;

	if (intact < l->from)
		intact = l->from;
	left = intact < l->to ? l->to - intact : 0;
	/* the whole records; the newest may have overwritten the end of the oldest: not an error */
	all = left == l->to - l->last;
	for (used = 0; left - used >= HEADER; used += size, n++) {
		size = record_size(l->copy + used);
		if (!size || (all && size > left - used))
			l->out->torn = true;
		if (!size || size > left - used)
			break;
	}
	starts = malloc(n ? n * sizeof(*starts) : 1);
	if (!starts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		starts[i] = at;
		at += record_size(l->copy + at);
	}
	l->out->missed += l->to - l->last - used;
	while (n)
		ring_pass(l, l->copy + starts[--n]);
	free(starts);
	return 0;
}

static int ring_read_new(struct look *l, struct ring_seen *seen)
{
	int err = 0;
	uint64_t n;

	l->last = seen->started ? seen->position : 0;
	if (l->to % HEADER) {
		l->out->torn = true;
		return 0;
	}
	if (l->to < l->last) {
		l->out->restarted = true;
		l->last = 0;
	}
	/* what is new and may still be intact */
	l->from = l->last;
	if (l->to - l->from > l->size)
		l->from = l->ring->backward ? l->to - l->size : ring_resume(l, l->to - l->size);
	n = l->to - l->from;
	if (!n) {
		l->out->missed = l->to - l->last;
	} else {
		l->copy = malloc(n);
		if (!l->copy)
			return -ENOMEM;
		/* intact_from() finds out what changed meanwhile */
		copy_around(l->copy, l->data, l->size, l->ring->backward ? -l->to : l->from, n);
		if (l->ring->backward)
			err = walk_backward(l, intact_from(l));
		else
			walk_forward(l, intact_from(l));
	}
	free(l->copy);
	if (err)
		return err;
	*seen = (struct ring_seen){ true, l->to };
	return 0;
}

int ring_walk(const struct ring_image *ring, struct ring_seen *seen,
	      struct ring_result *out, ring_record_fn *record, void *ctx)
{
	struct look l = { .ring = ring, .out = out, .record = record, .ctx = ctx };
	uint64_t length = ring->length, first = (uint64_t)sysconf(_SC_PAGESIZE), offset;

	memset(out, 0, sizeof(*out));
	if (length < RING_PAGE_BYTES || length < first)
		return -EINVAL;
	/* before copy_page(): the page's data_head must not be behind the records */
	l.to = load_position(&l, HEAD);
	copy_page(ring, &out->page);
	/*
	 * The owner can write to the user page, but not change the mapping: a page and then a power
	 * of two of pages.  So data_offset and data_size count only if they fill the mapping; they
	 * are 0 before Linux 4.1.
	 */
	offset = ring_page_get(&out->page, PERF_EVENT_MMAP_PAGE_DATA_OFFSET);
	l.size = ring_page_get(&out->page, PERF_EVENT_MMAP_PAGE_DATA_SIZE);
	if (offset < first || offset > length || l.size != length - offset || !l.size ||
	    l.size & (l.size - 1)) {
		out->odd_page = (offset || l.size) &&
				(offset != first || l.size != length - first);
		offset = first;
		l.size = length - first;
	}
	if (!l.size)
		return 0;
	if (l.size & (l.size - 1) || l.size < HEADER)
		return -EINVAL;
	l.data = (const uint8_t *)ring->bytes + offset;
	return ring_read_new(&l, seen);
}

/*
 * The writers of a ring are nested on one CPU, and the outermost publishes what all of them wrote
 * (perf_output_put_handle()).  So the first change includes all that was under way before, and the
 * second one also what a CPU with weak ordering of stores wrote before it published the first.
 */
bool ring_head_passed(const uint64_t *head)
{
	uint64_t before = __atomic_load_n(head, __ATOMIC_ACQUIRE), now;
	int passes = 0;

	for (int i = 0; i < PASS_TRIES && passes < PASSES; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = PASS_NS }, NULL);
		now = __atomic_load_n(head, __ATOMIC_ACQUIRE);
		passes += now != before;
		before = now;
	}
	return passes == PASSES;
}

/*
 * The kernel writes a record within an RCU read-side critical section (without preemption),
 * from before it reserves the space until it has published data_head.  membarrier(2) waits
 * until all CPUs have left such sections, for ten milliseconds, in which a small ring may be
 * written anew.  It fails with nohz_full and before Linux 4.3.
 */
bool ring_settle(void *ctx, const uint64_t *head)
{
	(void)ctx;
	return ring_head_passed(head) || !syscall(SYS_membarrier, WAIT_FOR_ALL, 0, 0);
}

int ring_look(int fd, size_t length, bool backward, bool overwrite,
	      struct ring_seen *seen, struct ring_result *out,
	      ring_record_fn *record, void *ctx)
{
	struct ring_image ring = {
		.length = length,
		.backward = backward,
		.overwrite = overwrite,
		.settle = ring_settle,
	};
	void *bytes;
	int err;

	memset(out, 0, sizeof(*out));
	/* mmap(2) of a device could have effects; without /proc, assume that it is an event */
	if (!proc_fd_is(getpid(), fd, PROC_EVENT_LINK))
		return -ENOTTY;
	bytes = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	ring.bytes = bytes;
	err = ring_walk(&ring, seen, out, record, ctx);
	munmap(bytes, length);
	return err;
}

ssize_t ring_read_count(int fd, void *buf, size_t size)
{
	ssize_t n;

	do {
		n = read(fd, buf, size);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Return the address of a member of the user page. */
static uint64_t *aux_member(const struct aux_area *a, unsigned int index)
{
	return (uint64_t *)((uint8_t *)a->page +
			    layout_perf_event_mmap_page.fields[index].offset);
}

/* Load the head.  Acquire: data written before it was published is visible afterwards. */
static uint64_t aux_load_head(const struct aux_area *a)
{
	return __atomic_load_n(aux_member(a, PERF_EVENT_MMAP_PAGE_AUX_HEAD), __ATOMIC_ACQUIRE);
}

static void aux_pass(const struct aux_area *a, uint64_t from, uint64_t to,
		     struct aux_result *out, aux_piece_fn *piece, void *ctx)
{
	while (from != to) {
		uint64_t at = from & (a->size - 1), n = a->size - at;

		if (n > to - from)
			n = to - from;
		out->bytes += n;
		if (piece)
			piece(ctx, a->bytes + at, n, from);
		from += n;
	}
}

void aux_look(struct aux_area *a, struct aux_result *out, aux_piece_fn *piece, void *ctx)
{
	uint64_t head, from = a->seen;

	*out = (struct aux_result){ 0 };
	if (!a->bytes || a->snapshot)
		return;
	head = aux_load_head(a);
	if (head < from) {
		out->odd_head = true;
		from = head;
	}
	if (head - from > a->size) {
		out->missed = head - from - a->size;
		from = head - a->size;
	}
	aux_pass(a, from, head, out, piece, ctx);
	a->seen = head;
	/* release: all data is read before the PMU sees that it may overwrite it */
	__atomic_store_n(aux_member(a, PERF_EVENT_MMAP_PAGE_AUX_TAIL), head, __ATOMIC_RELEASE);
}

void aux_peek(struct aux_area *a, struct aux_result *out, aux_piece_fn *piece, void *ctx)
{
	uint64_t head, from = a->seen, intact, tail, now, half;
	uint8_t *copy;

	*out = (struct aux_result){ 0 };
	if (!a->bytes || a->snapshot)
		return;
	head = aux_load_head(a);
	if (head < from) {
		out->odd_head = true;
		from = 0;
	}
	a->seen = head;
	out->missed = head - from > a->size ? head - from - a->size : 0;
	from += out->missed;
	copy = head > from ? malloc(head - from) : NULL;
	if (!copy) {
		out->missed += head - from;
		return;
	}
	copy_around(copy, a->bytes, a->size, from, head - from);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/*
	 * The PMU waits for aux_tail.  If that has moved on, the PMU may have written beyond
	 * aux_head, but not by more than the watermark at which it publishes it: at most half of
	 * the area.
	 */
	tail = __atomic_load_n(aux_member(a, PERF_EVENT_MMAP_PAGE_AUX_TAIL), __ATOMIC_ACQUIRE);
	now = aux_load_head(a);
	half = now > a->size / 2 ? now - a->size / 2 : 0;
	intact = tail < half ? tail : half;
	intact = intact < from ? from : intact > head ? head : intact;
	out->missed += intact - from;
	out->bytes = head - intact;
	if (out->bytes)
		piece(ctx, copy + (intact - from), out->bytes, intact);
	free(copy);
}

/* In a snapshot, some PMUs let aux_head grow, others reset it to 0 when they wrap around. */
void aux_snapshot(const struct aux_area *a, struct aux_result *out, aux_piece_fn *piece,
		  void *ctx)
{
	uint64_t head, at, first;

	*out = (struct aux_result){ 0 };
	if (!a->bytes)
		return;
	head = aux_load_head(a);
	at = head & (a->size - 1);
	first = at;
	while (first < a->size && !a->bytes[first])
		first++;
	if (first < a->size)
		aux_pass(a, at, a->size, out, piece, ctx);
	aux_pass(a, 0, at, out, piece, ctx);
}

int aux_map(struct aux_area *a, struct own_calls *calls, int fd, void *page, size_t ring_len,
	    size_t size, bool snapshot)
{
	int error = 0;

	*a = (struct aux_area){ .page = page, .size = size, .snapshot = snapshot };
	/* the offset at which the AUX area is mapped: after the ring buffer */
	*aux_member(a, PERF_EVENT_MMAP_PAGE_AUX_OFFSET) = ring_len;
	*aux_member(a, PERF_EVENT_MMAP_PAGE_AUX_SIZE) = size;
	a->bytes = own_call_map_at(calls, fd, size, ring_len, !snapshot, &error);
	return error;
}
