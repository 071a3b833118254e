// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/rings/aux.h"

#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

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

/*
 * Return the position from which on data is intact.  The PMU waits for aux_tail.  If that has
 * moved on, the PMU may have written beyond aux_head, but not by more than the watermark
 * at which it publishes it: at most half of the area.
 */
static uint64_t aux_intact_from(const struct aux_area *a)
{
	uint64_t tail = __atomic_load_n(aux_member(a, PERF_EVENT_MMAP_PAGE_AUX_TAIL),
					__ATOMIC_ACQUIRE);
	uint64_t head = aux_load_head(a), half = head > a->size / 2 ? head - a->size / 2 : 0;

	return tail < half ? tail : half;
}

static void aux_copy(const struct aux_area *a, uint64_t from, uint8_t *copy, size_t n)
{
	uint64_t at = from & (a->size - 1);
	size_t first = n < a->size - at ? n : a->size - at;

	memcpy(copy, a->bytes + at, first);
	memcpy(copy + first, a->bytes, n - first);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

void aux_peek(struct aux_area *a, struct aux_result *out, aux_piece_fn *piece, void *ctx)
{
	uint64_t head, from = a->seen, intact;
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
	aux_copy(a, from, copy, head - from);
	intact = aux_intact_from(a);
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
